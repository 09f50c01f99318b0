/**
 * V1 and the naming rule of MCP 2025-11-25: 1–128 of A–Z, a–z, 0–9, `_`, `-` and `.`. The name as it came
 * stays the identity; nothing is cleaned up, since two names could become one.
 */
import type { JsonValue } from '../domain/json.js';
import { quote, type Report } from './findings.js';

const CHARSET = /^[A-Za-z0-9_.-]+$/;
const MAX_LENGTH = 128;
/** What model APIs take: no dot, and 64 characters. */
const PORTABLE = /^[A-Za-z0-9_-]{1,64}$/;

/** @returns the name where it is a string, whether or not it is a good one: reports need it */
export const checkName = (name: JsonValue | undefined, report: Report): string | null => {
  if (typeof name !== 'string') {
    report.add('NAME_MISSING', '/name', 'a tool has a name, which is a string');
    return null;
  }
  if (name === '') report.add('NAME_EMPTY', '/name', 'the name is empty');
  else if (!CHARSET.test(name) || name.endsWith('\n')) {
    report.add('NAME_CHARSET', '/name', `${quote(name)}: only A–Z, a–z, 0–9, "_", "-" and "." are allowed`);
  }
  if (name.length > MAX_LENGTH) {
    report.add('NAME_TOO_LONG', '/name', `${name.length} characters; the limit is ${MAX_LENGTH}`);
  }
  if (report.faults === 0 && !PORTABLE.test(name)) {
    report.add(
      'NAME_NOT_PORTABLE',
      '/name',
      'model APIs take at most 64 characters and no dot; give it an alias',
    );
  }
  return name;
};
