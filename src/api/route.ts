/**
 * One operation of the API: what validates its request also describes it in the OpenAPI document, so that the two
 * cannot differ.
 */
import type { z } from 'zod';
import type { CatalogError } from '../domain/errors.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import type { VerifiedProof } from '../keys/dpop.js';
import type { InexactNumber } from '../usecases/readJson.js';
import type { Fault } from './problem.js';
import type { Services } from './services.js';

export const OPERATOR_ROLE = 'genlock-operator';

/** Who may ask. `public` knows no caller at all. */
export type Access = 'public' | 'caller' | 'operator';

export interface Context<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Numbers of the body that no double holds exactly. */
  readonly inexact: readonly InexactNumber[];
  readonly requestId: string;
  readonly ifNoneMatch: string | undefined;
  /** Always there but on public routes, which do not ask. */
  readonly caller: VerifiedCaller;
  readonly proof: VerifiedProof | CatalogError<'PROOF_INVALID'>;
  readonly isOperator: boolean;
}

export type Answer =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly status: number;
      readonly bytes: Uint8Array | string;
      readonly type: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A problem with members of its own beside those of every problem. */
  | { readonly fault: Fault; readonly extension: Readonly<Record<string, unknown>> };

export interface ResponseDoc {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Default application/json. */
  readonly type?: string;
}

export interface RouteSpec<P, Q, B> {
  readonly method: 'get' | 'post';
  /** As OpenAPI writes it: `/v1/catalogs/{server}`. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Whether the DPoP proof is looked at even where the token is not bound to a key. */
  readonly readsProof?: boolean;
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  readonly body?: z.ZodType<B>;
  /** Default 1 MB. */
  readonly maxBody?: number;
  /**
   * Whether the body holds arguments of calls, in which any JSON may stand until the decision; anywhere else a number
   * that would be rounded and U+0000 are refused.
   */
  readonly argumentsAllowed?: boolean;
  readonly responses: Readonly<Record<number, ResponseDoc>>;
  handle(context: Context<P, Q, B>, services: Services): Promise<Answer>;
}

export type Route = RouteSpec<unknown, unknown, unknown>;

/** Checks a route against its own schemas, then forgets their types: the mount validates by the schemas themselves. */
export const route = <P = unknown, Q = unknown, B = unknown>(spec: RouteSpec<P, Q, B>): Route =>
  spec as unknown as Route;

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  body,
  headers,
});
