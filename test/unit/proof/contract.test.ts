import { describe, expect, test } from 'vitest';
import { contractDigest, hintsDigest, textDigest } from '../../../src/proof/contract.js';
import { digestJson } from '../../../src/proof/digest.js';
import { read } from './sampleSnapshot.js';

const DIALECT = {
  dialect: 'https://json-schema.org/draft/2020-12/schema',
  vocabularies: ['core', 'validation'],
};
const DIALECTS = { input: DIALECT, output: null };
const BASE = {
  name: 'reserve',
  title: 'Reserve',
  description: 'Reserves stock.',
  icons: [{ src: 'data:,' }],
  annotations: { readOnlyHint: false },
  inputSchema: { type: 'object', properties: { amount: { description: 'pieces' } } },
};

const digestsOf = (tool: object, dialects = DIALECTS) => {
  const object = read(JSON.stringify(tool));
  return {
    contract: contractDigest(object, dialects),
    hints: hintsDigest(object),
    text: textDigest(object),
    descriptor: digestJson(object),
  };
};

describe('S2, V6 what a change touches', () => {
  test.each([
    ['name', { name: 'reserve2' }, 'contract'],
    ['a description inside the input schema', { inputSchema: { type: 'object' } }, 'contract'],
    ['an output schema', { outputSchema: { type: 'object' } }, 'contract'],
    ['an unknown member', { 'x-cost': 1 }, 'contract'],
    ['_meta', { _meta: { a: 1 } }, 'contract'],
    ['execution', { execution: { taskSupport: 'required' } }, 'contract'],
    ['annotations', { annotations: { readOnlyHint: true } }, 'hints'],
    ['the title inside annotations', { annotations: { readOnlyHint: false, title: 'x' } }, 'hints'],
    ['title', { title: 'Reserve!' }, 'text'],
    ['description', { description: 'Reserves stock. ' }, 'text'],
    ['icons', { icons: [] }, 'text'],
  ])('%s', (_what, change, touched) => {
    const before = digestsOf(BASE);
    const after = digestsOf({ ...BASE, ...change });
    const changed = (['contract', 'hints', 'text'] as const).filter((part) => before[part] !== after[part]);
    expect(changed).toEqual([touched]);
    expect(after.descriptor).not.toBe(before.descriptor);
  });

  test('an unknown member called __proto__ is part of the contract', () => {
    const text = JSON.stringify(BASE);
    const bent = read(`${text.slice(0, -1)},"__proto__":{"a":1}}`);
    expect(contractDigest(bent, DIALECTS)).not.toBe(contractDigest(read(text), DIALECTS));
  });

  test('the dialect that was resolved is part of the contract, also where $schema is absent', () => {
    const before = digestsOf(BASE);
    const draft7 = { dialect: 'http://json-schema.org/draft-07/schema#', vocabularies: [] };
    const after = digestsOf(BASE, { input: draft7, output: null } as typeof DIALECTS);
    expect(after.contract).not.toBe(before.contract);
    expect(after.descriptor).toBe(before.descriptor);
    const swapped = { ...DIALECT, vocabularies: ['validation', 'core'] };
    expect(digestsOf(BASE, { input: swapped, output: null }).contract).toBe(before.contract);
  });

  test('an absent text and an empty one differ', () => {
    const { description: _left, ...without } = BASE;
    expect(digestsOf(without).text).not.toBe(digestsOf({ ...without, description: '' }).text);
  });
});
