/**
 * From a registration to a target with its secrets, resolved at the moment of use and kept nowhere (S6). What is
 * stored, logged or written into a history is the reference.
 */

import { credentialPlace, credentialRule, isReference } from '../domain/credentialSpace.js';
import { type Digest, type EpochMs, epochMs, type TenantId } from '../domain/ids.js';
import { Secret } from '../domain/secret.js';
import type { CredentialRef, RegisteredServer } from '../domain/server.js';
import { SourceFault } from '../domain/sourceFault.js';
import { type CredentialText, readCredentialFile } from './credentialFile.js';
import type { SourceCredential, SourceTarget } from './source.js';

/** What the administrator gave to this worker. */
export interface TargetSettings {
  /** The value of an environment variable of this process. */
  env(name: string): string | undefined;
  /** Holds a folder of credentials for each tenant; undefined where no file may be read. */
  readonly credentialsDir: string | undefined;
  /** Whose stdio servers are started. Each of them runs with this worker's rights, which reach every tenant. */
  readonly stdioTenants: ReadonlySet<TenantId>;
  /** Digest of a secret under a key of this installation. */
  fingerprint(secret: string): Digest;
}

/** Looked at again here: what is stored may be older than the rule, or not have come by the API. */
const resolveReference = async (
  tenant: TenantId,
  reference: string,
  settings: TargetSettings,
): Promise<Secret> => {
  const refuse = (rule: string): SourceFault => new SourceFault('CREDENTIAL_UNRESOLVED', { reference, rule });
  const place = credentialPlace(tenant, reference);
  if (place === null) throw refuse(`outside of this tenant's space: ${credentialRule(tenant)}`);
  const found: CredentialText =
    place.kind === 'env'
      ? { text: settings.env(place.variable) ?? '' }
      : await readCredentialFile(settings.credentialsDir, tenant, place.path);
  if ('rule' in found) throw refuse(found.rule);
  const text = found.text.trim();
  if (text === '') throw refuse(place.kind === 'env' ? 'the variable is not set' : 'the file is empty');
  return new Secret(text);
};

const resolveCredential = async (
  tenant: TenantId,
  credential: CredentialRef,
  settings: TargetSettings,
): Promise<SourceCredential> => {
  if (credential.kind === 'none') return { kind: 'none' };
  const token = await resolveReference(tenant, credential.reference, settings);
  const text = token.reveal();
  return { kind: 'bearer', token, fingerprint: settings.fingerprint(text), expires: statedExpiry(text) };
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

/**
 * @throws SourceFault STDIO_REFUSED, before anything is looked up or started, where this worker starts no servers of
 *   the tenant; CREDENTIAL_UNRESOLVED, whose evidence names the reference and a rule and never a value
 */
export const targetOf = async (
  tenant: TenantId,
  server: RegisteredServer,
  credential: CredentialRef,
  settings: TargetSettings,
): Promise<SourceTarget> => {
  const { source } = server;
  if (source.kind === 'mcp-stdio' && !settings.stdioTenants.has(tenant))
    throw new SourceFault('STDIO_REFUSED', {
      tenant,
      rule: 'GENLOCK_STDIO_TENANTS does not name the tenant',
    });
  const { tlsCaPem, spkiPins, allowPrivateAddresses, revisionPointer, tokenPointer } = server.trust;
  const sourceCredential = await resolveCredential(tenant, credential, settings);
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
  if (source.kind === 'mcp-http') return { ...common, kind: 'mcp-http', url: source.url };
  const env: Record<string, string | Secret> = {};
  for (const [name, value] of Object.entries(source.env ?? {})) {
    env[name] = isReference(value) ? await resolveReference(tenant, value, settings) : value;
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
