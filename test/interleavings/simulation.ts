/**
 * The simulated side of a round: the steps of a discovery without network, hashing or database, over the same pure
 * functions as the real ones.
 */
import type { CheckContractResult } from '../../src/activities/activityTypes.js';
import { acceptanceOf } from '../../src/domain/acceptance.js';
import {
  durationMs,
  epochMs,
  parseAudienceClass,
  parseServerName,
  parseTenantId,
} from '../../src/domain/ids.js';
import { SEGMENT_PAGES } from '../../src/domain/scanLimits.js';
import { DEFAULT_CONTRACT } from '../../src/domain/server.js';
import type { Attempt } from './attempt.js';
import { CORE, type Core } from './core.js';
import type { Side } from './round.js';
import { asDigest, createReading, stopOf, trustMoved } from './simulatedReading.js';
import { distinct, SimulatedStore } from './simulatedStore.js';

export const KEY = {
  tenant: parseTenantId('acme'),
  server: parseServerName('source'),
  audience: parseAudienceClass('warehouse'),
};
/** Nothing expires within a round: ages have tests of their own. */
const TIMES = { now: epochMs(0), renewBefore: durationMs(1) };
const EXPIRES = epochMs(1_000_000);

export interface SimulationOptions {
  readonly core?: Core;
  /** Pages after which a segment ends. */
  readonly segmentPages?: number;
}

export const createSimulation = ({
  core = CORE,
  segmentPages = SEGMENT_PAGES,
}: SimulationOptions = {}): Side => {
  const store = new SimulatedStore(core);
  const { scanPages, verifyTail } = createReading(store, core, segmentPages);

  const checkContract = async (attempt: Attempt, input: { scan: string }): Promise<CheckContractResult> => {
    await attempt.at('check');
    const scan = store.scanOf(input.scan);
    if (store.trust !== scan.trust) return trustMoved;
    const [first] = scan.pages;
    if (first?.revision == null || scan.contentRoot === null) return stopOf('TAIL_UNVERIFIED');
    const { active } = store;
    const { identity, revision } = first;
    const { contentRoot, epoch: policyEpoch, trust: trustVersion } = scan;
    const candidate = { identity, revision, contentRoot, policyEpoch, trustVersion };
    const acceptances = store.openAcceptances(scan.base);
    const { continuity, restsOn } = core.judgeWithAcceptances(
      scan.baseIdentity === null ? null : { identity: scan.baseIdentity },
      store.acceptedOf.get(identity) ?? null,
      { ...candidate, sameCredential: true, identityAnnounced: store.announced.has(first.truth.identity) },
      acceptances,
    );
    if (continuity.kind === 'held') return stopOf(continuity.reason);
    const serving = active && {
      ...active,
      policyEpoch: active.scan.epoch,
      trustVersion: active.scan.trust,
      expires: EXPIRES,
    };
    if (restsOn.length === 0 && core.isUnchanged(serving, candidate, TIMES)) {
      await attempt.at('renew');
      const before = scan.renewed;
      const renewal = store.renew(scan);
      if (renewal.outcome === 'renewed' && !before)
        attempt.note({ fact: 'renewed', scan: scan.id, tools: active?.tools ?? [], ...first.truth });
      await attempt.at('renewed');
      if (renewal.outcome === 'renewed')
        return { kind: 'unchanged', generation: renewal.generation, freshUntil: EXPIRES };
      return retired(renewal);
    }
    const names = new Set(distinct(scan.pages).map(({ name }) => name));
    const removed = active?.tools.filter(({ name }) => !names.has(name)).length ?? 0;
    if (core.isShrunk({ active: active?.tools.length ?? 0, removed }, DEFAULT_CONTRACT.shrinkShare)) {
      const acceptance = acceptanceOf(acceptances, { kind: 'SHRUNK', identity, revision, contentRoot });
      if (acceptance === undefined) return stopOf('SHRUNK');
      restsOn.push(acceptance);
    }
    scan.restsOn = restsOn.map(({ id }) => id);
    return { kind: 'checked', tools: names.size, quarantined: 0 };
  };

  const retired = (moved: { outcome: 'lost' } | { outcome: 'fenced'; what: string }) =>
    moved.outcome === 'lost'
      ? ({
          kind: 'retired',
          reason: 'LOST',
          successor: store.active?.generation ?? null,
          evidence: {},
        } as const)
      : ({ kind: 'retired', reason: 'FENCED', successor: null, evidence: { moved: moved.what } } as const);

  const steps: Record<string, (attempt: Attempt, input: never) => Promise<unknown>> = {
    scanPages,
    verifyTail,
    checkContract,
    seal: async (attempt, { scan: id }: { scan: string }) => {
      await attempt.at('seal');
      const scan = store.scanOf(id);
      if (store.trust !== scan.trust) return trustMoved;
      scan.sealed = true;
      return { kind: 'sealed', generation: 0, snapshot: asDigest('snapshot') };
    },
    promote: async (attempt, { scan: id }: { scan: string }) => {
      await attempt.at('promote');
      const scan = store.scanOf(id);
      await attempt.at('cas');
      const before = scan.promoted;
      const outcome = store.promote(scan);
      const [first] = scan.pages;
      if (outcome.outcome === 'promoted' && before === null && first !== undefined)
        attempt.note({ fact: 'promoted', scan: id, tools: distinct(scan.pages), ...first.truth });
      await attempt.at('committed');
      if (outcome.outcome !== 'promoted') return retired(outcome);
      return {
        kind: 'promoted',
        generation: outcome.generation,
        policyEpoch: scan.epoch,
        receipt: 'receipt',
      };
    },
    recordEnd: async (_, { result }: { result: { scan: string; state: string; reason: string } }) =>
      store.end(result.scan, result.state, result.reason),
  };

  return {
    key: KEY,
    rules: core.rounds,
    step: (step, attempt, input) => steps[step]?.(attempt, input as never) as never,
    serving: () => store.active?.tools ?? null,
    operator: {
      policy: () => void store.epoch++,
      trust: () => void store.trust++,
      announce: (identity) => {
        store.trust++;
        store.announced.add(identity);
      },
      setClosed: (closed) => {
        store.closed = closed;
      },
      accept: (scan) => store.accept(scan),
    },
  };
};
