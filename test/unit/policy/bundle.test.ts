import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CatalogError } from '../../../src/domain/errors.js';
import { bundleDigest, parseBundle } from '../../../src/policy/bundle.js';
import { readBundle } from '../../../src/policy/readBundle.js';

const base = () => ({
  audiences: [{ audienceClass: 'warehouse.policy-1', when: { anyRole: ['stock-manager'] } }] as unknown[],
  tools: {
    'inventory.reserve@1': { effectClass: 'RESERVATION', resource: 'inventory/{/warehouse}/{/sku}' },
    'inventory.get_stock@1': { effectClass: 'READ', resource: '*' },
  } as Record<string, unknown>,
  permits: [{ id: 'p1', roles: ['stock-manager'], tools: ['inventory.reserve@1'] }] as unknown[],
});

const errorsOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    if (error instanceof CatalogError && error.code === 'BAD_REQUEST' && error.reason === 'INVALID_BUNDLE')
      return error.details['errors'];
    throw error;
  }
  throw new Error('the bundle was accepted');
};

describe('policy bundle', () => {
  it('S5 the digest does not depend on the order of members', () => {
    const { audiences, tools, permits } = base();
    expect(bundleDigest(parseBundle({ permits, tools, audiences }))).toBe(bundleDigest(parseBundle(base())));
  });

  it('S5 the digest is another one after any change', () => {
    const other = base();
    other.tools['inventory.get_stock@1'] = { effectClass: 'READ', resource: 'inventory/stock' };
    expect(bundleDigest(parseBundle(other))).not.toBe(bundleDigest(parseBundle(base())));
  });

  it('a validated bundle parses again to the same digest, as storage needs it', () => {
    const bundle = parseBundle(base());
    expect(bundleDigest(parseBundle(JSON.parse(JSON.stringify(bundle))))).toBe(bundleDigest(bundle));
  });

  it.each(['RESERVATION', 'WRITE', 'DESTRUCTIVE'])('L1 a bare * is refused for a %s tool', (effectClass) => {
    const bundle = base();
    bundle.tools['inventory.reserve@1'] = { effectClass, resource: '*' };
    expect(errorsOf(() => parseBundle(bundle))).toEqual([
      {
        file: 'tools.json',
        pointer: '/tools/inventory.reserve@1/resource',
        reason: 'a bare * is for READ tools only: an effectful tool names what it touches',
      },
    ]);
  });

  it('V5 UNKNOWN cannot be given by a reviewer', () => {
    const bundle = base();
    bundle.tools['inventory.reserve@1'] = { effectClass: 'UNKNOWN', resource: 'x/{/a}' };
    expect(errorsOf(() => parseBundle(bundle))).toMatchObject([
      { file: 'tools.json', pointer: '/tools/inventory.reserve@1/effectClass' },
    ]);
  });

  it('a member that is not known is refused with its place', () => {
    const bundle = base();
    bundle.permits = [{ id: 'p1', roles: ['r'], tools: ['inventory.reserve@1'], unless: 'x' }];
    expect(errorsOf(() => parseBundle(bundle))).toEqual([
      { file: 'permits.json', pointer: '/permits/0/unless', reason: 'there is no such member' },
    ]);
  });

  it('A5 a permit for a tool that nobody classified is refused', () => {
    const bundle = base();
    bundle.permits = [{ id: 'p1', roles: ['r'], tools: ['inventory.reserve@2'] }];
    expect(errorsOf(() => parseBundle(bundle))).toEqual([
      {
        file: 'permits.json',
        pointer: '/permits/0/tools/0',
        reason: 'tools.json does not classify this tool',
      },
    ]);
  });

  it('A5 a permit without a contract version is refused', () => {
    const bundle = base();
    bundle.permits = [{ id: 'p1', roles: ['r'], tools: ['inventory.reserve'] }];
    expect(errorsOf(() => parseBundle(bundle))).toMatchObject([{ pointer: '/permits/0/tools/0' }]);
  });

  it('a permit for an audience class that no rule gives is refused', () => {
    const bundle = base();
    bundle.permits = [
      { id: 'p1', roles: ['r'], tools: ['inventory.reserve@1'], audienceClasses: ['elsewhere'] },
    ];
    expect(errorsOf(() => parseBundle(bundle))).toMatchObject([{ pointer: '/permits/0/audienceClasses/0' }]);
  });

  it('two permits of one id are refused', () => {
    const bundle = base();
    bundle.permits.push(bundle.permits[0]);
    expect(errorsOf(() => parseBundle(bundle))).toMatchObject([{ pointer: '/permits/1/id' }]);
  });

  it('S4 an audience class that looks like a bearer token is refused, and not repeated in the error', () => {
    const bundle = base();
    const token = 'eyjhbgcioijfuzi1nij9.eyjzdwiioij4in0abcd.abcdefghijk';
    bundle.audiences = [{ audienceClass: token, when: { anyRole: ['r'] } }];
    const errors = errorsOf(() => parseBundle(bundle));
    expect(errors).toMatchObject([{ file: 'audiences.json', pointer: '/audiences/0/audienceClass' }]);
    expect(JSON.stringify(errors)).not.toContain(token);
  });

  it('S4 a rule without a condition is refused', () => {
    const bundle = base();
    bundle.audiences = [{ audienceClass: 'all', when: {} }];
    expect(errorsOf(() => parseBundle(bundle))).toMatchObject([{ pointer: '/audiences/0/when' }]);
  });

  it('S4 a rule with an empty claims condition is refused', () => {
    const bundle = base();
    bundle.audiences = [{ audienceClass: 'all', when: { claims: {} } }];
    expect(errorsOf(() => parseBundle(bundle))).toMatchObject([{ pointer: '/audiences/0/when/claims' }]);
  });

  it('V7 a member called __proto__ is refused or harmless, never a classification', () => {
    const text = JSON.stringify(base()).replace('inventory.get_stock@1', '__proto__');
    const read = (): unknown => Object.keys(parseBundle(JSON.parse(text)).tools);
    let tools: unknown = ['inventory.reserve@1'];
    try {
      tools = read();
    } catch (error) {
      expect(error).toMatchObject({ reason: 'INVALID_BUNDLE' });
    }
    expect(tools).toEqual(['inventory.reserve@1']);
    expect(({} as Record<string, unknown>)['effectClass']).toBeUndefined();
  });

  it('every error is told at once', () => {
    const bundle = base();
    bundle.tools['inventory.reserve@1'] = { effectClass: 'WRITE', resource: '{/a}' };
    bundle.permits.push({ id: 'p2', roles: ['r'], tools: ['a.b@1'] });
    expect(errorsOf(() => parseBundle(bundle))).toHaveLength(2);
  });

  it.each([null, [], 'x', {}, { audiences: [], tools: {} }])('%j is no bundle', (value) => {
    expect(errorsOf(() => parseBundle(value))).not.toHaveLength(0);
  });
});

