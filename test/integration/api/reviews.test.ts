/** The operator's routes of V6: reviews member by member, and two generations side by side. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type GenerationsDiff, type GenlockClient, GenlockProblem } from '../../../src/client/client.js';
import type { JsonObject } from '../../../src/domain/json.js';
import { AUDIENCE } from './apiFixture.js';
import { api, operator, refusal, registration, useOperator } from './operatorFixture.js';
import { promoteTools, tool } from './promoteTools.js';

useOperator();

const promote = (server: string, counter: number, tools: readonly JsonObject[]) =>
  promoteTools(api.scans, { tenant: api.tenant, server, counter, tools });
const reworded = (name: string) => tool(name, { description: `Does ${name}\u200b`, title: 'T' });
const serverOf = async (server: string) => {
  await operator.client.registerServer(registration(server));
  return (counter: number, tools: readonly JsonObject[]) => promote(server, counter, tools);
};

describe('V6 GET /v1/reviews', () => {
  test('V6 V7 a review shows each member that changed, with hidden characters escaped', async () => {
    const generation = await serverOf('shown');
    const was = await generation(1, [tool('reserve')]);
    const is = await generation(2, [reworded('reserve')]);
    const { reviews } = await operator.client.reviews({ server: 'shown', state: 'pending' });
    expect(reviews).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        server: 'shown',
        audience: AUDIENCE,
        tool: 'shown.reserve@1',
        name: 'reserve',
        effectClass: 'UNKNOWN',
        generation: is.generation,
        before: was.tools['reserve']?.descriptor,
        after: is.tools['reserve']?.descriptor,
        changed: ['text'],
        state: 'pending',
        open: true,
        reason: null,
        by: null,
        decidedAt: null,
        receipt: null,
      },
    ]);
    const id = reviews[0]?.id ?? '';
    expect((await operator.client.review(id)).members).toEqual([
      {
        pointer: '/description',
        class: 'text',
        before: '"Does reserve"',
        after: '"Does reserve\\u{200B}"',
        offset: 13,
      },
      { pointer: '/title', class: 'text', before: null, after: '"T"', offset: 0 },
    ]);
    const { receipt } = await operator.client.decideReview(id, 'refuse', 'hidden text');
    expect(await operator.client.review(id)).toMatchObject({
      state: 'refused',
      open: true,
      reason: 'hidden text',
      by: 'olga',
      decidedAt: expect.any(String),
      receipt,
    });
  });

  test('V6 the list goes on where a slice ended, and takes nothing else for a place', async () => {
    const generation = await serverOf('sliced');
    const names = ['a', 'b', 'c'];
    await generation(
      1,
      names.map((name) => tool(name)),
    );
    await generation(2, names.map(reworded));
    const first = await operator.client.reviews({ server: 'sliced', limit: 2 });
    const rest = await operator.client.reviews({ server: 'sliced', limit: 2, after: first.next ?? '' });
    expect([...first.reviews, ...rest.reviews].map(({ name }) => name)).toEqual(names);
    expect(rest.next).toBeNull();
    const withNul = Buffer.from('["a","a","a\\u0000","a"]').toString('base64url');
    for (const after of ['x', 'WzFd', withNul])
      expect(await refusal(operator.client.reviews({ after }))).toMatchObject({ reason: 'INVALID_QUERY' });
  });

  test('S4 only an operator of the tenant sees or decides', async () => {
    const generation = await serverOf('walled');
    await generation(1, [tool('reserve')]);
    await generation(2, [reworded('reserve')]);
    const [review] = (await operator.client.reviews({ server: 'walled' })).reviews;
    const id = review?.id ?? '';
    const other = await api.person('otto', ['genlock-operator'], { tenant: api.otherTenant });
    expect((await other.client.reviews()).reviews).toEqual([]);
    for (const ask of [other.client.review(id), other.client.decideReview(id, 'accept', 'mine')])
      expect(await refusal(ask)).toMatchObject({ status: 404, reason: 'NO_SUCH_REVIEW' });
    const agent = await api.person('agent', []);
    const asks: ((client: GenlockClient) => Promise<unknown>)[] = [
      (client) => client.reviews(),
      (client) => client.review(id),
      (client) => client.decideReview(id, 'accept', 'x'),
      (client) => client.diff('walled', { audience: AUDIENCE, from: 1, to: 2 }),
    ];
    for (const ask of asks)
      expect(await refusal(ask(agent.client))).toMatchObject({
        status: 403,
        reason: 'ROLE_MISSING',
        next: 'Use a token that has the role that `details` names.',
        details: { role: 'genlock-operator' },
      });
    expect((await operator.client.review(id)).state).toBe('pending');
  });

  test('V6 a decision needs a reason', async () => {
    expect(await refusal(operator.client.decideReview('x', 'accept', ''))).toMatchObject({
      reason: 'INVALID_BODY',
    });
  });
});

describe('V6 GET /v1/catalogs/{server}/diff', () => {
  test('V6 tools by kind, class and member, and a likely rename', async () => {
    const generation = await serverOf('compared');
    const schema = { inputSchema: { type: 'object', title: 'Ship' } };
    const from = await generation(1, [tool('count'), tool('delete', schema), tool('hint'), tool('same')]);
    const to = await generation(2, [
      tool('same'),
      tool('hint', { annotations: { readOnlyHint: true } }),
      tool('remove', { ...schema, description: 'Removes' }),
      tool('count', { inputSchema: { type: 'object' }, description: 'Counts' }),
    ]);
    const range = { audience: AUDIENCE, from: from.generation, to: to.generation };
    const diff = await operator.client.diff('compared', range);
    expect(diff.counts).toEqual({ added: 1, removed: 1, changed: 2 });
    expect(diff.tools.map((one) => [one.kind, one.name, one.classes, one.likelyRenameOf])).toEqual([
      ['changed', 'count', ['contract', 'text'], null],
      ['removed', 'delete', [], null],
      ['changed', 'hint', ['hints'], null],
      ['added', 'remove', [], 'compared.delete@1'],
    ]);
    const [count, , hint] = diff.tools;
    expect(count).toMatchObject({ before: { id: 'compared.count@1' }, after: { id: 'compared.count@2' } });
    expect(count?.members.map(({ class: name, pointer }) => [name, pointer])).toContainEqual([
      'contract',
      '/inputSchema/required',
    ]);
    expect(hint?.members).toEqual([
      { pointer: '/annotations', class: 'hints', before: null, after: '{"readOnlyHint":true}', offset: 0 },
    ]);
    const first = await operator.client.diff('compared', { ...range, limit: 3 });
    expect(first.next).toBe('hint');
    const rest = await operator.client.diff('compared', { ...range, limit: 3, after: first.next ?? '' });
    expect([...first.tools, ...rest.tools]).toEqual(diff.tools);
    expect(await operator.client.diff('compared', { ...range, to: from.generation })).toMatchObject({
      tools: [],
      next: null,
    });
  });

  test('V6 a slice ends where its tools are large, and the next one goes on; only what differs is shown', async () => {
    const generation = await serverOf('large');
    const names = Array.from({ length: 9 }, (_, n) => `t${n}`);
    const long = 'x'.repeat(200_000);
    const worded = (end: string) => names.map((name) => tool(name, { description: `${long}${end}` }));
    const from = await generation(1, worded('one'));
    const to = await generation(2, worded('two'));
    const range = { audience: AUDIENCE, from: from.generation, to: to.generation, limit: 500 };
    const slices: string[][] = [];
    for (let after: string | null = ''; after !== null; ) {
      const slice: GenerationsDiff = await operator.client.diff('large', { ...range, after });
      slices.push(slice.tools.map(({ name }) => name));
      expect(slice.tools[0]?.members).toEqual([
        {
          pointer: '/description',
          class: 'text',
          before: `…${'x'.repeat(80)}one"`,
          after: `…${'x'.repeat(80)}two"`,
          offset: 200_001,
        },
      ]);
      after = slice.next;
    }
    // Two megabytes are four tools with both of their texts.
    expect(slices.map(({ length }) => length)).toEqual([4, 4, 1]);
    expect(slices.flat()).toEqual(names);
  });

  test('V6 S4 a tenant that asks for many at once is told to back off; each that was let in is answered', async () => {
    const generation = await serverOf('busy');
    const { generation: one } = await generation(1, [tool('count')]);
    let asked: Promise<unknown>[] = [];
    const admin = new pg.Client({ connectionString: api.adminUrl });
    await admin.connect();
    try {
      // No diff comes to its end before the lock goes.
      await admin.query('begin; lock table genlock.generation in access exclusive mode');
      let refused = 0;
      const twoRefused = new Promise<void>((resolve) => {
        const ask = () => operator.client.diff('busy', { audience: AUDIENCE, from: one, to: one });
        asked = Array.from({ length: 6 }, () =>
          ask().catch((reason: unknown) => {
            refused += 1;
            if (refused === 2) resolve();
            return reason;
          }),
        );
      });
      await twoRefused;
      await admin.query('commit');
    } finally {
      await admin.end();
    }
    const answers = await Promise.all(asked);
    const problems = answers.filter((answer) => answer instanceof GenlockProblem);
    expect(problems.map(({ code, reason, retry }) => [code, reason, retry])).toEqual([
      ['OVERLOADED', 'REVIEW_READS', true],
      ['OVERLOADED', 'REVIEW_READS', true],
    ]);
    expect(answers.filter((answer) => !(answer instanceof Error))).toHaveLength(4);
  });

  test('V6 a generation that was never promoted, another audience or server is not there', async () => {
    const generation = await serverOf('lonely');
    await generation(1, [tool('count')]);
    for (const [server, audience, to] of [
      ['lonely', AUDIENCE, 2],
      ['lonely', 'viewer.policy-1', 1],
      ['nowhere', AUDIENCE, 1],
    ] as const)
      expect(await refusal(operator.client.diff(server, { audience, from: 1, to }))).toMatchObject({
        status: 404,
        reason: 'NO_SUCH_GENERATION',
      });
  });
});
