/**
 * Credentials reach Genlock by reference only (S6): a value that was pasted into a registration is refused before it
 * is stored, and is repeated nowhere.
 */
import { credentialPlace, credentialRule, isReference } from '../domain/credentialSpace.js';
import { CatalogError } from '../domain/errors.js';
import type { TenantId } from '../domain/ids.js';
import type { CredentialRef } from '../domain/server.js';
import type { SourceRequest } from './registerServer.js';

const REFERENCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]{0,319}|file:[^\0\s]{1,1024})$/;
const SECRET_NAME = /token|secret|passw|api[_-]?key|credential|private[_-]?key|authorization/i;

const refuse = (member: string): CatalogError =>
  new CatalogError('BAD_REQUEST', 'CREDENTIAL_VALUE', {
    errors: [{ member, rule: 'none, env:NAME or file:PATH' }],
  });

/** Only the administrator of the workers puts credentials somewhere; a tenant names those that were put there for it. */
const refuseOutside = (tenant: TenantId, reference: string, member: string): void => {
  if (credentialPlace(tenant, reference) === null)
    throw new CatalogError('BAD_REQUEST', 'CREDENTIAL_SPACE', {
      errors: [{ member, rule: credentialRule(tenant) }],
    });
};

/**
 * S6: looked at once more in the worker, where it is resolved.
 * @throws CatalogError BAD_REQUEST/CREDENTIAL_VALUE for what is no reference, CREDENTIAL_SPACE for one that is not the
 *   tenant's own
 */
export const parseCredential = (tenant: TenantId, text: string, member: string): CredentialRef => {
  if (text === 'none') return { kind: 'none' };
  if (!REFERENCE.test(text)) throw refuse(member);
  refuseOutside(tenant, text, member);
  return { kind: 'reference', reference: text };
};

/** How the API writes one. */
export const formatCredential = (credential: CredentialRef): string =>
  credential.kind === 'none' ? 'none' : credential.reference;

/**
 * The places of a source in which people put secrets. It cannot know every one: what it refuses is what by its name is
 * a secret and by its form no reference.
 * @throws CatalogError BAD_REQUEST/CREDENTIAL_VALUE, CREDENTIAL_SPACE, INVALID_BODY for what is no http(s) URL
 */
export const refuseSecrets = (tenant: TenantId, source: SourceRequest): void => {
  if (source.kind === 'mcp-http') {
    const url = URL.canParse(source.url) ? new URL(source.url) : null;
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new CatalogError('BAD_REQUEST', 'INVALID_BODY', {
        errors: [{ member: 'source.url', rule: 'an absolute http or https URL' }],
      });
    if (url.username !== '' || url.password !== '') throw refuse('source.url');
    if ([...url.searchParams.keys()].some((name) => SECRET_NAME.test(name))) throw refuse('source.url');
    return;
  }
  for (const [name, value] of Object.entries(source.env ?? {})) {
    const member = `source.env.${name}`;
    if (isReference(value)) refuseOutside(tenant, value, member);
    else if (SECRET_NAME.test(name)) throw refuse(member);
  }
  source.args.forEach((arg, index) => {
    const [flag = '', value] = arg.split('=', 2);
    if (flag.startsWith('-') && value !== undefined && SECRET_NAME.test(flag))
      throw refuse(`source.args.${index}`);
  });
};
