/** Runs the baselines of `discovery` in a process of their own, as the worker is one. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BareListDone, BareListTask } from './bareListProcess.js';

export interface BareLists {
  /**
   * @param url of the MCP server
   * @returns seconds from the connection to the last page
   * @throws Error where it did not read so many tools
   */
  run(name: BareListTask['name'], url: string, tools: number): Promise<number>;
  stop(): void;
}

export const startBareLists = (): BareLists => {
  const child = fork(fileURLToPath(new URL('./bareListProcess.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`the baseline ended with ${code}`);
  });
  // Whoever waits for an answer hears of it; that nobody waits is no fault.
  ended.catch(() => undefined);
  return {
    run: async (name, url, tools) => {
      const answer = once(child, 'message') as Promise<[BareListDone]>;
      child.send({ name, url } satisfies BareListTask);
      const [done] = await Promise.race([answer, ended]);
      if (done.tools !== tools) throw new Error(`the baseline read ${done.tools} of ${tools} tools`);
      return done.seconds;
    },
    stop: () => child.kill('SIGKILL'),
  };
};