describe('bundle folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'genlock-policy-'));
    await cp('examples/policy', folder, { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true }));

  const folderErrors = async (): Promise<unknown> =>
    readBundle(folder).then(
      () => expect.unreachable('the folder was accepted'),
      (error: unknown) => (error instanceof CatalogError ? error.details['errors'] : Promise.reject(error)),
    );

  it('the example bundle is valid', async () => {
    expect((await readBundle('examples/policy')).tools['inventory.reserve@1']).toMatchObject({
      effectClass: 'RESERVATION',
      resource: 'inventory/{/warehouse}/{/sku}',
    });
  });

  it('a missing file refuses the bundle', async () => {
    await rm(join(folder, 'permits.json'));
    expect(await folderErrors()).toEqual([
      { file: 'permits.json', pointer: '', reason: 'the file is missing' },
    ]);
  });

  it('a file too many refuses the bundle', async () => {
    await writeFile(join(folder, 'permit.json'), '{}');
    expect(await folderErrors()).toEqual([
      { file: 'permit.json', pointer: '', reason: 'a bundle has no such file' },
    ]);
  });

  it('V7 a duplicate key refuses the bundle, with its place', async () => {
    await writeFile(join(folder, 'permits.json'), '{"permits":[],"permits":[]}');
    expect(await folderErrors()).toMatchObject([
      { file: 'permits.json', reason: expect.stringContaining('DUPLICATE_KEY') },
    ]);
  });

  it('a file with another member refuses the bundle', async () => {
    await writeFile(join(folder, 'permits.json'), '{"permits":[],"tools":{}}');
    expect(await folderErrors()).toMatchObject([{ file: 'permits.json', pointer: '' }]);
  });

  it('a folder that is not there is an error of the bundle, not a stack trace', async () => {
    await expect(readBundle(join(folder, 'nowhere'))).rejects.toMatchObject({ reason: 'INVALID_BUNDLE' });
  });
});
