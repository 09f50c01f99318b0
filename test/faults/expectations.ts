/**
 * What every fault of a source is held to: a first generation serves, the fault ends the discovery with its reason, what
 * served is as it was (P5), nothing of the fault's pages became a generation, and a mended source is accepted again.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { EndReason } from '../../src/domain/endReasons.js';
import { endRow } from '../../src/domain/endReasons.js';
import type { DiscoveryKey, Evidence } from '../../src/domain/generation.js';
import { digestJson } from '../../src/proof/digest.js';
import type { AdmissionStore, CatalogSlice } from '../../src/store/admissionStore.js';
import { createAdmissionStore } from '../../src/store/postgres/admissionStore.js';
import { createPool } from '../../src/store/postgres/pool.js';
import type { CatalogBend, ScriptedList } from '../fixtures/catalogScript.js';
import {
  type ScriptedCatalog,
  type ScriptedHttp,
  type ScriptedHttpOptions,
  startScriptedCatalog,
} from '../fixtures/scriptedCatalog.js';
import { createScriptedStdio } from '../fixtures/scriptedStdio.js';
import { at, tool } from '../integration/discovery/bentLists.js';
import {
  type DiscoveryServices,
  type DiscoveryStack,
  type Outcome,
  ownKey,
  type Registered,
  useDiscovery,
} from '../integration/discovery/discoveryStack.js';
import { soundnessFaults } from './soundness.js';

/**
 * One page of two tools for each prefix. Each tool says which revision it is of, so that lists of two revisions share no
 * descriptor, and a page of one of them among those of another shows.
 */
export const listAt = (counter: number, ...prefixes: readonly string[]): ScriptedList => ({
  pages: (prefixes.length === 0 ? ['a', 'b', 'c'] : prefixes).map((prefix) =>
    [0, 1].map((n) => tool(`${prefix}_${n}`, { description: `as of ${counter}` })),
  ),
  revision: at(counter),
});
export const FIRST = listAt(7);
/** What may follow it: the same tools as of now, and more. */
export const NEXT = listAt(8, 'a', 'b', 'c', 'd');

/** What stands in the store of a key, as far as a reader, an admission or the next scan could see it. */
export interface Standing {
  readonly pointer: unknown;
  readonly generations: readonly { readonly generation: number; readonly scan: string }[];
  readonly freshness: unknown;
  /** Through the role of the API: what a planner is shown. */
  readonly served: CatalogSlice | null;
}

export interface Begun<C extends ScriptedCatalog = ScriptedCatalog> {
  readonly key: DiscoveryKey;
  readonly catalog: C;
  readonly before: Standing;
}

export interface Fault {
  readonly reason: EndReason;
  /** Members that the evidence has at least. */
  readonly evidence: Evidence;
}

export interface FaultStack extends DiscoveryStack {
  /** As the role of the API: all that a planner can see. */
  readonly api: AdmissionStore;
  scripted(list?: ScriptedList, options?: ScriptedHttpOptions): Promise<ScriptedHttp>;
  stdio(list?: ScriptedList): Promise<ScriptedCatalog>;
  /** Registers a server and makes its list generation 1. */
  begin<C extends ScriptedCatalog>(catalog: C, more?: Registered): Promise<Begun<C>>;
  standing(key: DiscoveryKey): Promise<Standing>;
  /** The rounds of the newest run, oldest first. */
  roundsOf(key: DiscoveryKey): Promise<readonly (readonly [round: number, reason: string])[]>;
  /** Bends the catalog, discovers, and holds the end to all that the head of this file says but the mending. */
  expectFault(begun: Begun, fault: Fault, ...bends: readonly CatalogBend[]): Promise<Outcome>;
  expectUntouched(begun: Pick<Begun, 'key' | 'before'>): Promise<void>;
  /** The next discovery makes the list active, whole. */
  expectMended(begun: Begun, list?: ScriptedList): Promise<Outcome>;
  expectActive(key: DiscoveryKey, list: ScriptedList): Promise<void>;
}

