import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationMs, epochMs } from '../../../src/domain/ids.js';
import { DEFAULT_LEASE_TTL, LEASE_TYP, type LeaseTimes, leaseClaims } from '../../../src/domain/lease.js';
import { exampleGrant } from '../../support/leases.js';

const now = epochMs(1_764_523_000_500);
const times: LeaseTimes = {
  now,
  ttl: DEFAULT_LEASE_TTL,
  generationExpires: epochMs(now + 60_000),
  callerExpires: epochMs(now + 60_000),
};

describe('lease claims', () => {
  it('L1 the names and the typ on the wire are these', () => {
    expect(LEASE_TYP).toBe('genlock-lease+jwt');
    expect(leaseClaims(exampleGrant, times, 'j-1')).toEqual({
      iss: 'http://127.0.0.1:7000',
      sub: 'alice',
      aud: 'genlock-gateway',
      tenant: 'acme',
      server: `inventory@sha256:${'a'.repeat(64)}`,
      tool: 'inventory.reserve@1',
      descriptor: `sha256:${'b'.repeat(64)}`,
      generation: 1,
      policyEpoch: 1,
      fence: 'f:1/g:2',
      resource: 'inventory/north/A1',
      args: `sha256:${'c'.repeat(64)}`,
      effectClass: 'RESERVATION',
      jti: 'j-1',
      iat: 1_764_523_000,
      exp: 1_764_523_010,
      cnf: { jkt: 'x'.repeat(43) },
    });
  });

  it('L3 no lease outlives now + ttl, the generation or the caller', () => {
    const later = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(later, later, fc.integer({ min: 1_000, max: 60_000 }), (generation, caller, ttl) => {
        const limits = [now + generation, now + caller, now + ttl];
        let exp: number | undefined;
        try {
          exp = leaseClaims(
            exampleGrant,
            {
              now,
              ttl: durationMs(ttl),
              generationExpires: epochMs(now + generation),
              callerExpires: epochMs(now + caller),
            },
            'j',
          ).exp;
        } catch {
          expect(Math.min(generation, caller)).toBeLessThan(1_000);
        }
        if (exp !== undefined) expect(exp * 1_000).toBeLessThanOrEqual(Math.min(...limits));
      }),
    );
  });

  it('L3 an expired generation gets no lease', () => {
    expect(() => leaseClaims(exampleGrant, { ...times, generationExpires: now }, 'j')).toThrow(
      expect.objectContaining({ code: 'STALE_CATALOG', reason: 'GENERATION_EXPIRED' }),
    );
  });

  it('L3 an expired caller token gets no lease, though clock tolerance let it in', () => {
    expect(() => leaseClaims(exampleGrant, { ...times, callerExpires: epochMs(now - 1_000) }, 'j')).toThrow(
      expect.objectContaining({ code: 'UNAUTHENTICATED', reason: 'EXPIRED' }),
    );
  });

  it('A6 a time that is not a number gets no lease', () => {
    expect(() =>
      leaseClaims(exampleGrant, { ...times, generationExpires: epochMs(Number.NaN) }, 'j'),
    ).toThrow(expect.objectContaining({ code: 'STALE_CATALOG' }));
  });

  it.each([0, 999, 60_001, Number.NaN])('a ttl of %d ms is refused', (ttl) => {
    expect(() => leaseClaims(exampleGrant, { ...times, ttl: durationMs(ttl) }, 'j')).toThrow(RangeError);
  });
});
