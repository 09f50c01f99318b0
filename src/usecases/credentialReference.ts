/**
 * Credentials reach Genlock by reference only (S6): a value that was pasted into a registration is refused before it
 * is stored, and is repeated nowhere.
 */
import { CatalogError } from '../domain/errors.js';
import type { CredentialRef } from '../domain/server.js';
import type { SourceRequest } from './registerServer.js';

const REFERENCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:\/?[^\0\s]{1,1024})$/;
const SECRET_NAME = /token|secret|passw|api[_-]?key|credential|private[_-]?key|authorization/i;

const refuse = (member: string): CatalogError =>
  new CatalogError('BAD_REQUEST', 'CREDENTIAL_VALUE', {
    errors: [{ member, rule: 'none, env:NAME or file:PATH' }],
  });

/** @throws CatalogError BAD_REQUEST/CREDENTIAL_VALUE */
export const parseCredential = (text: string, member: string): CredentialRef => {
  if (text === 'none') return { kind: 'none' };
  if (!REFERENCE.test(text)) throw refuse(member);
  return { kind: 'reference', reference: text };
};

/** How the API writes one. */
export const formatCredential = (credential: CredentialRef): string =>
  credential.kind === 'none' ? 'none' : credential.reference;

/**
 * The places of a source in which people put secrets. It cannot know every one: what it refuses is what by its name is
 * a secret and by its form no reference.
 * @throws CatalogError BAD_REQUEST/CREDENTIAL_VALUE, INVALID_BODY for what is no http(s) URL
 */
export const refuseSecrets = (source: SourceRequest): void => {
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
  for (const [name, value] of Object.entries(source.env ?? {}))
    if (SECRET_NAME.test(name) && !REFERENCE.test(value)) throw refuse(`source.env.${name}`);
  source.args.forEach((arg, index) => {
    const [flag = '', value] = arg.split('=', 2);
    if (flag.startsWith('-') && value !== undefined && SECRET_NAME.test(flag))
      throw refuse(`source.args.${index}`);
  });
};
