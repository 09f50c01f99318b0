/**
 * A process of promoters that race for one pointer, with an operator's acts between. It is told its task over IPC, prepares
 * a candidate for each promoter, waits for the word, and hands back everything it called with what it was answered.
 */
import { randomUUID } from 'node:crypto';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { parseNamespace } from '../../src/domain/ids.js';
import { DEFAULT_TRUST } from '../../src/domain/server.js';
import { createOperatorStore } from '../../src/store/postgres/operatorStore.js';
import { createPool, query, withTenant } from '../../src/store/postgres/pool.js';
import { createScanStore } from '../../src/store/postgres/scanStore.js';
import { digest, inHours, receipt, registration, sealedScan } from '../integration/store/candidates.js';
import { createRandom, type Random } from '../interleavings/random.js';
import type { Base, PointerAnswer, PointerCall, PointerOperation, Seen } from './pointerModel.js';

export interface PromoterTask {
  readonly workerUrl: string;
  readonly operatorUrl: string;
  readonly key: DiscoveryKey;
  readonly seed: number;
  readonly process: number;
  readonly promoters: number;
  /** Candidates of each promoter. */
  readonly candidates: number;
}

/** As JSON: IPC has no bigint. */
export type SentOperation = Omit<PointerOperation, 'invoked' | 'returned'> & {
  readonly invoked: string;
  readonly returned: string;
};
export type FromPromoters = 'ready' | { readonly history: readonly SentOperation[] };

const say = (message: FromPromoters): void => {
  process.send?.(message);
};
const hears = <T>(): Promise<T> =>
  new Promise((resolve) => process.once('message', (said) => resolve(said as T)));

/** Everything that the model knows, of one moment: a single statement. */
const READ = `
  select coalesce((select max(version)::int from active_pointer where tenant = $1 and server = $2 and audience = $3), 0) as version,
    (select generation from active_pointer where tenant = $1 and server = $2 and audience = $3 and closed_at is null) as generation,
    coalesce((select max(epoch) from policy_epoch where tenant = $1), 0) as epoch,
    (select trust_version from server where tenant = $1 and name = $2) as trust,
    (select closed_reason is not null from server where tenant = $1 and name = $2) as "isClosed",
    (select version::int from fence where tenant = $1 and server = $2) as fence`;

