import { beforeAll, describe, expect, it } from 'vitest';
import { parseAudienceClass, parseTenantId, parseToolId } from '../../../src/domain/ids.js';
import { parseBundle } from '../../../src/policy/bundle.js';
import { compilePolicy } from '../../../src/policy/compilePolicy.js';
import type { AuthorizationRequest, CompiledPolicy } from '../../../src/policy/port.js';
import { readBundle } from '../../../src/policy/readBundle.js';

const reserve = parseToolId('inventory.reserve@1');
const skuGet = parseToolId('inventory.sku_get@1');
const request: AuthorizationRequest = {
  tenant: parseTenantId('acme'),
  subject: 'alice',
  roles: ['stock-manager'],
  audience: parseAudienceClass('warehouse.policy-1'),
  toolId: reserve,
  effectClass: 'RESERVATION',
  mode: 'autonomous',
};

describe('the example policy', () => {
  let policy: CompiledPolicy;
  beforeAll(async () => {
    policy = compilePolicy(await readBundle('examples/policy'), 1);
  });

  it('A5 permits the stable id to the role, and names the permit', () => {
    expect(policy.authorize(request)).toEqual({ allowed: true, policyIds: ['stock-managers-reserve'] });
  });

  it('A5 the next contract version needs a new permit', () => {
    expect(policy.authorize({ ...request, toolId: parseToolId('inventory.reserve@2') }).allowed).toBe(false);
  });

  it('A5 what is classified but permitted to nobody is refused', () => {
    const archive = parseToolId('inventory.sku_archive@1');
    expect(policy.classify(archive)?.effectClass).toBe('DESTRUCTIVE');
    expect(policy.authorize({ ...request, toolId: archive, effectClass: 'DESTRUCTIVE' }).allowed).toBe(false);
  });

  it('another role is refused', () => {
    expect(policy.authorize({ ...request, roles: ['stock-viewer'] }).allowed).toBe(false);
  });

  it('another audience class is refused', () => {
    const audience = parseAudienceClass('warehouse-viewer.policy-1');
    expect(policy.authorize({ ...request, audience }).allowed).toBe(false);
  });

  it('a READ tool needs a permit as well', () => {
    const read = { ...request, toolId: skuGet, effectClass: 'READ' } as const;
    expect(policy.authorize(read).allowed).toBe(true);
    expect(policy.authorize({ ...read, roles: ['guest'] }).allowed).toBe(false);
  });

  it('V5 a tool without a classification has none, and UNKNOWN is never permitted', () => {
    expect(policy.classify(parseToolId('inventory.reserve@2'))).toBeNull();
    expect(policy.authorize({ ...request, effectClass: 'UNKNOWN' }).allowed).toBe(false);
  });

  it("V5 a generation that holds another effect class than today's review is refused", () => {
    expect(policy.authorize({ ...request, effectClass: 'READ' }).allowed).toBe(false);
  });

  it('S4 verified roles give the audience class, the first rule first', () => {
    expect(policy.audienceOf({ roles: ['stock-viewer', 'stock-manager'] })).toBe('warehouse.policy-1');
    expect(policy.audienceOf({ roles: ['stock-viewer'] })).toBe('warehouse-viewer.policy-1');
    expect(policy.audienceClasses).toEqual(['warehouse.policy-1', 'warehouse-viewer.policy-1']);
  });

  it.each([{}, { roles: [] }, { roles: 'stock-manager' }, { roles: ['guest'] }])(
    'S4 %j gives no audience class',
    (claims) => {
      expect(policy.audienceOf(claims)).toBeNull();
    },
  );

  it('L1 computes the resource of a reservation', () => {
    expect(policy.classify(reserve)?.resourceOf({ warehouse: 'north', sku: 'A 1' })).toBe(
      'inventory/north/A%201',
    );
  });
});

describe('compiled policy', () => {
  const compile = (audiences: unknown[], permits: unknown[] = []) =>
    compilePolicy(
      parseBundle({ audiences, tools: { 'a.b@1': { effectClass: 'WRITE', resource: 'a/b' } }, permits }),
      7,
    );

  it('S4 every condition of a rule must hold', () => {
    const policy = compile([
      { audienceClass: 'x', when: { anyRole: ['admin'], claims: { '/org/unit': 'ops', '/mfa': true } } },
    ]);
    expect(policy.audienceOf({ roles: ['admin'], org: { unit: 'ops' }, mfa: true })).toBe('x');
    expect(policy.audienceOf({ roles: ['admin'], org: { unit: 'ops' }, mfa: 'true' })).toBeNull();
    expect(policy.audienceOf({ roles: ['user'], org: { unit: 'ops' }, mfa: true })).toBeNull();
    expect(policy.audienceOf({ roles: ['admin'], mfa: true })).toBeNull();
  });

  it('V7 a rule on an inherited name finds nothing', () => {
    expect(
      compile([{ audienceClass: 'x', when: { claims: { '/constructor/name': 'Object' } } }]).audienceOf({}),
    ).toBeNull();
  });

  it('A5 a permit for confirmed calls does not permit autonomous ones', () => {
    const policy = compile(
      [],
      [{ id: 'p', roles: ['stock-manager'], tools: ['a.b@1'], modes: ['confirmed'] }],
    );
    const call = { ...request, toolId: parseToolId('a.b@1'), effectClass: 'WRITE' } as const;
    expect(policy.authorize(call).allowed).toBe(false);
    expect(policy.authorize({ ...call, mode: 'confirmed' }).allowed).toBe(true);
  });

  it('an empty policy permits nothing', () => {
    const policy = compile([]);
    expect(policy.epoch).toBe(7);
    expect(policy.authorize({ ...request, toolId: parseToolId('a.b@1'), effectClass: 'WRITE' })).toEqual({
      allowed: false,
      policyIds: [],
    });
  });

  it('P1 the digest of the audience rules changes with them only', () => {
    const rule = { audienceClass: 'x', when: { anyRole: ['r'] } };
    const permits = [{ id: 'p', roles: ['r'], tools: ['a.b@1'] }];
    expect(compile([rule]).audienceDigest).toBe(compile([rule], permits).audienceDigest);
    expect(compile([rule]).digest).not.toBe(compile([rule], permits).digest);
    expect(compile([rule]).audienceDigest).not.toBe(compile([]).audienceDigest);
  });
});
