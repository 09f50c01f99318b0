/**
 * Branded identifiers. A brand is given only by a `parse…` function here or by the code that computed the
 * value (a digest), so a tenant can never be passed where a server is meant.
 */
import { CatalogError } from './errors.js';

declare const brand: unique symbol;
type Brand<T, B extends string> = T & { readonly [brand]: B };

/** Owner of servers, policies and receipts. Part of every key. */
export type TenantId = Brand<string, 'TenantId'>;
/** The operator's name of a server, unique within the tenant. */
export type ServerName = Brand<string, 'ServerName'>;
/** First part of every tool id of a server; unique within the tenant, without a dot (S2). */
export type Namespace = Brand<string, 'Namespace'>;
/** A permission category that the server side can prove (S4). Never a token. */
export type AudienceClass = Brand<string, 'AudienceClass'>;
/** `namespace.name@contractVersion`, for example `inventory.reserve@3` (S2). */
export type ToolId = Brand<string, 'ToolId'>;
/** `sha256:<64 lower-case hex digits>` (S5). */
export type Digest = Brand<string, 'Digest'>;
/** Milliseconds since the Unix epoch. */
export type EpochMs = Brand<number, 'EpochMs'>;
/** A length of time in milliseconds. */
export type DurationMs = Brand<number, 'DurationMs'>;

const PART = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;
const DOTTED = /^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const TOOL_ID = /^[a-z0-9_-]{1,64}\.[^@\s]{1,128}@[1-9][0-9]{0,9}$/;
/** A JWT (three dot-separated base64url parts) or a long unbroken run that could be an opaque secret. */
const LOOKS_LIKE_TOKEN =
  /^[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*$|^bearer\b|[A-Za-z0-9_-]{40,}/i;

const refuse = (what: string, rule: string): never => {
  // The value itself is left out: what is refused here may be a secret that was pasted into the wrong field.
  throw new CatalogError('BAD_REQUEST', 'INVALID_NAME', { field: what, rule });
};

/** @throws CatalogError BAD_REQUEST/INVALID_NAME */
export const parseTenantId = (text: string): TenantId =>
  PART.test(text) ? (text as TenantId) : refuse('tenant', '1–64 of a–z, 0–9, _ and -, no _ or - at the ends');

/** @throws CatalogError BAD_REQUEST/INVALID_NAME */
export const parseServerName = (text: string): ServerName =>
  PART.test(text)
    ? (text as ServerName)
    : refuse('server', '1–64 of a–z, 0–9, _ and -, no _ or - at the ends');

/** @throws CatalogError BAD_REQUEST/INVALID_NAME */
export const parseNamespace = (text: string): Namespace =>
  PART.test(text) ? (text as Namespace) : refuse('namespace', '1–64 of a–z, 0–9, _ and -, without a dot');

/**
 * S4: an audience class names a permission category and never contains a bearer token.
 * @throws CatalogError BAD_REQUEST/INVALID_NAME
 */
export const parseAudienceClass = (text: string): AudienceClass =>
  DOTTED.test(text) && !LOOKS_LIKE_TOKEN.test(text)
    ? (text as AudienceClass)
    : refuse('audienceClass', '1–128 of a–z, 0–9, ., _ and -; values that look like a token are refused');

/** @throws CatalogError BAD_REQUEST/INVALID_NAME */
export const parseDigest = (text: string): Digest =>
  DIGEST.test(text) ? (text as Digest) : refuse('digest', 'sha256: and 64 lower-case hex digits');

/** @throws CatalogError BAD_REQUEST/INVALID_NAME */
export const parseToolId = (text: string): ToolId =>
  TOOL_ID.test(text) ? (text as ToolId) : refuse('toolId', 'namespace.name@contractVersion');

/** S2: the id that policies, plans and leases name. */
export const toolId = (namespace: Namespace, name: string, contractVersion: number): ToolId =>
  `${namespace}.${name}@${contractVersion}` as ToolId;

/** The server's own name of a tool: what stands between namespace and contract version. */
export const toolName = (id: ToolId): string => id.slice(id.indexOf('.') + 1, id.lastIndexOf('@'));

export const epochMs = (ms: number): EpochMs => ms as EpochMs;
export const durationMs = (ms: number): DurationMs => ms as DurationMs;
