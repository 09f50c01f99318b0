/** A catalog whose answers a test writes byte by byte, beside the scripted one, for answers that are no messages at all. */
import type { Bend } from '../fixtures/bendableMcp.js';
import type { ScriptedList } from '../fixtures/catalogScript.js';
import type { ScriptedCatalog } from '../fixtures/scriptedCatalog.js';
import { type BentList, serveList } from '../integration/discovery/bentLists.js';
import type { Registered } from '../integration/discovery/discoveryStack.js';
import { type Begun, type FaultStack, FIRST } from './expectations.js';

export interface ByteBent {
  readonly begun: Begun;
  /** From now on a list, or a start, is answered like this; mending the catalog ends it. */
  bend(how: { readonly list?: Bend; readonly initialize?: Bend }): void;
}

/** A server whose first generation serves. @param more holds from then on, and not for the first scan */
export const beginByteBent = async (stack: FaultStack, more: Registered = {}): Promise<ByteBent> => {
  let list: ScriptedList = FIRST;
  let bent: { readonly list?: Bend; readonly initialize?: Bend } = {};
  const plain = serveList(() => list as BentList);
  const server = await stack.bent({
    initialize: (b) =>
      bent.initialize?.(b) ??
      b.result({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'bent', version: '0' },
      }),
    list: (b) => (bent.list ?? plain)(b),
  });
  const catalog: ScriptedCatalog = {
    source: { kind: 'mcp-http', url: server.url },
    order: async (orders) => {
      list = orders.list ?? list;
    },
    bend: async () => undefined,
    mend: async (mended = list) => {
      list = mended;
      bent = {};
    },
    served: async () => [],
    close: () => server.close(),
  };
  const { key } = await stack.begin(catalog);
  await stack.register(key, catalog.source, more);
  return {
    begun: { key, catalog, before: await stack.standing(key) },
    bend(how) {
      bent = how;
    },
  };
};