/** Each tool as its name and the digest of the whole of it. */
const contentOf = ({ pages }: ScriptedList): readonly string[] =>
  pages.flat().map((one) => `${(one as { name: string }).name} ${digestJson(one as never)}`);

export const useFaults = (services: DiscoveryServices = {}): FaultStack => {
  const stack = useDiscovery(services) as FaultStack;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(() => {
    const pool = createPool({ url: stack.database.apiUrl, size: 2, applicationName: 'genlock faults' });
    ends.push(() => pool.end());
    Object.assign(stack, { api: createAdmissionStore(pool) });
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  const rows = async <T>(text: string, { tenant, server, audience }: DiscoveryKey): Promise<readonly T[]> =>
    (await stack.admin.query(text, [tenant, server, audience])).rows as readonly T[];
  const OF_KEY = 'where t.tenant = $1 and t.server = $2 and t.audience = $3';

  const own: Omit<FaultStack, keyof DiscoveryStack | 'api'> = {
    async scripted(list = FIRST, options = {}) {
      const catalog = await startScriptedCatalog(list, options);
      ends.push(() => catalog.close());
      return catalog;
    },
    stdio: (list = FIRST) => createScriptedStdio(list, join(stack.folder, ownKey().server)),
    async begin(catalog, more) {
      const key = ownKey();
      await stack.register(key, catalog.source, more);
      expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1, evidence: {} });
      return { key, catalog, before: await own.standing(key) };
    },
    standing: async (key) => ({
      pointer: await rows(`select to_jsonb(t) as row from genlock.active_pointer t ${OF_KEY}`, key),
      generations: await rows(
        `select generation, scan, state, snapshot, encode(artifact, 'hex') as artifact
          from genlock.generation t ${OF_KEY} order by generation`,
        key,
      ),
      freshness: await rows(
        `select to_jsonb(t) as row from genlock.freshness t ${OF_KEY} order by scan`,
        key,
      ),
      served: await stack.api.catalog(key.tenant, key.server, key.audience, { after: '', limit: 1_000 }),
    }),
    async roundsOf(key) {
      const all = await stack.operator.listDiscoveries(key.tenant, { server: key.server, limit: 100 });
      return all
        .filter(({ runId }) => runId === all[0]?.runId)
        .map(({ round, reason }) => [round, reason ?? ''] as const)
        .reverse();
    },
    async expectFault(begun, { reason, evidence }, ...bends) {
      if (bends.length > 0) await begun.catalog.bend(...bends);
      const { key } = begun;
      const outcome = await stack.discover(key);
      const { state } = endRow(reason);
      expect(outcome).toMatchObject({ state, reason, evidence, generation: null, receipt: null });
      expect(await stack.operator.readDiscovery(key.tenant, outcome.scan)).toMatchObject({
        state,
        reason,
        evidence,
      });
      expect(await stack.attributesOf(key, outcome.runId)).toMatchObject({
        GenlockState: state,
        GenlockReason: reason,
      });
      await own.expectUntouched(begun);
      return outcome;
    },
    async expectUntouched({ key, before }) {
      expect(await own.standing(key)).toEqual(before);
    },
    async expectMended({ key, catalog }, list = NEXT) {
      await catalog.mend(list);
      const last = (await own.standing(key)).generations.at(-1)?.generation ?? 0;
      const outcome = await stack.discover(key);
      expect(outcome).toMatchObject({ state: 'ELIGIBLE', reason: 'PROMOTED', pages: list.pages.length });
      expect(outcome.generation).toBeGreaterThan(last);
      await own.expectActive(key, list);
      return outcome;
    },
    async expectActive(key, list) {
      const { served } = await own.standing(key);
      const content = (served?.page ?? []).map(({ name, descriptor }) => `${name} ${descriptor}`);
      expect(content.toSorted()).toEqual(contentOf(list).toSorted());
      expect(await stack.store.active(key)).toMatchObject({
        revision: { value: list.revision ?? { token: list.token } },
      });
      expect(await soundnessFaults(stack, key.server)).toEqual([]);
    },
  };
  return Object.assign(stack, own);
};
