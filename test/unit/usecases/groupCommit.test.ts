/** Group commit: what comes while a call is under way shares the next, and a bad row takes nobody with it. */
import { describe, expect, test } from 'vitest';
import { CatalogError } from '../../../src/domain/errors.js';
import { parseServerName, parseTenantId } from '../../../src/domain/ids.js';
import type { CommitOutcome, DecisionRow } from '../../../src/store/admissionStore.js';
import { createGroupCommit, type GroupCommitOptions } from '../../../src/usecases/groupCommit.js';

const acme = parseTenantId('acme');
const inventory = parseServerName('inventory');
const rowOf = (id: string) => ({ receipt: { id } }) as DecisionRow;
const idsOf = (rows: readonly DecisionRow[]) => rows.map((row) => row.receipt.id);

/** A store that answers when it is told to. */
const slowStore = () => {
  const calls: {
    readonly scope: string;
    readonly ids: readonly string[];
    readonly answer: (outcomes?: readonly CommitOutcome[]) => void;
    readonly fail: (error: unknown) => void;
  }[] = [];
  const commit: GroupCommitOptions['commit'] = (tenant, server, rows) =>
    new Promise((resolve, reject) => {
      const ids = idsOf(rows);
      calls.push({
        scope: `${tenant}/${server}`,
        ids,
        answer: (outcomes) => resolve(outcomes ?? ids.map(() => 'COMMITTED')),
        fail: reject,
      });
    });
  return { calls, commit };
};

describe('gathering', () => {
  test('a row alone is sent at once; those that come meanwhile go together, in order', async () => {
    const { calls, commit } = slowStore();
    const group = createGroupCommit({ commit, maxInFlight: 1 });
    const answers = ['a', 'b', 'c', 'd'].map((id) => group.submit(acme, inventory, rowOf(id)));
    expect(calls.map(({ ids }) => ids)).toEqual([['a']]);
    calls[0]?.answer();
    await answers[0];
    await Promise.resolve();
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c', 'd']]);
    calls[1]?.answer(['COMMITTED', 'FENCE_MOVED', 'REPLAYED']);
    expect(await Promise.all(answers)).toEqual(['COMMITTED', 'COMMITTED', 'FENCE_MOVED', 'REPLAYED']);
  });

  test('a call holds no more rows than allowed, and scopes do not wait for each other', async () => {
    const { calls, commit } = slowStore();
    const group = createGroupCommit({ commit, maxInFlight: 1, maxRows: 2 });
    const answers = ['a', 'b', 'c', 'd'].map((id) => group.submit(acme, inventory, rowOf(id)));
    const elsewhere = group.submit(parseTenantId('globex'), inventory, rowOf('z'));
    expect(calls.map(({ scope, ids }) => [scope, ids])).toEqual([
      ['acme/inventory', ['a']],
      ['globex/inventory', ['z']],
    ]);
    calls[1]?.answer();
    expect(await elsewhere).toBe('COMMITTED');
    calls[0]?.answer();
    await answers[0];
    await Promise.resolve();
    expect(calls.at(-1)?.ids).toEqual(['b', 'c']);
    calls.at(-1)?.answer();
    await answers[2];
    await Promise.resolve();
    expect(calls.at(-1)?.ids).toEqual(['d']);
    calls.at(-1)?.answer();
    await Promise.all(answers);
  });

  test('beyond the bound on waiting rows a row is refused, and the others are not', async () => {
    const { calls, commit } = slowStore();
    const group = createGroupCommit({ commit, maxInFlight: 1, maxWaiting: 1 });
    const first = group.submit(acme, inventory, rowOf('a'));
    const second = group.submit(acme, inventory, rowOf('b'));
    await expect(group.submit(acme, inventory, rowOf('c'))).rejects.toMatchObject({
      code: 'OVERLOADED',
      reason: 'QUEUE_FULL',
    });
    calls[0]?.answer();
    await first;
    await Promise.resolve();
    calls[1]?.answer();
    expect(await second).toBe('COMMITTED');
  });
});

describe('faults', () => {
  test('data that Postgres refuses is sent again row by row, and only its own row fails', async () => {
    const bad = new CatalogError('UNAVAILABLE', 'DATABASE', { sqlState: '23514' });
    const sent: string[][] = [];
    const group = createGroupCommit({
      maxInFlight: 1,
      commit: async (_tenant, _server, rows) => {
        sent.push([...idsOf(rows)]);
        if (idsOf(rows).includes('bad')) throw bad;
        return rows.map(() => 'COMMITTED');
      },
    });
    const answers = ['a', 'b', 'bad', 'c'].map((id) => group.submit(acme, inventory, rowOf(id)));
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    await expect(answers[2]).rejects.toBe(bad);
    expect(sent).toEqual([['a'], ['b', 'bad', 'c'], ['b'], ['bad'], ['c']]);
  });

  test('a database that does not answer fails all of a call once, and the next call is tried', async () => {
    const { calls, commit } = slowStore();
    const group = createGroupCommit({ commit, maxInFlight: 1 });
    const lost = new CatalogError('UNAVAILABLE', 'DATABASE');
    const answers = ['a', 'b', 'c'].map((id) => group.submit(acme, inventory, rowOf(id)));
    calls[0]?.fail(lost);
    await expect(answers[0]).rejects.toBe(lost);
    await Promise.resolve();
    calls[1]?.fail(lost);
    await expect(answers[1]).rejects.toBe(lost);
    await expect(answers[2]).rejects.toBe(lost);
    expect(calls).toHaveLength(2);
    const next = group.submit(acme, inventory, rowOf('d'));
    calls[2]?.answer();
    expect(await next).toBe('COMMITTED');
  });

  test('an answer of another length is no answer', async () => {
    const group = createGroupCommit({ commit: async () => [] });
    await expect(group.submit(acme, inventory, rowOf('a'))).rejects.toThrow('another number of rows');
  });
});
