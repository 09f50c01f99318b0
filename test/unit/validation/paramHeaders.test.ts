/** MCP 2026-07-28: which arguments a tool may name as HTTP headers. */
import { expect, it } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.js';
import { checkDescriptor, DEFAULT_CONTRACT_POLICY } from '../../../src/validation/checkDescriptor.js';

const check = (inputSchema: JsonValue, paramHeaders: 'sent' | 'ignored' = 'sent') =>
  checkDescriptor({ name: 'query', inputSchema }, { ...DEFAULT_CONTRACT_POLICY, paramHeaders });
const region = (more: JsonValue & object = {}) => ({ type: 'string', 'x-mcp-header': 'Region', ...more });
const withArgument = (argument: JsonValue) => ({ type: 'object', properties: { a: argument } });

it.each<[string, JsonValue]>([
  ['a text', withArgument(region())],
  ['an integer', withArgument({ type: 'integer', 'x-mcp-header': 'Shard-7' })],
  ['a boolean', withArgument({ type: 'boolean', 'x-mcp-header': '!~' })],
  ['an argument of an argument', withArgument({ type: 'object', properties: { b: region() } })],
  [
    'a property of that name',
    withArgument({ type: 'object', properties: { 'x-mcp-header': { type: 'object' } } }),
  ],
  ['data of that name', withArgument({ default: { 'x-mcp-header': 7 } })],
])('%s can be a header', (_, schema) => {
  expect(check(schema).findings).toEqual([]);
});

it.each<[string, JsonValue, string]>([
  ['an empty name', withArgument(region({ 'x-mcp-header': '' })), '/properties/a'],
  ['a name with a space', withArgument(region({ 'x-mcp-header': 'My Region' })), '/properties/a'],
  ['a name with a colon', withArgument(region({ 'x-mcp-header': 'Region:x' })), '/properties/a'],
  ['a name that ends a line', withArgument(region({ 'x-mcp-header': 'R\r\nEvil: 1' })), '/properties/a'],
  ['a name that is none', withArgument(region({ 'x-mcp-header': true })), '/properties/a'],
  ['a number', withArgument(region({ type: 'number' })), '/properties/a'],
  ['an object', withArgument(region({ type: 'object' })), '/properties/a'],
  ['an argument that may be null', withArgument(region({ type: ['string', 'null'] })), '/properties/a'],
  ['an argument without a type', withArgument({ 'x-mcp-header': 'Region' }), '/properties/a'],
  ['an item', withArgument({ type: 'array', items: region() }), '/properties/a/items'],
  ['a branch', { type: 'object', anyOf: [withArgument(region())] }, '/anyOf/0/properties/a'],
  [
    'a definition that an argument refers to',
    { ...withArgument({ $ref: '#/$defs/r' }), $defs: { r: region() } },
    '/$defs/r',
  ],
  ['the arguments as a whole', { type: 'object', 'x-mcp-header': 'All' }, ''],
  [
    'two arguments with one name, in whatever case',
    { type: 'object', properties: { a: region(), b: region({ 'x-mcp-header': 'REGION' }) } },
    '/properties/b',
  ],
])(
  '%s cannot: where headers are sent the tool is quarantined, before that it is told of',
  (_, schema, at) => {
    const pointer = `/inputSchema${at}/x-mcp-header`;
    expect(check(schema)).toMatchObject({
      status: 'QUARANTINED',
      findings: [{ code: 'HEADER_INVALID', severity: 'fault', pointer }],
    });
    expect(check(schema, 'ignored')).toMatchObject({
      status: 'OK',
      findings: [{ code: 'HEADER_IGNORED', severity: 'lint', pointer }],
    });
  },
);

it('an output schema names no headers', () => {
  const outputSchema = withArgument(region({ 'x-mcp-header': 'not one' }));
  expect(
    checkDescriptor(
      { name: 'query', inputSchema: { type: 'object' }, outputSchema },
      { ...DEFAULT_CONTRACT_POLICY, paramHeaders: 'sent' },
    ).findings,
  ).toEqual([]);
});
