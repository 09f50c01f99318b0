/**
 * The fault: 32 promoters in four processes race for one pointer, while policy, trust, revocations and the server itself
 * change. One order explains every answer; each version has one winner, and every loser says why (P1).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parseNamespace, parseServerName, type ServerName } from '../../src/domain/ids.js';
import { ACME, keyOf, MANAGERS, receipt, registration, useStore } from '../integration/store/storeFixture.js';
import { rounds } from '../support/testForm.js';
import { checkLinearizable } from './linearizability.js';
import { type PointerOperation, type PromoteAnswer, pointerModel, type Seen } from './pointerModel.js';
import type { FromPromoters, PromoterTask, SentOperation } from './promoterProcess.js';

const SEED = Number(process.env['GENLOCK_TEST_SEED'] ?? Date.now() % 1_000_000);
const PROMOTERS = 8;
const ACTS = ['publish', 'changeTrust', 'revoke', 'lift', 'close', 'open'] as const;
const fixture = useStore();
const children: ChildProcess[] = [];
let servers = 0;
afterAll(() => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
});

const startPromoters = (): ChildProcess => {
  const child = fork(fileURLToPath(new URL('./promoterProcess.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  children.push(child);
  return child;
};
/** The next message of a child; one that ends without it fails the test. */
const said = async (child: ChildProcess): Promise<FromPromoters> => {
  const waiting = new AbortController();
  const ended = once(child, 'exit', waiting).then(([code]) => {
    throw new Error(`a promoter process ended with ${code}`);
  });
  try {
    return (await Promise.race([once(child, 'message', waiting), ended]))[0] as FromPromoters;
  } finally {
    waiting.abort();
    await ended.catch(() => undefined);
  }
};
const operationOf = ({ invoked, returned, ...rest }: SentOperation): PointerOperation => ({
  ...rest,
  invoked: BigInt(invoked),
  returned: BigInt(returned),
});

interface Race {
  readonly server: ServerName;
  readonly start: Seen;
  readonly history: readonly PointerOperation[];
}

/** Each promoter has a candidate beside version 0 before the first one is promoted. */
const race = async (
  seed: number,
  shape: { readonly processes: number; readonly candidates: number },
): Promise<Race> => {
  console.log(`pointer race: seed ${seed} (GENLOCK_TEST_SEED)`);
  const server = parseServerName(`race-${++servers}`);
  const key = keyOf(ACME, MANAGERS, server);
  const own = registration({ name: server, namespace: parseNamespace(server) });
  await fixture.operator.registerServer(ACME, own, receipt());
  const epoch = (await fixture.operator.readPolicyBundle(ACME, null))?.epoch ?? 0;
  const { workerUrl, operatorUrl } = fixture.database;
  const all = Array.from({ length: shape.processes }, (_, process) => {
    const child = startPromoters();
    const task = { key, seed, process, promoters: PROMOTERS, candidates: shape.candidates };
    child.send({ ...task, workerUrl, operatorUrl } satisfies PromoterTask);
    return child;
  });
  expect(await Promise.all(all.map(said))).toEqual(all.map(() => 'ready'));
  const histories = all.map(said);
  for (const child of all) child.send('go');
  const history = (await Promise.all(histories)).flatMap((one) =>
    one === 'ready' ? [] : one.history.map(operationOf),
  );
  return {
    server,
    start: { version: 0, epoch, trust: 1, generation: null, isClosed: false, fence: 1 },
    history,
  };
};

test.each(Array.from({ length: rounds(1, 6) }, (_, round) => round))(
  'P1 32 promoters from 4 processes, and every act of an operator: the history is linearizable, one winner a version, losers say lost or fenced (race %i)',
  async (round) => {
    const { server, start, history } = await race(SEED + round, { processes: 4, candidates: rounds(3, 8) });
    const verdict = checkLinearizable(pointerModel(start), history);
    if (!verdict.linearizable) console.error(verdict.longest.slice(-20), verdict.stuck);
    expect(verdict.linearizable).toBe(true);

    const kinds = new Set(history.map(({ call }) => call.kind));
    expect(ACTS.filter((kind) => !kinds.has(kind))).toEqual([]);
    const promotions = history.flatMap(({ call, answer }) =>
      call.kind === 'promote' ? [{ ...call, answer: answer as PromoteAnswer }] : [],
    );
    const winners = new Map<number, number>();
    for (const { generation, base, answer } of promotions) {
      if (answer.outcome !== 'promoted') continue;
      expect(answer.generation).toBe(generation);
      const version = base.version + 1;
      expect(winners.get(version) ?? generation, `version ${version}`).toBe(generation);
      winners.set(version, generation);
    }
    const versions = [...winners.keys()].sort((a, b) => a - b);
    expect(versions).toEqual(versions.map((_, index) => index + 1));
    // All of the first candidates stood beside version 0, so that all but one of them lost.
    const losers = promotions.filter(({ answer }) => answer.outcome !== 'promoted');
    expect(new Set(losers.map(({ generation }) => generation)).size).toBeGreaterThanOrEqual(31);
    expect(new Set(losers.map(({ answer }) => answer.outcome))).toEqual(new Set(['lost', 'fenced']));

    const { rows } = await fixture.admin.query(
      `select (select version::int from genlock.active_pointer where server = $1) as version,
         (select count(*)::int from genlock.generation where server = $1 and promoted_at is not null) as promoted,
         (select count(*)::int from genlock.generation g join genlock.receipt r on r.tenant = g.tenant and r.id = g.receipt
           where g.server = $1 and r.kind = 'catalog') as receipts,
         (select count(*)::int from genlock.freshness where server = $1) as freshness`,
      [server],
    );
    const count = winners.size;
    expect(rows).toEqual([{ version: count, promoted: count, receipts: count, freshness: count }]);
  },
);

test('R1 no promotion that lost has left a receipt', async () => {
  const { rows } = await fixture.admin.query(
    `select count(*)::int as receipts, (select count(*)::int from genlock.generation where promoted_at is not null) as promoted
       from genlock.receipt where kind = 'catalog'`,
  );
  expect(rows[0].receipts).toBe(rows[0].promoted);
});

test('the checker finds out a store that compares no version', async () => {
  const { rows } = await fixture.admin.query<{ whole: string }>(
    `select pg_get_functiondef('genlock.promote(text, text, timestamptz, jsonb)'::regprocedure) as whole`,
  );
  const whole = rows[0]?.whole ?? '';
  const comparison = 'if pointer_version(p_tenant, s.server, s.audience) <> s.base_pointer_version then';
  expect(whole).toContain(comparison);
  await fixture.admin.query(whole.replace(comparison, 'if false then'));
  try {
    const { start, history } = await race(SEED, { processes: 2, candidates: 1 });
    expect(checkLinearizable(pointerModel(start), history).linearizable).toBe(false);
  } finally {
    await fixture.admin.query(whole);
  }
});
