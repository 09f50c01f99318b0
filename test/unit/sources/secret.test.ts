import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.js';
import { excerpt } from '../../../src/sources/excerpt.js';

describe('Secret', () => {
  it('prints redacted in every way of printing, and reveals itself only when asked', () => {
    const secret = new Secret('hunter2');
    const printed = [
      String(secret),
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ deep: [secret] }),
      secret.toString(),
    ];
    for (const text of printed) {
      expect(text).not.toContain('hunter2');
      expect(text).toContain('[redacted]');
    }
    expect(secret.reveal()).toBe('hunter2');
  });
});

describe('excerpt', () => {
  it('escapes control and non-ASCII characters, caps, and blots out secrets', () => {
    expect(excerpt('a\u001b[31m\u202eü\n')).toBe('a\\x1b[31m\\u{202e}\\xfc\\x0a');
    expect(excerpt('x'.repeat(300))).toBe(`${'x'.repeat(200)}…(300 characters)`);
    expect(excerpt('say token-abc twice token-abc', ['token-abc'])).toBe('say [redacted] twice [redacted]');
    expect(excerpt('x'.repeat(300), [], { of: 'end', cap: 5 })).toBe('(300 characters)…xxxxx');
    expect(excerpt(Uint8Array.of(0xff, 0x41))).toBe('\\u{fffd}A');
  });

  it('S6 blots out before it cuts: no secret survives at the border', () => {
    const token = 'token-0123456789-abcdef';
    for (const before of [180, 190, 199, 8_180, 8_191]) {
      const shown = excerpt(Buffer.from(`${'x'.repeat(before)}${token}`), [token]);
      expect(shown).not.toContain('token');
      const end = excerpt(`${token}${'x'.repeat(before)}`, [token], { of: 'end' });
      expect(end).not.toContain('abcdef');
    }
  });
});
