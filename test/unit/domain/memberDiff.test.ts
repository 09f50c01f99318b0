/** V6: the members of one tool that changed. */
import { expect, test } from 'vitest';
import { diffMembers } from '../../../src/domain/memberDiff.js';
import { read } from '../proof/sampleSnapshot.js';

const changes = (before: string, after: string) =>
  diffMembers(read(before), read(after)).map((change) => [
    change.class,
    change.pointer,
    change.before,
    change.after,
  ]);

test('V6 the deepest member that differs is named, under the class of its place in the tool', () => {
  const was = {
    name: 'reserve',
    description: 'Reserves.',
    annotations: { readOnlyHint: true, title: 'R' },
    inputSchema: { type: 'object', properties: { sku: { type: 'string', description: 'a' } } },
  };
  const is = {
    name: 'reserve',
    description: 'Reserves stock.',
    annotations: { readOnlyHint: false },
    inputSchema: { type: 'object', properties: { sku: { type: 'string', description: 'b' } } },
  };
  expect(changes(JSON.stringify(was), JSON.stringify(is))).toEqual([
    ['hints', '/annotations/readOnlyHint', true, false],
    ['hints', '/annotations/title', 'R', undefined],
    ['text', '/description', 'Reserves.', 'Reserves stock.'],
    ['contract', '/inputSchema/properties/sku/description', 'a', 'b'],
  ]);
});

test('V6 lists of one length item by item, others as a whole; another type as a whole', () => {
  expect(changes('{"_meta":{"a":[1,2],"b":[1],"c":{}}}', '{"_meta":{"a":[1,3],"b":[1,2],"c":null}}')).toEqual(
    [
      ['contract', '/_meta/a/1', 2, 3],
      ['contract', '/_meta/b', [1], [1, 2]],
      ['contract', '/_meta/c', {}, null],
    ],
  );
});

test('V6 V7 absent, null and empty differ, and no name of a prototype is found', () => {
  expect(changes('{"title":null}', '{}')).toEqual([['text', '/title', null, undefined]]);
  expect(changes('{"icons":[]}', '{}')).toEqual([['text', '/icons', [], undefined]]);
  expect(changes('{"_meta":{}}', '{"_meta":{"__proto__":1,"constructor":2,"a/b~c":3}}')).toEqual([
    ['contract', '/_meta/__proto__', undefined, 1],
    ['contract', '/_meta/a~1b~0c', undefined, 3],
    ['contract', '/_meta/constructor', undefined, 2],
  ]);
});

test('V6 S5 the order of members has no meaning', () => {
  expect(changes('{"name":"a","_meta":{"x":1,"y":2}}', '{"_meta":{"y":2,"x":1},"name":"a"}')).toEqual([]);
});

test('V6 a member in which too much differs, or at too long pointers, is told as a whole, and hides no other', () => {
  const many = (value: number) => Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, value]));
  const deep = (value: number) => ({ ['x'.repeat(100)]: Array.from({ length: 50 }, () => value) });
  const tool = (value: number) =>
    JSON.stringify({ annotations: many(value), _meta: deep(value), description: `d${value}` });
  expect(changes(tool(1), tool(2))).toEqual([
    ['contract', '/_meta', deep(1), deep(2)],
    ['hints', '/annotations', many(1), many(2)],
    ['text', '/description', 'd1', 'd2'],
  ]);
});
