/**
 * Where a tenant's credentials may lie: only in the variables and the folder that the administrator made for that very
 * tenant. Without this rule an operator could name a secret of the worker itself, or of another tenant (S6).
 */
import type { TenantId } from './ids.js';

/** Where the worker finds one credential. */
export type CredentialPlace =
  | { readonly kind: 'env'; readonly variable: string }
  /** Relative to the tenant's own folder, of plain segments only. */
  | { readonly kind: 'file'; readonly path: string };

const PREFIX = 'GENLOCK_CREDENTIAL_';
const MAX_VARIABLE = 320;
const MAX_PATH = 512;
/** A letter or digit first: a further underscore would lead into the variables of another tenant. */
const REST = /^[A-Za-z0-9][A-Za-z0-9_]*$/;
const SEGMENT = /^[A-Za-z0-9._@-]{1,255}$/;

/** Whether a text names a place, as opposed to being the value itself. */
export const isReference = (text: string): boolean => /^(?:env|file):/.test(text);

/**
 * The beginning of the names of a tenant's variables: upper case, `-` as two underscores and `_` as three, and one
 * underscore after it. A single underscore ends the tenant's part, so no name belongs to two tenants.
 * @returns null for a tenant with two separators in a row, whose name would be ambiguous; it has files only
 */
export const credentialPrefix = (tenant: TenantId): string | null =>
  /[-_]{2}/.test(tenant)
    ? null
    : `${PREFIX}${tenant.toUpperCase().replace(/[-_]/g, (separator) => (separator === '-' ? '__' : '___'))}_`;

/** @returns null where the reference lies outside of the tenant's own space */
export const credentialPlace = (tenant: TenantId, reference: string): CredentialPlace | null => {
  if (reference.startsWith('env:')) {
    const variable = reference.slice('env:'.length);
    const prefix = credentialPrefix(tenant);
    const isOwn =
      prefix !== null &&
      variable.length <= MAX_VARIABLE &&
      variable.startsWith(prefix) &&
      REST.test(variable.slice(prefix.length));
    return isOwn ? { kind: 'env', variable } : null;
  }
  if (!reference.startsWith('file:')) return null;
  const path = reference.slice('file:'.length);
  const isInside =
    path.length <= MAX_PATH &&
    path.split('/').every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..');
  return isInside ? { kind: 'file', path } : null;
};

/** The rule in words, for the person whose reference was refused. */
export const credentialRule = (tenant: TenantId): string => {
  const prefix = credentialPrefix(tenant);
  const file =
    'file:PATH, relative, without "..", under the folder of this tenant in GENLOCK_CREDENTIALS_DIR';
  return prefix === null ? file : `env:${prefix}NAME, or ${file}`;
};
