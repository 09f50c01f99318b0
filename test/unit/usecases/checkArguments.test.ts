import { describe, expect, test } from 'vitest';
import { CatalogError } from '../../../src/domain/errors.js';
import { parseDigest, parseTenantId, parseToolId } from '../../../src/domain/ids.js';
import type { JsonValue } from '../../../src/domain/json.js';
import type { Classification } from '../../../src/policy/port.js';
import { digestJson } from '../../../src/proof/digest.js';
import type { ActiveTool } from '../../../src/store/admissionStore.js';
import { createArgumentCheck } from '../../../src/usecases/checkArguments.js';

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
const check = createArgumentCheck();
const outcome = (value: JsonValue, tool = toolOf(schema), known: Classification | null = classification) => {
  const result = check(acme, tool, { value, inexact: [] }, known);
  return result.ok ? result.resource : `${result.refusal.code}/${result.refusal.reason}`;
};

describe('A1 arguments against the frozen schema', () => {
  test('the resource comes from arguments that the schema accepts', () => {
    expect(outcome({ sku: 'A1' })).toBe('stock/A1');
  });

  test.each<[string, JsonValue]>([
    ['PARAMS_INVALID/NOT_AN_OBJECT', null],
    ['PARAMS_INVALID/NOT_AN_OBJECT', [{ sku: 'A1' }]],
    ['PARAMS_INVALID/NOT_AN_OBJECT', 'sku'],
    ['PARAMS_INVALID/SCHEMA_MISMATCH', { sku: 1 }],
    ['PARAMS_INVALID/SCHEMA_MISMATCH', { sku: 'A1', n: 1.5 }],
    ['PARAMS_INVALID/RESOURCE_UNRESOLVED', { n: 1 }],
    ['PARAMS_INVALID/TOO_COSTLY', { sku: 'x'.repeat(300_000) }],
  ])('%s', (expected, value) => {
    expect(outcome(value)).toBe(expected);
  });

  test('V7 a number that would be rounded is refused with its place', () => {
    const result = check(
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

  test('two schemas of two tools, and one schema under two tenants, do not meet', () => {
    const strict = toolOf({ type: 'object', required: ['never'] });
    expect(outcome({ sku: 'A1' }, strict)).toBe('PARAMS_INVALID/SCHEMA_MISMATCH');
    expect(outcome({ sku: 'A1' })).toBe('stock/A1');
  });

  test.each<[string, ActiveTool]>([
    ['has no checked schema', toolOf(schema, null)],
    ['has a dialect that is not known today', toolOf(schema, 'https://example.org/dialect')],
    ['has a schema that today is refused', toolOf({ type: 'object', $ref: 'https://example.org/x' })],
  ])('A6 a tool that %s is not run', (_, tool) => {
    expect(outcome({ sku: 'A1' }, tool)).toBe('TOOL_QUARANTINED/CONTRACT_CHECK_FAILED');
  });

  test('without a classification there is no resource', () => {
    expect(outcome({ sku: 'A1' }, toolOf(schema), null)).toBe('POLICY_DENIED/UNCLASSIFIED_EFFECT');
  });
});
