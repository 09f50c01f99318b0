/** Waiting for a condition, with an end. */
import { setTimeout as sleep } from 'node:timers/promises';

/** @throws Error naming `what` where it did not come true within `limitMs` */
export const waitFor = async <T>(
  what: string,
  probe: () => Promise<T | undefined>,
  { limitMs = 60_000, everyMs = 100 }: { readonly limitMs?: number; readonly everyMs?: number } = {},
): Promise<T> => {
  for (const end = Date.now() + limitMs; ; ) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited ${limitMs / 1_000} s in vain: ${what}`);
    await sleep(everyMs);
  }
};
