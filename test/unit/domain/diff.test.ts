/** V6: the diff of two generations, by tool and class. */
import { describe, expect, test } from 'vitest';
import { diffTools, likelyRenames, type ToolDigests } from '../../../src/domain/diff.js';
import type { JsonObject } from '../../../src/domain/json.js';
import { sha256Bytes } from '../../../src/proof/digest.js';

const tool = (name: string, more: Partial<Record<keyof ToolDigests, string>> = {}): ToolDigests => {
  const parts = { contract: 'c', hints: 'h', text: 't', ...more };
  return {
    name,
    id: `shop.${name}@1`,
    descriptor: sha256Bytes(JSON.stringify([name, parts])),
    contract: sha256Bytes(parts.contract),
    hints: sha256Bytes(parts.hints),
    text: sha256Bytes(parts.text),
    ...(more.id !== undefined && { id: more.id }),
  };
};
const changes = (before: readonly ToolDigests[], after: readonly ToolDigests[]) =>
  diffTools(before, after).map((diff) => [
    diff.kind,
    diff.name,
    ...(diff.kind === 'changed' ? diff.classes : []),
  ]);

describe('V6 tools', () => {
  test('V6 each class that differs is named, in order of weight', () => {
    const was = ['a', 'b', 'c', 'd', 'same'].map((name) => tool(name));
    const is = [
      tool('d', { contract: 'c2', hints: 'h2', text: 't2' }),
      tool('c', { text: 't2', hints: 'h2' }),
      tool('b', { hints: 'h2' }),
      tool('a', { text: 't2' }),
      tool('same'),
    ];
    expect(changes(was, is)).toEqual([
      ['changed', 'a', 'text'],
      ['changed', 'b', 'hints'],
      ['changed', 'c', 'hints', 'text'],
      ['changed', 'd', 'contract', 'hints', 'text'],
    ]);
  });

  test('V6 S5 the order of a list has no meaning', () => {
    const list = ['a', 'b', 'c'].map((name) => tool(name));
    expect(diffTools(list, [...list].reverse())).toEqual([]);
  });

  test('V6 S2 another id is another contract, even with the same content', () => {
    expect(changes([tool('a')], [tool('a', { id: 'shop.a@3' })])).toEqual([['changed', 'a', 'contract']]);
  });

  test('V6 added and removed tools stand at their names, whatever these are', () => {
    expect(changes([tool('b'), tool('x')], [tool('__proto__'), tool('b')])).toEqual([
      ['added', '__proto__'],
      ['removed', 'x'],
    ]);
  });
});

const object = (name: string, more: JsonObject = {}): { id: string; tool: JsonObject } => ({
  id: `shop.${name}@1`,
  tool: { name, description: `Does ${name}`, inputSchema: { type: 'object', required: ['sku'] }, ...more },
});

describe('V6 likely renames', () => {
  test('V6 a contract that has only another name is told, whatever its words and order of members', () => {
    const renamed = object('remove', { inputSchema: { required: ['sku'], type: 'object' } });
    expect([...likelyRenames([object('delete')], [renamed])]).toEqual([['shop.remove@1', 'shop.delete@1']]);
  });

  test('V6 another contract is no rename, in any member that is not text or hint', () => {
    for (const more of [{ inputSchema: { type: 'object' } }, { _meta: { a: 1 } }, { outputSchema: {} }])
      expect(likelyRenames([object('delete')], [object('remove', more)]).size).toBe(0);
  });

  test('V6 of several that fit, words decide; where they do not, nothing is said', () => {
    const words = (name: string, description: string) => object(name, { description });
    const removed = [words('a', 'one'), words('b', 'two'), words('c', 'three')];
    const added = [words('x', 'two'), words('y', 'other'), words('z', 'another')];
    expect([...likelyRenames(removed, added)]).toEqual([['shop.x@1', 'shop.b@1']]);
  });
});