const race = async (task: PromoterTask): Promise<void> => {
  const { key, promoters, seed } = task;
  const { tenant, server, audience } = key;
  const poolOf = (url: string) =>
    createPool({ url, size: promoters, applicationName: 'genlock promoters', acquireTimeoutMs: 60_000 });
  const [worker, operators] = [poolOf(task.workerUrl), poolOf(task.operatorUrl)];
  const [store, operator] = [createScanStore(worker), createOperatorStore(operators)];
  const history: SentOperation[] = [];

  /** Notes a call with its times and its answer. */
  const timed = async <T>(
    act: () => Promise<T>,
    note: (result: T) => readonly [call: PointerCall, answer: PointerAnswer],
  ): Promise<T> => {
    const invoked = String(process.hrtime.bigint());
    const result = await act();
    const returned = String(process.hrtime.bigint());
    const [call, answer] = note(result);
    history.push({ call, answer, invoked, returned });
    return result;
  };
  const done = { done: true } as const;

  const prepare = async () => {
    const claiming: typeof store = {
      ...store,
      claimScan: (claim) =>
        timed(
          () => store.claimScan(claim),
          (scan) => {
            if (scan === null) throw new Error('a scan was not claimed');
            return [{ kind: 'claim' }, baseOf(scan)];
          },
        ),
    };
    return await sealedScan({ store: claiming }, key, { content: randomUUID() });
  };
  type Candidate = Awaited<ReturnType<typeof prepare>>;
  const baseOf = (scan: Pick<Candidate, 'basePointerVersion' | 'policyEpoch' | 'trustVersion'>): Base => ({
    version: scan.basePointerVersion,
    epoch: scan.policyEpoch,
    trust: scan.trustVersion,
  });
  const promote = (scan: Candidate) =>
    timed(
      () => store.promote(tenant, scan.id, inHours(1), receipt('catalog')),
      (outcome) => {
        const call = { kind: 'promote', generation: scan.generation, base: baseOf(scan) } as const;
        if (outcome.outcome !== 'promoted') return [call, outcome];
        return [call, { outcome: 'promoted', generation: outcome.generation }];
      },
    );
  const read = (): Promise<Seen> =>
    timed(
      () =>
        withTenant(worker, tenant, async (client) => {
          const [row] = await query(client, READ, [tenant, server, audience]);
          return row as unknown as Seen;
        }),
      (seen) => [{ kind: 'read' }, seen],
    );

  const revokeAndLift = async (): Promise<void> => {
    const id = randomUUID();
    const record = { id, kind: 'tool-name', server, target: 'reserve', reason: 'race', by: 'olga' } as const;
    await timed(
      () => operator.revoke(tenant, record, receipt()),
      () => [{ kind: 'revoke' }, done],
    );
    await timed(
      () => operator.liftRevocation(tenant, id, 'olga', receipt()),
      () => [{ kind: 'lift' }, done],
    );
  };
  /** A server that is closed is asked while it is. */
  const closeAndOpen = async (): Promise<void> => {
    const set = (kind: 'close' | 'open', reason: string | null) =>
      timed(
        () => operator.setServerClosed(tenant, server, reason, receipt()),
        () => [{ kind }, done],
      );
    await set('close', 'race');
    await promote(await prepare());
    await set('open', null);
  };
  const publish = async (): Promise<void> => {
    const { epoch } = await read();
    const bundle = { text: '{}', digest: digest('{}') };
    await timed(
      () => operator.publishPolicy(tenant, epoch, bundle, 'olga', receipt()),
      (became) => [{ kind: 'publish', expected: epoch }, { became }],
    );
  };
  const changeTrust = async (): Promise<void> => {
    const expected = (await read()).trust;
    const trust = { ...DEFAULT_TRUST, acceptedIdentities: [digest(randomUUID())] };
    const changed = registration({ name: server, namespace: parseNamespace(server), trust });
    await timed(
      () => operator.registerServer(tenant, changed, receipt(), expected),
      (answer) => [
        { kind: 'changeTrust', expected },
        { became: 'trustVersion' in answer ? answer.trustVersion : null },
      ],
    );
  };

  /** One in each process. Its first promoter has a candidate from before: a publication and a change of trust fence theirs. */
  const planned = [publish, changeTrust, revokeAndLift, closeAndOpen];
  const between = async (random: Random): Promise<void> => {
    const chosen = random.below(100);
    if (chosen < 25) await read();
    else if (chosen < 45) await revokeAndLift();
    // Rare: each of them fences every candidate that is under way.
    else if (chosen < 47) await publish();
    else if (chosen < 49) await changeTrust();
    else if (chosen < 52) await closeAndOpen();
  };
  const run = async (first: Candidate, promoter: number): Promise<void> => {
    const random = createRandom(seed, task.process * promoters + promoter);
    for (let n = 0; n < task.candidates; n++) {
      const candidate = n === 0 ? first : await prepare();
      if (n === 1 && promoter === 0) await planned[task.process]?.();
      else if (n > 0) await between(random);
      await promote(candidate);
      // An activity that did not hear its answer asks again.
      if (random.chance(20)) await promote(candidate);
    }
  };

  const firsts = await Promise.all(Array.from({ length: promoters }, prepare));
  const go = hears<'go'>();
  say('ready');
  await go;
  await Promise.all(firsts.map(run));
  say({ history });
  await Promise.all([worker.end(), operators.end()]);
  process.disconnect();
};

await race(await hears<PromoterTask>());
