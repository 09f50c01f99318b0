/**
 * The real side of a round: the activities as the worker runs them, over the MCP source, the strict reader and Postgres.
 * Source and store are only watched: each call goes through, and passes the moment that it is.
 */
import { randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../../src/activities/index.js';
import { isAcceptable } from '../../src/domain/acceptance.js';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { epochMs, parseAudienceClass, parseServerName, parseTenantId } from '../../src/domain/ids.js';
import { ROUNDS } from '../../src/domain/rounds.js';
import { Secret } from '../../src/domain/secret.js';
import { createKeySet, generateSigningJwk } from '../../src/keys/keySet.js';
import { createSessionSeal } from '../../src/keys/sessionSeal.js';
import { sha256Bytes } from '../../src/proof/digest.js';
import { targetOf } from '../../src/sources/targetOf.js';
import type { OperatorStore } from '../../src/store/operatorStore.js';
import type { ScanStore } from '../../src/store/scanStore.js';
import { unsignedReceipt } from '../support/receiptRows.js';
import type { RealSources, Served } from './realSource.js';
import { registrar } from './registrar.js';
import { runRound, type Side, type Verdict } from './round.js';
import type { Schedule } from './schedule.js';
import { activeTruth, type Watched, watchedSource, watchedStore } from './watched.js';

export interface RealParts {
  readonly store: ScanStore;
  readonly operator: OperatorStore;
  readonly sources: RealSources;
}

const keys = createKeySet([generateSigningJwk()]);
const sessions = createSessionSeal([new Secret(randomBytes(32).toString('base64url'))]);
const AUDIENCE = parseAudienceClass('warehouse.policy-1');
const SERVER = parseServerName('scripted');

/** What over the wire is one schedule: there an identity that moves is a TLS key. */
export const asReal = (schedule: Schedule): Schedule => ({ ...schedule, keyed: true });

const hasIdentities = ({ plan }: Schedule): boolean => plan.some(({ act }) => act.do === 'identity');
/** @throws what the parts throw; the verdict is judged by nobody here */
export const runRealRound = async (schedule: Schedule, parts: RealParts): Promise<Verdict> => {
  const { store, operator } = parts;
  const key: DiscoveryKey = {
    tenant: parseTenantId(`r${randomBytes(8).toString('hex')}`),
    server: SERVER,
    audience: AUDIENCE,
  };
  const served: Served = { world: null, asking: null };
  const source = await parts.sources.open(key.tenant, served, hasIdentities(schedule));
  const reading: Watched = { store, key, source, told: new Set() };
  const register = registrar(operator, key, source);
  await register({});
  let epoch = 0;
  const side: Side = {
    key,
    rules: ROUNDS,
    sourceMoved: (world) => {
      served.world = world;
      source.follow();
    },
    serving: async () => (await activeTruth(reading))?.tools ?? null,
    operator: {
      policy: async () => {
        const bundle = { text: '{}', digest: sha256Bytes('{}') };
        if ((await operator.publishPolicy(key.tenant, epoch++, bundle, 'tester', unsignedReceipt())) === null)
          throw new Error('the policy was not published');
      },
      trust: () => register({ more: true }),
      announce: (identity) => register({ announce: identity }),
      setClosed: async (closed) => {
        await operator.setServerClosed(key.tenant, key.server, closed ? 'the test' : null, unsignedReceipt());
      },
      accept: async (scan) => {
        const record = await store.readScan(key.tenant, scan);
        const reason = (await operator.readDiscovery(key.tenant, scan))?.reason ?? null;
        const { identity, revision, contentRoot } = record ?? {};
        if (identity == null || revision == null || contentRoot == null || !isAcceptable(reason))
          return false;
        const acceptance = {
          ...{
            id: randomBytes(8).toString('hex'),
            discovery: scan,
            server: key.server,
            audience: key.audience,
          },
          ...{ kind: reason, identity, revision, contentRoot, reason: 'the test', by: 'tester' },
        };
        return (await operator.acceptHeld(key.tenant, acceptance, unsignedReceipt())) === 'accepted';
      },
    },
    step: (step, attempt, input) => {
      served.world = attempt.world;
      const activities = createActivities({
        store: watchedStore(reading, attempt),
        source: watchedSource(served, attempt, step === 'verifyTail' ? 'tail' : 'page'),
        targetOf: (tenant, server, credential) => targetOf(tenant, server, credential, SETTINGS),
        policy: async () => null,
        keys,
        sessions,
        startDiscovery: async () => undefined,
        worker: 'interleavings',
        now: () => epochMs(Date.now()),
        newId: () => randomBytes(12).toString('hex'),
        pause: async () => undefined,
      });
      const environment = new MockActivityEnvironment({ attempt: attempt.number }, { logger: QUIET });
      const moment = MOMENTS[step];
      const run = async () => {
        if (moment !== undefined) await attempt.at(moment);
        return await environment.run(activities[step] as never, input);
      };
      return run() as never;
    },
  };
  try {
    return await runRound(schedule, side, true);
  } finally {
    await source.close();
  }
};

const MOMENTS: Readonly<Record<string, string>> = {
  verifyTail: 'tail',
  checkContract: 'check',
  seal: 'seal',
  promote: 'promote',
};
const SETTINGS = {
  env: () => undefined,
  credentialsDir: undefined,
  stdioTenants: new Set<never>(),
  fingerprint: sha256Bytes,
};

/** Attempts are killed all the time, and a database without a guard breaks; the verdict says what came of it. */
const QUIET = new DefaultLogger('ERROR', () => undefined);
