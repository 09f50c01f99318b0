/**
 * The log of a program: JSON lines, one event each. Credentials are taken out twice: members by their name at any
 * depth, and whatever looks like one in the finished line, since a driver may quote it in a message.
 */
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { LogLevel } from '../config.js';

export type { Logger } from 'pino';

export interface LogOptions {
  readonly level: LogLevel;
  /** Which program speaks: `api`, `worker`, … */
  readonly program: string;
  /** Where lines go: a program whose output is data keeps its log on stderr. Default stderr. */
  readonly to?: 'stdout' | 'stderr' | DestinationStream;
}

const REDACTED = '[redacted]';

/** Member names, compared without case, `-` and `_`. */
const SECRET_MEMBERS = new Set([
  'authorization',
  'proxyauthorization',
  'dpop',
  'cookie',
  'setcookie',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'password',
  'passwd',
  'secret',
  'clientsecret',
  'apikey',
  'privatekey',
  'databaseurl',
  'adminurl',
  'connectionstring',
  'mcpsessionid',
  'd',
]);

/** A user and password in a URL, a scheme with its credential, a compact JWS or JWT. No character that JSON escapes. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"\\]*:[^\s@"\\]*@/gi, `$1${REDACTED}@`],
  [/\b(bearer|dpop|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*/g, REDACTED],
];

/** Takes what looks like a credential out of a text. */
export const scrub = (text: string): string =>
  PATTERNS.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);

const redact = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      SECRET_MEMBERS.has(key.toLowerCase().replace(/[-_]/g, '')) ? REDACTED : redact(member),
    ]),
  );
};

/** One finished line, so that nothing gets past: members of an event, of a child logger, of an error, and its text. */
const redactLine = (line: string): string => scrub(`${JSON.stringify(redact(JSON.parse(line)))}\n`);

/** An error with its code and causes; what a driver hung on it beside that (a whole request, a client) is left out. */
const describeError = (error: unknown, depth = 4): unknown => {
  if (!(error instanceof Error)) return error;
  const extra: Record<string, unknown> = {};
  for (const member of ['code', 'reason', 'details'] as const)
    if (member in error) extra[member] = Reflect.get(error, member);
  if (error.cause !== undefined && depth > 0) extra['cause'] = describeError(error.cause, depth - 1);
  return { type: error.name, message: error.message, stack: error.stack, ...extra };
};

/**
 * @returns a logger whose lines carry `program`, a level by name and an ISO time. Writes are synchronous, so that the
 *   last line of a program that ends is not lost.
 */
export const createLogger = ({ level, program, to = 'stderr' }: LogOptions): Logger =>
  pino(
    {
      level,
      base: { program, pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError, error: describeError },
      hooks: { streamWrite: redactLine },
    },
    typeof to === 'string' ? destination({ fd: to === 'stdout' ? 1 : 2, sync: true }) : to,
  );
