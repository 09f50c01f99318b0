/** V4: what a schema can make long happens in a thread that can be ended, while the event loop goes on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { durationMs } from '../../../src/domain/ids.js';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import type { JudgeTask, SchemaTask } from '../../../src/validation/argumentThread.js';
import type { ArgumentThreads } from '../../../src/validation/argumentThreads.js';
import { startThreads } from '../../support/argumentThreads.js';

let threads: ArgumentThreads;
beforeAll(async () => {
  // A loaded machine may need many times as long to compile; what is long here has the deadline of one check.
  threads = await startThreads({ deadline: durationMs(120_000) });
}, 60_000);
afterAll(() => threads.close());

const taskOf = (inputSchema: JsonValue): SchemaTask => {
  const tool = JSON.stringify({ name: 'reserve', inputSchema });
  return { key: tool, tool, part: 'inputSchema', dialect: '2020-12' };
};
const judgeOf = (inputSchema: JsonValue, args: JsonValue): JudgeTask => ({ ...taskOf(inputSchema), args });

/** Each level is checked by several branches, each of which checks the next level by several. */
const branch = (): JsonObject => ({
  type: 'object',
  properties: { x: { $ref: '#/$defs/n' } },
  required: ['x', 'y'],
});
const doubling: JsonObject = {
  type: 'object',
  properties: { r: { $ref: '#/$defs/n' } },
  $defs: { n: { anyOf: [branch(), branch(), branch(), branch(), { const: 1 }] } },
};
const slowArguments = (): JsonValue => {
  let value: JsonValue = 2;
  for (let level = 0; level < 28; level++) value = { x: value, y: 0 };
  return { r: value };
};

/** Objects that lead to one another in a ring, two subschemas each. */
const ring = (length: number): JsonObject => ({
  type: 'object',
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length }, (_, i) => [
      `d${i}`,
      { type: 'object', properties: { a: { $ref: `#/$defs/d${(i + 1) % length}` } } },
    ]),
  ),
});

describe('a check that takes too long', () => {
  it('V4 ends at its deadline, the event loop goes on, and the next one is answered', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const verdict = await threads.judge('acme', judgeOf(doubling, slowArguments()));
    clearInterval(timer);
    expect(verdict).toMatchObject({
      ok: false,
      reason: 'VALIDATION_DEADLINE',
      errors: [{ keyword: 'deadline' }],
    });
    expect(turns).toBeGreaterThan(0);
    expect(await threads.judge('acme', judgeOf(doubling, { r: 1 }))).toEqual({ ok: true });
    expect(await threads.judge('acme', judgeOf(doubling, { r: 2 }))).toMatchObject({
      reason: 'SCHEMA_MISMATCH',
    });
  });

  it('S4 holds up the calls of its own tenant, not those of another', async () => {
    const single = await startThreads({ threads: 1 });
    let settled = 0;
    const slow = Array.from({ length: 5 }, async () => {
      await single.judge('acme', judgeOf(doubling, slowArguments()));
      settled += 1;
    });
    expect(await single.judge('globex', judgeOf(doubling, { r: 1 }))).toEqual({ ok: true });
    // One was before it; with one thread, the next of the same tenant waits behind it.
    expect(settled).toBe(1);
    await Promise.all(slow);
    await single.close();
  });

  it('S4 a tenant whose calls pile up is told so', async () => {
    const calls = Array.from({ length: 201 }, () => threads.prepare('acme', taskOf({ type: 'object' })));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.slice(0, 200).every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(outcomes[200]).toMatchObject({ reason: { code: 'OVERLOADED', reason: 'VALIDATION_QUEUE' } });
    expect(await threads.prepare('acme', taskOf({ type: 'object' }))).toMatchObject({
      bound: { paths: 1 },
    });
  });
});

describe('a thread that is ended', () => {
  const heavy = judgeOf(ring(1_200), {});
  const stopped = { ok: false, reason: 'VALIDATION_DEADLINE' };

  it('V4 for its time refuses that call', async () => {
    const bounded = await startThreads({ threads: 1, deadline: durationMs(1) });
    expect(await bounded.judge('acme', heavy)).toMatchObject(stopped);
    expect(await bounded.prepare('acme', heavy)).toBe('stopped');
    await bounded.close();
  });

  it('V4 for its memory refuses that call and is replaced', async () => {
    const bounded = await startThreads({ threads: 1, heap: 16 });
    expect(await bounded.judge('acme', heavy)).toMatchObject(stopped);
    expect(await bounded.judge('acme', judgeOf({ type: 'object' }, {}))).toEqual({ ok: true });
    await bounded.close();
  });
});

describe('schemas', () => {
  it.each<[string, JsonObject]>([
    ['a reference chain', ring(1_249)],
    ['branches', { type: 'object', oneOf: Array.from({ length: 332 }, (_, i) => ({ required: [`b${i}`] })) }],
    [
      'properties',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 997 }, (_, i) => [`p${i}`, { type: 'string' }])),
        unevaluatedProperties: false,
      },
    ],
  ])(
    'V4 as large as %s may be, they pass, compile and answer',
    async (_, schema) => {
      expect(await threads.prepare('acme', taskOf(schema))).toMatchObject({ form: null });
      expect(await threads.judge('acme', judgeOf(schema, { a: 1, p1: 1 }))).toMatchObject({
        reason: 'SCHEMA_MISMATCH',
      });
    },
    120_000,
  );

  it('V4 what is refused is refused here too, before anything is compiled', async () => {
    const allOf = (level: number): JsonObject =>
      level === 0 ? { type: 'object' } : { allOf: [allOf(level - 1), allOf(level - 1)] };
    const defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `d${i}`,
        i === 0
          ? { type: 'object' }
          : { allOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] },
      ]),
    );
    const refused = [
      allOf(12),
      { $ref: '#/$defs/d29', $defs: defs },
      ring(1_300),
      { $ref: 'https://example.org/elsewhere' },
    ];
    for (const schema of refused) {
      expect(await threads.prepare('acme', taskOf(schema))).toBe('refused');
      expect(await threads.judge('acme', judgeOf(schema, {}))).toBe('refused');
    }
  });

  it('V2 two schemas with one $id do not meet in a thread, whatever came between', async () => {
    const one = { $id: 'https://example.org/s', type: 'object', required: ['a'] };
    const two = { $id: 'https://example.org/s', type: 'object', required: ['b'] };
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await threads.judge('acme', judgeOf(one, { a: 1 }))).toEqual({ ok: true });
      expect(await threads.judge('acme', judgeOf(two, { a: 1 }))).toMatchObject({ ok: false });
    }
  });
});
