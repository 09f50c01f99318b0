import { describe, expect, test } from 'vitest';
import { compareCounters, type SourceRevision, sameRevision } from '../../../src/domain/snapshot.js';

const at = (incarnation: string, counter: number) => ({ incarnation, counter });

describe('D9 revisions', () => {
  test('a counter is ordered within its incarnation only', () => {
    expect(compareCounters(at('a', 7), at('a', 7))).toBe('same');
    expect(compareCounters(at('a', 7), at('a', 8))).toBe('newer');
    expect(compareCounters(at('a', 7), at('a', 6))).toBe('older');
    expect(compareCounters(at('a', 7), at('', 7))).toBe('other-incarnation');
  });

  test('D3 the same revision has the same binding and the same value', () => {
    const server: SourceRevision = { binding: 'SERVER_REVISION', value: at('a', 7) };
    const token: SourceRevision = { binding: 'SNAPSHOT_TOKEN', value: { token: 't' } };
    expect(sameRevision(server, { binding: 'SERVER_REVISION', value: at('a', 7) })).toBe(true);
    expect(sameRevision(server, { binding: 'SERVER_REVISION', value: at('b', 7) })).toBe(false);
    expect(sameRevision(server, { binding: 'SERVER_REVISION', value: at('a', 8) })).toBe(false);
    expect(sameRevision(server, { binding: 'GATEWAY_ISSUED', value: at('a', 7) })).toBe(false);
    expect(sameRevision(token, { binding: 'SNAPSHOT_TOKEN', value: { token: 't' } })).toBe(true);
    expect(sameRevision(token, { binding: 'SNAPSHOT_TOKEN', value: { token: 'T' } })).toBe(false);
    expect(sameRevision(token, server)).toBe(false);
  });
});
