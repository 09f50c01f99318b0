/** Lists for bent servers: pages by cursor, stamped with whatever revision stands at that moment. */
import type { Bend } from '../../fixtures/bendableMcp.js';

export interface BentList {
  readonly pages: readonly (readonly object[])[];
  /** Left out of the page where undefined. */
  readonly revision?: unknown;
  readonly token?: unknown;
}

export const tool = (name: string, more: object = {}): object => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});
export const tools = (count: number, prefix = 'tool'): object[] =>
  Array.from({ length: count }, (_, n) => tool(`${prefix}_${n}`));
export const at = (counter: number, incarnation = 'i') => ({ incarnation, counter });

/** Serves the list as it is when each request arrives. */
export const serveList =
  (list: () => BentList): Bend =>
  (bent) => {
    const { pages, revision, token } = list();
    const n = bent.cursor === undefined ? 0 : Number(bent.cursor.slice(1));
    const meta = {
      ...(revision === undefined ? {} : { 'dev.genlock/catalogRevision': revision }),
      ...(token === undefined ? {} : { 'dev.genlock/snapshotToken': token }),
    };
    bent.result({
      tools: pages[n] ?? [],
      ...(n + 1 < pages.length ? { nextCursor: `c${n + 1}` } : {}),
      ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    });
  };
