/**
 * A discovery that loses its worker: the sources that it is tried on, and what has to be true of it in the end wherever the
 * worker was lost (D6).
 */
import { afterAll, expect } from 'vitest';
import type { InventoryServer } from '../../examples/inventory-mcp/server.js';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import {
  type SessionServer,
  type SessionServerOptions,
  startSessionServer,
} from '../fixtures/sessionServer.js';
import { type DiscoveryStack, type Outcome, ownKey, until } from '../integration/discovery/discoveryStack.js';
import { soundnessFaults } from './soundness.js';

/** A list of five pages that journals what it is asked for. */
export interface PagedSource {
  readonly url: string;
  /** Pages in the order in which they were asked for, the tail's question for page 0 among them. */
  asked(): readonly number[];
  hold(page: number): void;
  release(): void;
  waiting(): number;
}

/** Without sessions: its cursors outlive every connection. Its list may change. */
export const sessionless = async (stack: DiscoveryStack) => {
  const server = await stack.inventory();
  const { catalog, journal, pace } = server.inventory;
  return {
    url: server.url,
    asked: () =>
      journal.entries
        .filter(({ method }) => method === 'tools/list')
        .map(({ cursor }) => catalog.pageIndex(cursor ?? undefined)),
    hold: (page) => pace.hold(page),
    release: () => pace.release(),
    waiting: () => pace.waiting,
    change: server.change,
  } satisfies PagedSource & Pick<InventoryServer, 'change'>;
};

/** A way to start servers with sessions that end with the file. */
export const useSessionServers = () => {
  const servers: SessionServer[] = [];
  afterAll(async () => {
    for (const server of servers) await server.close();
  });
  return async (options?: SessionServerOptions): Promise<SessionServer> => {
    const server = await startSessionServer(options);
    servers.push(server);
    return server;
  };
};

export const pagedBySessions = (server: SessionServer): PagedSource => ({
  url: server.url,
  asked: () => server.sessions().flatMap(({ asked }) => asked),
  hold: (page) => server.hold(page),
  release: () => server.release(),
  waiting: () => server.waiting,
});

/** Registers the source under a key of its own and starts its discovery. */
export const begin = async (stack: DiscoveryStack, source: PagedSource) => {
  const key = ownKey();
  await stack.register(key, source.url);
  const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
  return { key, runId, scan: `${runId}/0` };
};

/** Waits until the source was asked for the page that it holds, so often at least. */
export const waitingAt = (source: PagedSource, requests = 1): Promise<void> =>
  until(() => source.waiting() >= requests);

/** [page, worker] of what is stored. */
export const storedPages = async (stack: DiscoveryStack, key: DiscoveryKey, scan: string) =>
  (await stack.store.pages(key.tenant, scan)).map(({ n, worker }) => [n, worker] as const);

/**
 * The pages that were asked for, as digits in the order of the requests; the tail's question for page 0 comes last. A list that
 * goes up only tells that no committed page was fetched again: a page is asked for once those before it are stored. A page may
 * be asked for more than once while it is not.
 */
export const asked = (source: PagedSource): string => source.asked().join('');

/** A list that was read in one session, with its tail in another; both were ended. @param pages as in `asked` */
export const expectTwoSessions = (server: SessionServer, pages: RegExp): void => {
  expect(server.sessions().map(({ asked: inIt, ended }) => [inIt.join(''), ended])).toEqual([
    [expect.stringMatching(pages), true],
    ['0', true],
  ]);
};

/** What a reader could see of a promotion, counted. */
export const promotions = async (stack: DiscoveryStack, { tenant, server }: DiscoveryKey) => {
  const { rows } = await stack.admin.query(
    `select (select count(*)::int from genlock.receipt where tenant = $1 and server = $2 and kind = 'catalog') as receipts,
       (select count(*)::int from genlock.generation where tenant = $1 and server = $2 and promoted_at is not null) as generations,
       (select count(*)::int from genlock.freshness where tenant = $1 and server = $2) as freshness,
       coalesce((select version::int from genlock.active_pointer where tenant = $1 and server = $2), 0) as version`,
    [tenant, server],
  );
  return rows[0] as Readonly<Record<'receipts' | 'generations' | 'freshness' | 'version', number>>;
};
export const NOTHING_PROMOTED = { receipts: 0, generations: 0, freshness: 0, version: 0 };
export const PROMOTED_ONCE = { receipts: 1, generations: 1, freshness: 1, version: 1 };

/** The scan ended whole in its first round, with one promotion, and keeps no session. */
export const expectWhole = async (
  stack: DiscoveryStack,
  key: DiscoveryKey,
  runId: string,
  byWorker: readonly string[],
): Promise<Outcome> => {
  const outcome = await stack.outcomeOf(key, runId);
  expect(outcome).toMatchObject({ state: 'ELIGIBLE', generation: 1, pages: 5, scan: `${runId}/0` });
  const pages = await stack.store.pages(key.tenant, outcome.scan);
  expect(pages.map(({ n, worker }) => [n, worker])).toEqual([...byWorker.entries()]);
  expect(await soundnessFaults(stack, key.server)).toEqual([]);
  expect(await promotions(stack, key)).toEqual(PROMOTED_ONCE);
  expect(await stack.store.readSession(key.tenant, outcome.scan)).toBeNull();
  return outcome;
};
