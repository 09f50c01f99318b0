/** V1–V7: a verdict is a function of what a tool says, not of the order in which its members stand. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/domain/json.js';
import { digestJson } from '../../../src/proof/digest.js';
import { checkDescriptor, DEFAULT_CONTRACT_POLICY } from '../../../src/validation/checkDescriptor.js';

const POLICY = {
  ...DEFAULT_CONTRACT_POLICY,
  limits: { ...DEFAULT_CONTRACT_POLICY.limits, nodes: 120, depth: 8 },
};

/** The same value with the members of each object in an order that `random` draws. */
const shuffled = (value: JsonValue, random: () => number): JsonValue => {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((one) => shuffled(one, random));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, inner]) => [random(), name, shuffled(inner, random)] as const,
  );
  return Object.fromEntries(members.sort(([a], [b]) => a - b).map(([, name, inner]) => [name, inner]));
};

const many = (count: number, member: (n: number) => JsonValue): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${(n * 7) % count}`, member(n)]));
const tool = (inputSchema: JsonValue, more: JsonObject = {}): JsonObject => ({
  name: 't',
  inputSchema,
  ...more,
});

/** Each has more findings than a report keeps, or several that a walk could meet in either order. */
const TOOLS: ReadonlyArray<readonly [string, JsonValue]> = [
  [
    'more faults than are kept',
    tool({ type: 'object', properties: many(40, () => ({ $ref: '#/nowhere' })) }),
  ],
  ['more lints than are kept', tool({ type: 'object', properties: many(40, () => ({ type: 'array' })) })],
  [
    'hidden text in many places',
    tool(
      { type: 'object' },
      many(40, (n) => `a\u200b${n}`),
    ),
  ],
  [
    'several meta-schema faults',
    tool({ type: 'strng', properties: { a: { type: 1 }, b: { required: 'x' } } }),
  ],
  [
    'several loops',
    tool({
      type: 'object',
      properties: { x: { $ref: '#/$defs/A' }, y: { $ref: '#/$defs/B' } },
      $defs: { A: { allOf: [{ $ref: '#/$defs/B' }] }, B: { allOf: [{ $ref: '#/$defs/A' }] } },
    }),
  ],
  ['formats', tool({ type: 'object', properties: many(20, (n) => ({ format: `f${n}` })) })],
  ['headers', tool({ type: 'object', properties: many(9, () => ({ type: 'string', 'x-mcp-header': 'H' })) })],
  [
    'too deep and too large at once',
    tool({ type: 'object' }, { a: many(100, (n) => n), b: [[[[[[[[[1]]]]]]]]] }),
  ],
  [
    'one $id twice',
    tool({ type: 'object', $defs: { a: { $id: 'x' }, b: { $id: 'x' }, c: { $anchor: 'q' } } }),
  ],
];

it.each(TOOLS)('V2 shuffled members give the same verdict and findings: %s', (_, value) => {
  const verdict = checkDescriptor(value, POLICY);
  expect(verdict.findings.length).toBeGreaterThan(0);
  fc.assert(
    fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (draws) => {
      const other = shuffled(value, () => draws.next().value as number);
      expect(digestJson(other)).toBe(digestJson(value));
      expect(checkDescriptor(other, POLICY)).toEqual(verdict);
    }),
    { numRuns: 25 },
  );
});

it('V7 a finding far down very long member names points no further than is readable', () => {
  const name = 'n'.repeat(2_000);
  const [finding] = checkDescriptor(tool({ type: 'object' }, { [name]: { [name]: 'a\u200bb' } })).findings;
  expect(finding?.code).toBe('HIDDEN_TEXT');
  expect(finding?.pointer.length).toBeLessThan(600);
});
