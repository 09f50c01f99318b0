/** Watches the resident memory of another process by what the kernel says of it. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const INTERVAL_MS = 50;

const readMb = async (pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kb = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kb === undefined) throw new Error(`/proc/${pid}/status has no ${field}`);
  return Number(kb) / 1_024;
};

/** Resident memory in MB once it has stopped moving: within 1 MB for a second, or after ten seconds. */
export const idleMb = async (pid: number): Promise<number> => {
  let last = await readMb(pid, 'VmRSS');
  for (let calm = 0, tries = 0; calm < 10 && tries < 100; tries++) {
    await pause(100);
    const now = await readMb(pid, 'VmRSS');
    calm = Math.abs(now - last) < 1 ? calm + 1 : 0;
    last = now;
  }
  return last;
};

export interface MemoryWatch {
  /** The highest resident memory until now, in MB. */
  highest(): Promise<number>;
  /** The highest resident memory since the watch began, in MB. */
  stop(): Promise<number>;
}

/**
 * The kernel's own high-water mark counts where it lies above what it was at the start; below that only the samples
 * say how high it went.
 */
export const watchMemory = async (pid: number): Promise<MemoryWatch> => {
  const markBefore = await readMb(pid, 'VmHWM');
  let highest = 0;
  let stopped = false;
  const sampling = (async (): Promise<void> => {
    while (!stopped) {
      highest = Math.max(highest, await readMb(pid, 'VmRSS'));
      await pause(INTERVAL_MS);
    }
  })();
  const highestNow = async (): Promise<number> => {
    const mark = await readMb(pid, 'VmHWM');
    return mark > markBefore ? Math.max(mark, highest) : highest;
  };
  return {
    highest: highestNow,
    stop: async () => {
      stopped = true;
      await sampling;
      return await highestNow();
    },
  };
};
