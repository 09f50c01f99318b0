/**
 * Signs receipts, and verifies them with nothing but the public key set (R2). The signature covers the canonical
 * bytes themselves, so that a verifier needs no canonicalizer.
 */
import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import { CatalogError } from '../domain/errors.js';
import { RECEIPT_SCHEMA, RECEIPT_TYP, type ReceiptBody, type ReceiptKind } from '../domain/receipt.js';
import type { KeySet } from './keySet.js';

/**
 * Compact JWS over a receipt's canonical form.
 * @param canonicalBody the RFC 8785 text of a ReceiptBody; what is signed is exactly this text
 */
export const signReceipt = (keys: KeySet, canonicalBody: string): string =>
  keys.signCompact(RECEIPT_TYP, canonicalBody);

export interface VerifiedReceipt {
  readonly body: ReceiptBody;
  /** The signed text, for whoever digests it. */
  readonly canonicalBody: string;
  /** The key that signed it. */
  readonly kid: string;
}

/**
 * The body of a receipt whose signature verifies.
 * @throws CatalogError RECEIPT_INVALID/RECEIPT_MALFORMED|RECEIPT_SIGNATURE
 */
export const verifyReceipt = async (jws: string, jwks: JSONWebKeySet): Promise<VerifiedReceipt> => {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, createLocalJWKSet(jwks), {
      algorithms: ['ES256'],
    });
    if (protectedHeader.typ !== RECEIPT_TYP) throw new errors.JWSInvalid('not a receipt');
    const canonicalBody = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload);
    const body: unknown = JSON.parse(canonicalBody);
    if (!isReceiptBody(body)) throw new errors.JWSInvalid('not the body of a receipt');
    return { body, canonicalBody, kid: protectedHeader.kid ?? '' };
  } catch (cause) {
    const altered =
      cause instanceof errors.JWSSignatureVerificationFailed || cause instanceof errors.JWKSNoMatchingKey;
    throw new CatalogError(
      'RECEIPT_INVALID',
      altered ? 'RECEIPT_SIGNATURE' : 'RECEIPT_MALFORMED',
      {},
      { cause },
    );
  }
};

const KINDS: readonly ReceiptKind[] = ['catalog', 'admission', 'operator'];

// What Genlock signed it also built: this tells receipts from other JSON, it does not check every member again.
const isReceiptBody = (value: unknown): value is ReceiptBody =>
  typeof value === 'object' &&
  value !== null &&
  'schema' in value &&
  value.schema === RECEIPT_SCHEMA &&
  'kind' in value &&
  KINDS.some((kind) => kind === value.kind) &&
  'id' in value &&
  typeof value.id === 'string' &&
  'tenant' in value &&
  typeof value.tenant === 'string';
