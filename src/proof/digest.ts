/**
 * Digests as they are written everywhere: `sha256:<hex>` (S5).
 */
import { hash } from 'node:crypto';
import type { Digest } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import { canonicalJson } from './canonical.js';

/** @param data bytes, or a text whose UTF-8 is digested */
export const sha256Bytes = (data: Uint8Array | string): Digest => `sha256:${hash('sha256', data)}` as Digest;

/** S5: SHA-256 over the RFC 8785 form of what the strict reader read. */
export const digestJson = (value: JsonValue): Digest => sha256Bytes(canonicalJson(value));
