/**
 * From a registration to a target with its secrets, resolved at the moment of use and kept nowhere (S6). What is
 * stored, logged or written into a history is the reference.
 */

import { type Digest, type EpochMs, epochMs } from '../domain/ids.js';
import { Secret } from '../domain/secret.js';
import type { CredentialRef, RegisteredServer } from '../domain/server.js';
import { SourceFault } from '../domain/sourceFault.js';
import type { SourceCredential, SourceTarget } from './source.js';

export interface ReferenceReader {
  /** The value of an environment variable of this process. */
  env(name: string): string | undefined;
  /** The text of a file on this machine. */
  file(path: string): Promise<string>;
  /** Digest of a secret under a key of this installation. */
  fingerprint(secret: string): Digest;
}

const ENV = /^env:([A-Za-z_][A-Za-z0-9_]*)$/;
const FILE = /^file:(.+)$/;

/** Whether a text has the form of a reference, as opposed to a value. */
export const isReference = (text: string): boolean => ENV.test(text) || FILE.test(text);

/** @throws SourceFault CREDENTIAL_UNRESOLVED, whose evidence names the reference and never a value */
export const resolveReference = async (reference: string, reader: ReferenceReader): Promise<Secret> => {
  const variable = ENV.exec(reference)?.[1];
  const path = FILE.exec(reference)?.[1];
  let value: string | undefined;
  if (variable !== undefined) value = reader.env(variable);
  else if (path !== undefined) value = await reader.file(path).catch(() => undefined);
  const text = value?.trim();
  if (text === undefined || text === '') throw new SourceFault('CREDENTIAL_UNRESOLVED', { reference });
  return new Secret(text);
};

const resolveCredential = async (
  credential: CredentialRef,
  reader: ReferenceReader,
): Promise<SourceCredential> => {
  if (credential.kind === 'none') return { kind: 'none' };
  const token = await resolveReference(credential.reference, reader);
  const text = token.reveal();
  return { kind: 'bearer', token, fingerprint: reader.fingerprint(text), expires: statedExpiry(text) };
};

/** `exp` of a token that is a JWT, read and not verified: it can only shorten what rests on it. */
const statedExpiry = (token: string): EpochMs | null => {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    const exp = typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : undefined;
    return typeof exp === 'number' && Number.isFinite(exp) ? epochMs(exp * 1_000) : null;
  } catch {
    return null;
  }
};

/** @throws SourceFault CREDENTIAL_UNRESOLVED */
export const targetOf = async (
  server: RegisteredServer,
  credential: CredentialRef,
  reader: ReferenceReader,
): Promise<SourceTarget> => {
  const { tlsCaPem, spkiPins, allowPrivateAddresses, revisionPointer, tokenPointer } = server.trust;
  const sourceCredential = await resolveCredential(credential, reader);
  const common = {
    credential: sourceCredential,
    trust: {
      allowPrivateAddresses,
      ...(tlsCaPem === undefined ? {} : { tlsCaPem }),
      ...(spkiPins.length === 0 ? {} : { spkiPins }),
    },
    revision: { revisionPointer, tokenPointer },
    limits: { pageBytes: server.limits.pageBytes, pageTime: server.limits.pageTime },
  };
  const { source } = server;
  if (source.kind === 'mcp-http') return { ...common, kind: 'mcp-http', url: source.url };
  const env: Record<string, string | Secret> = {};
  for (const [name, value] of Object.entries(source.env ?? {})) {
    env[name] = isReference(value) ? await resolveReference(value, reader) : value;
  }
  return {
    ...common,
    kind: 'mcp-stdio',
    command: source.command,
    args: source.args,
    env,
    ...(source.cwd === undefined ? {} : { cwd: source.cwd }),
  };
};
