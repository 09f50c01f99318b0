/**
 * Seals the id of a source's session for the row that it is kept in (D6): AES-256-GCM under keys of the workers alone,
 * bound to tenant and scan, so that a ciphertext which is moved to another row opens nowhere.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { CatalogError } from '../domain/errors.js';
import type { TenantId } from '../domain/ids.js';
import type { Secret } from '../domain/secret.js';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
/** The nonce is random: one key may seal 2^32 sessions (NIST SP 800-38D, 8.3). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface SessionPlace {
  readonly tenant: TenantId;
  readonly scan: string;
}

export interface SessionSeal {
  /** @returns base64url of nonce, ciphertext and tag, under the first key */
  seal(text: string, place: SessionPlace): string;
  /** @returns null where no key opens it: it is damaged, of another place, or its key is gone */
  open(sealed: string, place: SessionPlace): string | null;
}

const boundTo = ({ tenant, scan }: SessionPlace): Buffer =>
  Buffer.from(JSON.stringify(['genlock session v1', tenant, scan]), 'utf8');

/**
 * @param keys 32 bytes each, in base64 or base64url. The first seals, all open: a new key is put first, and the old one
 *   taken away when no scan that it sealed for is left.
 * @throws CatalogError CONFIG_INVALID/INVALID_VARIABLE where there is no key, or one of another form
 */
export const createSessionSeal = (keys: readonly Secret[]): SessionSeal => {
  const loaded = keys.map((key) => Buffer.from(key.reveal(), 'base64url'));
  const [sealing] = loaded;
  if (sealing === undefined || loaded.some(({ length }) => length !== KEY_BYTES)) {
    const rule = 'one or more of 32 bytes in base64';
    throw new CatalogError('CONFIG_INVALID', 'INVALID_VARIABLE', { what: 'session keys', rule });
  }
  return {
    seal: (text, place) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, sealing, nonce).setAAD(boundTo(place));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(parts).toString('base64url');
    },
    open: (sealed, place) => {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      for (const key of loaded) {
        try {
          const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES))
            .setAAD(boundTo(place))
            .setAuthTag(bytes.subarray(-TAG_BYTES));
          const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
          return Buffer.concat([text, decipher.final()]).toString('utf8');
        } catch {
          // Not this key's.
        }
      }
      return null;
    },
  };
};
