/**
 * Runs one operation: who asks, what was sent, the answer or the problem. One handler a route and no middleware, since
 * an admission pays for each.
 */
import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { CatalogError } from '../domain/errors.js';
import { epochMs } from '../domain/ids.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import { authenticate } from '../usecases/authenticate.js';
import { readJson } from '../usecases/readJson.js';
import { endAfterBody } from './endAfterBody.js';
import { type Fault, faultOf, INTERNAL, PROBLEM_TYPE, problemHeaders, problemOf } from './problem.js';
import { readBody } from './requestBody.js';
import { type Answer, type Context, OPERATOR_ROLE, type Route } from './route.js';
import type { Services } from './services.js';

const MAX_BODY = 1_048_576;
const MAX_ERRORS = 20;

type AnyContext = Context<unknown, unknown, unknown>;

export const mountRoute =
  (route: Route, services: Services): RequestHandler =>
  async (request, response) => {
    const started = performance.now();
    const requestId = services.newId();
    response.on('finish', () => {
      const seconds = (performance.now() - started) / 1_000;
      services.metrics.answered(request.method, route.path, response.statusCode, seconds);
    });
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', route.access === 'public' ? 'no-cache' : 'no-store');
    try {
      const identity = await identify(route, request, services);
      const input = await readInput(route, request);
      const context = { ...identity, ...input, requestId, ifNoneMatch: request.headers['if-none-match'] };
      send(request, response, await route.handle(context, services), requestId);
    } catch (error) {
      sendProblem(request, response, knownFault(error, services, request, requestId), requestId);
    }
  };

/** The last handler: paths that no route has, and paths that cannot be decoded. */
export const sendNoSuchRoute = (
  services: Services,
  request: Request,
  response: Response,
  error?: unknown,
): void => {
  const requestId = services.newId();
  const fault: Fault =
    error === undefined
      ? { code: 'NOT_FOUND', reason: 'NO_SUCH_ROUTE', details: {} }
      : knownFault(error, services, request, requestId);
  sendProblem(request, response, fault, requestId);
};

const identify = async (
  route: Route,
  request: Request,
  services: Services,
): Promise<Pick<AnyContext, 'caller' | 'proof' | 'isOperator'>> => {
  if (route.access === 'public') return NOBODY;
  const { authorization, dpop } = request.headers;
  try {
    const { caller, proof } = await authenticate(
      services.verifier,
      {
        authorization,
        dpop: typeof dpop === 'string' ? dpop : undefined,
        method: request.method,
        url: `${services.publicUrl}${request.originalUrl}`,
      },
      services.now(),
      route.readsProof === true,
    );
    const isOperator = caller.roles.includes(OPERATOR_ROLE);
    if (route.access === 'operator' && !isOperator)
      throw new CatalogError('POLICY_DENIED', 'ROLE_MISSING', { role: OPERATOR_ROLE });
    return { caller, proof, isOperator };
  } catch (error) {
    // R1: whatever ends a request before its caller is known is counted.
    if (error instanceof CatalogError && callerIsUnknown(error))
      services.metrics.unauthenticated(error.reason);
    throw error;
  }
};

/** A role that is missing is not among them: who asks is known then. */
const callerIsUnknown = ({ code, reason }: CatalogError): boolean =>
  code === 'UNAUTHENTICATED' || code === 'PROOF_INVALID' || reason === 'ISSUER_KEYS';

/** Public routes do not look at these. */
const NOBODY: Pick<AnyContext, 'caller' | 'proof' | 'isOperator'> = {
  caller: {
    tenant: '' as VerifiedCaller['tenant'],
    subject: '',
    roles: [],
    claims: {},
    tokenDigest: '' as VerifiedCaller['tokenDigest'],
    jkt: null,
    expiresAt: epochMs(0),
  },
  proof: new CatalogError('PROOF_INVALID', 'MISSING'),
  isOperator: false,
};

const readInput = async (
  route: Route,
  request: Request,
): Promise<Pick<AnyContext, 'params' | 'query' | 'body' | 'inexact'>> => {
  const params = route.params === undefined ? {} : parse(route.params, request.params, 'INVALID_QUERY');
  const query = route.query === undefined ? {} : parse(route.query, request.query, 'INVALID_QUERY');
  if (route.body === undefined) return { params, query, body: undefined, inexact: [] };
  const { value, inexact, hasNul } = readJson(await readBody(request, route.maxBody ?? MAX_BODY));
  const [rounded] = inexact;
  if (hasNul && route.argumentsAllowed !== true)
    throw new CatalogError('BAD_REQUEST', 'INVALID_BODY', { errors: [{ member: '', rule: 'no U+0000' }] });
  if (rounded !== undefined && route.argumentsAllowed !== true)
    throw new CatalogError('BAD_REQUEST', 'INVALID_BODY', {
      errors: [{ member: rounded.pointer, rule: 'a number that would be rounded' }],
    });
  return { params, query, body: parse(route.body, value, 'INVALID_BODY'), inexact };
};

const parse = (schema: z.ZodType, value: unknown, reason: 'INVALID_BODY' | 'INVALID_QUERY'): unknown => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap(explain).slice(0, MAX_ERRORS);
  throw new CatalogError('BAD_REQUEST', reason, { errors });
};

/** Of the forms that a value may have, the one it comes nearest to explains what is wrong with it. */
const explain = (issue: z.core.$ZodIssue): readonly { member: string; rule: string }[] => {
  if (issue.code === 'invalid_union') {
    const [nearest] = [...issue.errors].sort((a, b) => a.length - b.length);
    if (nearest !== undefined && nearest.length > 0)
      return nearest.flatMap((inner) => explain({ ...inner, path: [...issue.path, ...inner.path] }));
  }
  return [{ member: issue.path.map(String).join('.'), rule: issue.message }];
};

const send = (request: Request, response: Response, answer: Answer, requestId: string): void => {
  if ('fault' in answer) {
    sendProblem(request, response, answer.fault, requestId, answer.extension);
    return;
  }
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (answer.status === 304) {
    response.end();
    return;
  }
  const [type, payload] =
    'bytes' in answer
      ? [answer.type, answer.bytes]
      : ['application/json; charset=utf-8', JSON.stringify(answer.body)];
  response.setHeader('Content-Type', type);
  response.end(payload);
};

const sendProblem = (
  request: Request,
  response: Response,
  fault: Fault,
  requestId: string,
  extension: Readonly<Record<string, unknown>> = {},
): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const problem = problemOf(fault, requestId);
  response.statusCode = problem.status;
  response.setHeader('X-Request-Id', requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', PROBLEM_TYPE);
  for (const [name, value] of Object.entries(problemHeaders(problem))) response.setHeader(name, value);
  // What is left of a body that was refused is dropped, and the connection with it.
  if (problem.reason === 'TOO_LARGE') response.setHeader('Connection', 'close');
  endAfterBody(request, response, JSON.stringify({ ...problem, ...extension }));
};

const knownFault = (error: unknown, services: Services, request: Request, requestId: string): Fault => {
  const fault = faultOf(error);
  const status = fault === null ? 503 : problemOf(fault, requestId).status;
  if (status >= 500)
    services.log.error(
      { requestId, method: request.method, path: request.path, err: error },
      'request failed',
    );
  return fault ?? INTERNAL;
};
