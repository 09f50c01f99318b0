import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CatalogError } from '../../../src/domain/errors.js';
import { parseDigest, parseTenantId, parseToolId } from '../../../src/domain/ids.js';
import type { JsonValue } from '../../../src/domain/json.js';
import type { Classification } from '../../../src/policy/port.js';
import { digestJson } from '../../../src/proof/digest.js';
import type { ActiveTool } from '../../../src/store/admissionStore.js';
import { type ArgumentCheck, createArgumentCheck } from '../../../src/usecases/checkArguments.js';
import type { ArgumentThreads } from '../../../src/validation/argumentThreads.js';
import { startThreads } from '../../support/argumentThreads.js';

const acme = parseTenantId('acme');
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const toolOf = (inputSchema: JsonValue, dialect: string | null = DIALECT): ActiveTool => ({
  id: parseToolId('inventory.reserve@1'),
  name: 'reserve',
  descriptor: parseDigest(`sha256:${'a'.repeat(64)}`),
  input: dialect === null ? null : { digest: digestJson(inputSchema), dialect, vocabularies: [] },
  output: null,
  effectClass: 'RESERVATION',
  verdict: { status: 'OK', findings: [] },
  review: null,
  source: JSON.stringify({ name: 'reserve', inputSchema }),
});
const classification: Classification = {
  effectClass: 'RESERVATION',
  resourceTemplate: 'stock/{/sku}',
  resourceOf: (args) => {
    const { sku } = args as { sku?: string };
    if (sku === undefined)
      throw new CatalogError('PARAMS_INVALID', 'RESOURCE_UNRESOLVED', { pointer: '/sku' });
    return `stock/${sku}`;
  },
  shortDescription: null,
};
const schema = { type: 'object', properties: { sku: { type: 'string' }, n: { type: 'integer' } } };
let threads: ArgumentThreads;
let check: ArgumentCheck;
beforeAll(async () => {
  threads = await startThreads({ threads: 1 });
  check = createArgumentCheck(threads);
}, 60_000);
afterAll(() => threads.close());

const outcome = async (
  value: JsonValue,
  tool = toolOf(schema),
  known: Classification | null = classification,
) => {
  const result = await check(acme, tool, { value, inexact: [] }, known);
  return result.ok ? result.resource : `${result.refusal.code}/${result.refusal.reason}`;
};

describe('A1 arguments against the frozen schema', () => {
  test('the resource comes from arguments that the schema accepts', async () => {
    expect(await outcome({ sku: 'A1' })).toBe('stock/A1');
  });

  test.each<[string, JsonValue]>([
    ['PARAMS_INVALID/NOT_AN_OBJECT', null],
    ['PARAMS_INVALID/NOT_AN_OBJECT', [{ sku: 'A1' }]],
    ['PARAMS_INVALID/NOT_AN_OBJECT', 'sku'],
    ['PARAMS_INVALID/SCHEMA_MISMATCH', { sku: 1 }],
    ['PARAMS_INVALID/SCHEMA_MISMATCH', { sku: 'A1', n: 1.5 }],
    ['PARAMS_INVALID/RESOURCE_UNRESOLVED', { n: 1 }],
    ['PARAMS_INVALID/TOO_COSTLY', { sku: 'x'.repeat(300_000) }],
  ])('%s', async (expected, value) => {
    expect(await outcome(value)).toBe(expected);
  });

  test('V7 a number that would be rounded is refused with its place', async () => {
    const result = await check(
      acme,
      toolOf(schema),
      {
        value: { sku: 'A1', n: 9_007_199_254_740_992 },
        inexact: [{ pointer: '/n', text: '9007199254740993' }],
      },
      classification,
    );
    expect(result).toMatchObject({
      ok: false,
      refusal: { reason: 'UNSAFE_NUMBER', details: { errors: [{ pointer: '/n' }] } },
    });
  });

  test('two schemas of two tools, and one schema under two tenants, do not meet', async () => {
    const strict = toolOf({ type: 'object', required: ['never'] });
    expect(await outcome({ sku: 'A1' }, strict)).toBe('PARAMS_INVALID/SCHEMA_MISMATCH');
    expect(await outcome({ sku: 'A1' })).toBe('stock/A1');
  });

  test.each<[string, ActiveTool]>([
    ['has no checked schema', toolOf(schema, null)],
    ['has a dialect that is not known today', toolOf(schema, 'https://example.org/dialect')],
    ['has a schema that today is refused', toolOf({ type: 'object', $ref: 'https://example.org/x' })],
  ])('A6 a tool that %s is not run', async (_, tool) => {
    expect(await outcome({ sku: 'A1' }, tool)).toBe('TOOL_QUARANTINED/CONTRACT_CHECK_FAILED');
  });

  test('without a classification there is no resource', async () => {
    expect(await outcome({ sku: 'A1' }, toolOf(schema), null)).toBe('POLICY_DENIED/UNCLASSIFIED_EFFECT');
  });
});

describe('V4 where a check runs', () => {
  const tree = {
    type: 'object',
    properties: { sku: { type: 'string' }, kids: { type: 'array', items: { $ref: '#' } } },
  };
  const pattern = { type: 'object', properties: { sku: { type: 'string', pattern: '^[a-z]+(-[a-z]+)*$' } } };

  test('what is proven short needs no thread once its schema is known; all else does', async () => {
    const own = await startThreads({ threads: 1 });
    check = createArgumentCheck(own);
    try {
      const long = { sku: `${'a'.repeat(20_000)}!` };
      const all = [toolOf(schema), toolOf(tree), toolOf(pattern)];
      for (const tool of all) expect(await outcome({ sku: 'a' }, tool)).toBe('stock/a');
      expect(await outcome(long, toolOf(pattern))).toBe('PARAMS_INVALID/SCHEMA_MISMATCH');
      await own.close();
      expect(await outcome({ sku: 'a' }, toolOf(schema))).toBe('stock/a');
      expect(await outcome({ sku: 'a' }, toolOf(pattern))).toBe('stock/a');
      expect(await outcome(long, toolOf(pattern))).toBe('PARAMS_INVALID/VALIDATION_DEADLINE');
      expect(await outcome({ sku: 'a' }, toolOf(tree))).toBe('PARAMS_INVALID/VALIDATION_DEADLINE');
    } finally {
      check = createArgumentCheck(threads);
    }
  });

  test('the same verdict at every attempt', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await outcome({ sku: 'A', kids: [{ sku: 1 }] }, toolOf(tree))).toBe(
        'PARAMS_INVALID/SCHEMA_MISMATCH',
      );
      expect(await outcome({ sku: 'A', kids: [{ sku: 'B' }] }, toolOf(tree))).toBe('stock/A');
    }
  });

  test('16,000 items that have to be unique are refused', async () => {
    const unique = toolOf({ type: 'object', properties: { list: { type: 'array', uniqueItems: true } } });
    const list = Array.from({ length: 16_000 }, () => ({}));
    expect(await outcome({ sku: 'A', list }, unique)).toBe('PARAMS_INVALID/TOO_COSTLY');
  });

  test('arguments of 20,000 levels are refused before anything walks them', async () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 20_000; level++) deep = { kids: [deep] };
    expect(await outcome(deep, toolOf(tree))).toBe('PARAMS_INVALID/TOO_COSTLY');
  });
});
