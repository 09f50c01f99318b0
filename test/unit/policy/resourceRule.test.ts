import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileResourceRule } from '../../../src/policy/resourceRule.js';

const rule = compileResourceRule('inventory/{/warehouse}/{/sku}');
const unresolved = { code: 'PARAMS_INVALID', reason: 'RESOURCE_UNRESOLVED' };

describe('resource rule', () => {
  it('L1 fills the template from the arguments', () => {
    expect(rule.resolve({ warehouse: 'north', sku: 17, other: true })).toBe('inventory/north/17');
  });

  it('L1 follows pointers into nested values', () => {
    const nested = compileResourceRule('order/{/lines/0/sku}/{/a~1b}');
    expect(nested.resolve({ lines: [{ sku: 'x' }], 'a/b': false })).toBe('order/x/false');
  });

  it.each([
    ['a/b', 'a%2Fb'],
    ['..', '%2E%2E'],
    ['*', '%2A'],
    ['%2F', '%252F'],
    ['ü', '%C3%BC'],
  ])('L1 %s is encoded as %s, so that it stays one segment', (warehouse, encoded) => {
    expect(rule.resolve({ warehouse, sku: 's' })).toBe(`inventory/${encoded}/s`);
  });

  it('L1 two different pairs of arguments never give one resource', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '/', '.', '%', '2', 'F', '*', ' ', 'ü'),
      minLength: 1,
    });
    fc.assert(
      fc.property(text, text, text, text, (a, b, c, d) => {
        const same = rule.resolve({ warehouse: a, sku: b }) === rule.resolve({ warehouse: c, sku: d });
        expect(same).toBe(a === c && b === d);
      }),
    );
  });

  it.each([
    ['missing', { warehouse: 'n' }],
    ['null', { warehouse: 'n', sku: null }],
    ['an object', { warehouse: 'n', sku: {} }],
    ['an array', { warehouse: 'n', sku: ['x'] }],
    ['empty', { warehouse: 'n', sku: '' }],
    ['a lone surrogate', { warehouse: 'n', sku: '\ud800' }],
    ['far too long', { warehouse: 'n', sku: 'x'.repeat(2000) }],
  ])('L1 an argument that is %s refuses the call', (_, args) => {
    expect(() => rule.resolve(args)).toThrow(expect.objectContaining(unresolved));
  });

  it('V7 an inherited member is not an argument', () => {
    const inherited = compileResourceRule('x/{/constructor}');
    expect(() => inherited.resolve({})).toThrow(expect.objectContaining(unresolved));
  });

  it.each([
    '',
    '{/a}',
    '/x/{/a}',
    'x/{/a}{/b}',
    'x{/a}',
    'x/{/a}y',
    'x/{a}',
    'x/{}',
    'x/{/a',
    'x/a}',
    'x/*',
    'x/{/~2}',
    'x y',
  ])('the template %j is refused', (template) => {
    expect(() => compileResourceRule(template)).toThrow(TypeError);
  });

  it('a bare * is any resource', () => {
    expect(compileResourceRule('*').resolve({})).toBe('*');
  });
});
