/** The real source and store, watched: each call goes through, passes the moment that it is, and leaves its fact. */
import { setImmediate as immediate } from 'node:timers/promises';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import type { SourceRevision } from '../../src/domain/snapshot.js';
import { mcpSource } from '../../src/sources/mcp/mcpSource.js';
import type { ToolSource } from '../../src/sources/source.js';
import type { ScanStore } from '../../src/store/scanStore.js';
import { type Attempt, isKill } from './attempt.js';
import type { Stamp, Tool, Truth } from './history.js';
import { identityOf, type RealSource, type Served } from './realSource.js';

const stampOf = ({ binding, value }: SourceRevision): Stamp =>
  binding === 'SNAPSHOT_TOKEN'
    ? { token: value.token }
    : { incarnation: value.incarnation, counter: value.counter };

export interface Watched {
  readonly store: ScanStore;
  readonly key: DiscoveryKey;
  readonly source: RealSource;
  /** Scans of which a move of the pointer was written down. */
  readonly told: Set<string>;
}

/** What is active in Postgres, in the oracle's words. */
export const activeTruth = async ({ store, key, source }: Watched): Promise<Truth | null> => {
  const active = await store.active(key);
  if (active === null) return null;
  const rows = await store.sealedTools(key.tenant, active.scan);
  const tools: readonly Tool[] = rows.map(({ name, source: text }) => ({ name, version: versionOf(text) }));
  const identity = active.identity === identityOf(source, 'a') ? 'a' : 'b';
  return { stamp: stampOf(active.revision), identity, tools };
};
const versionOf = (text: string): number =>
  Number((JSON.parse(text) as { description: string }).description.slice(1));

export const watchedSource = (served: Served, attempt: Attempt, part: 'page' | 'tail'): ToolSource => ({
  connect: async (target, options) => {
    const connection = await mcpSource.connect(target, options);
    const ask: typeof connection.listPage = async (cursor, how) => {
      await attempt.at('ask');
      served.asking = { attempt, part };
      return await connection.listPage(cursor, how);
    };
    const listPage: typeof connection.listPage = (cursor, how) => {
      const asked = ask(cursor, how);
      attempt.asked = asked;
      return asked;
    };
    return new Proxy(connection, {
      get: (whole, name) => (name === 'listPage' ? listPage : Reflect.get(whole, name)),
    });
  },
});

/**
 * A page of known bytes is stored while the next one is asked for: that is waited for, repeats included, so that moments
 * have one order. A worker that was killed while it asked stores nothing.
 */
const nothingAsked = async (attempt: Attempt): Promise<void> => {
  while (attempt.asked !== null) {
    const { asked } = attempt;
    attempt.asked = null;
    await asked.catch((error: unknown) => {
      if (isKill(error)) throw error;
    });
    // A repeat is asked for without any wait between.
    await immediate();
  }
};

export const watchedStore = (reading: Watched, attempt: Attempt): ScanStore => {
  const { store } = reading;
  const moved = async (fact: 'promoted' | 'renewed', scan: string): Promise<void> => {
    // An attempt after the one that was not heard of gets the same answer again.
    if (reading.told.has(scan)) return;
    reading.told.add(scan);
    const truth = await activeTruth(reading);
    if (truth !== null) attempt.note({ fact, scan, ...truth });
  };
  return {
    ...store,
    claimScan: async (claim) => {
      await attempt.at('claim');
      attempt.note({ fact: 'claim', scan: claim.id, segment: claim.segment, attempt: claim.attempt });
      return await store.claimScan(claim);
    },
    storePage: async (...given) => {
      await nothingAsked(attempt);
      await attempt.at('store');
      const stored = await store.storePage(...given);
      if (stored) {
        const [, , { requestCursor: cursor }] = given;
        attempt.note({ fact: 'stored', scan: attempt.scan, claim: attempt.claim, cursor });
        await attempt.at('stored');
      }
      return stored;
    },
    completeScan: async (...given) => {
      await attempt.at('complete');
      return await store.completeScan(...given);
    },
    proveScan: async (...given) => {
      await attempt.at('prove');
      return await store.proveScan(...given);
    },
    renewFreshness: async (...given) => {
      await attempt.at('renew');
      const outcome = await store.renewFreshness(...given);
      if (outcome.outcome === 'renewed') await moved('renewed', attempt.scan);
      await attempt.at('renewed');
      return outcome;
    },
    promote: async (...given) => {
      await attempt.at('cas');
      const outcome = await store.promote(...given);
      if (outcome.outcome === 'promoted') await moved('promoted', attempt.scan);
      await attempt.at('committed');
      return outcome;
    },
  };
};
