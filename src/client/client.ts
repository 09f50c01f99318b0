/**
 * The typed client of the API for agents and the CLI: fetch and a holder's key, in Node and in a browser alike.
 */
import { decodeJwt, type JSONWebKeySet } from 'jose';
import type { JsonValue } from '../domain/json.js';
import type { DpopKey } from './dpopKey.js';
import { GenlockProblem, GenlockUnreachable, NotGenlock } from './problem.js';
import type {
  Acceptance,
  Admitted,
  Catalog,
  CatalogSummary,
  CatalogTool,
  DiscoveredTool,
  Discovery,
  DiscoveryDetail,
  DiscoveryStart,
  GenerationsDiff,
  PlanNode,
  PublishedPolicy,
  Receipt,
  RefusedNode,
  Registered,
  Review,
  ReviewDetail,
  Revocation,
  RevocationRequest,
  Server,
  ServerRegistration,
} from './types.js';

export { createDpopKey, type DpopKey, generateDpopJwk, importDpopKey } from './dpopKey.js';
export { GenlockProblem, GenlockUnreachable, NotGenlock } from './problem.js';
export type * from './types.js';

export interface ClientOptions {
  /** As the installation's public URL says it: proofs name it. */
  readonly baseUrl: string;
  /** A caller token, or where to get the one of the moment. */
  readonly token: string | (() => string | Promise<string>);
  /** Needed for admissions, and for a token that is bound to it. */
  readonly key?: DpopKey;
  readonly signal?: AbortSignal;
}

/** Each rejects with GenlockProblem where Genlock refuses, and with GenlockUnreachable where nothing answers. */
export interface GenlockClient {
  catalogs(): Promise<readonly CatalogSummary[]>;
  /** One slice by tool name. @returns null where the catalog is still the one of `etag` */
  catalog(
    server: string,
    page?: { readonly after?: string; readonly limit?: number; readonly etag?: string },
  ): Promise<(Catalog & { readonly etag: string }) | null>;
  tool(server: string, id: string): Promise<CatalogTool>;
  /** The sealed artifact as bytes; for operators. */
  generation(server: string, generation: number, audience: string): Promise<Uint8Array>;

  admit(node: PlanNode): Promise<Admitted>;
  admitPlan(nodes: readonly PlanNode[]): Promise<readonly (Admitted | RefusedNode)[]>;

  receipts(filter?: {
    readonly subject?: string;
    readonly before?: string;
    readonly limit?: number;
  }): Promise<readonly Receipt[]>;
  receipt(id: string): Promise<Receipt>;

  servers(): Promise<readonly Server[]>;
  server(name: string): Promise<Server>;
  registerServer(registration: ServerRegistration): Promise<Registered>;
  closeServer(name: string, reason: string): Promise<{ readonly receipt: string }>;
  openServer(name: string): Promise<{ readonly receipt: string }>;

  startDiscovery(server: string, audience?: string): Promise<readonly DiscoveryStart[]>;
  discoveries(filter?: { readonly server?: string; readonly limit?: number }): Promise<readonly Discovery[]>;
  discovery(id: string): Promise<DiscoveryDetail>;
  /** One slice in list order; `next` is the `after` of the next one, null at the end. */
  discoveredTools(
    id: string,
    page?: { readonly after?: number; readonly limit?: number },
  ): Promise<{ readonly tools: readonly DiscoveredTool[]; readonly next: number | null }>;
  cancelDiscovery(id: string): Promise<void>;

  /** Accepts what a discovery was held for; the next one reads it. */
  accept(
    discovery: string,
    reason: string,
  ): Promise<Acceptance & { readonly discoveries: readonly DiscoveryStart[] }>;
  acceptances(): Promise<
    readonly (Acceptance & {
      readonly acceptedAt: string;
      readonly usedBy: string | null;
      readonly open: boolean;
    })[]
  >;

  /** Changed texts and hints of effectful tools, a slice at a time by server, audience and tool. */
  reviews(filter?: {
    readonly server?: string;
    readonly state?: Review['state'];
    readonly after?: string;
    readonly limit?: number;
  }): Promise<{ readonly reviews: readonly Review[]; readonly next: string | null }>;
  review(id: string): Promise<ReviewDetail>;
  decideReview(
    id: string,
    decision: 'accept' | 'refuse',
    reason: string,
  ): Promise<{ readonly id: string; readonly state: Review['state']; readonly receipt: string }>;
  /** What changed between two generations, a slice by tool name. */
  diff(
    server: string,
    query: {
      readonly audience: string;
      readonly from: number;
      readonly to: number;
      readonly after?: string;
      readonly limit?: number;
    },
  ): Promise<GenerationsDiff>;

  publishPolicy(bundle: unknown, expectedEpoch?: number): Promise<PublishedPolicy>;
  policy(): Promise<{ readonly epoch: number; readonly digest: string; readonly bundle: JsonValue }>;

  /** `matches`: how many tools of the server's active catalogs it matches now; null for a subject. */
  revoke(
    request: RevocationRequest,
  ): Promise<Revocation & { readonly receipt: string; readonly matches: number | null }>;
  revocations(): Promise<
    readonly (Revocation & { readonly revokedAt: string; readonly liftedAt: string | null })[]
  >;
  liftRevocation(id: string): Promise<{ readonly receipt: string }>;

  /** The public keys that leases and receipts verify under. */
  jwks(): Promise<JSONWebKeySet>;
}

interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly etag?: string | undefined;
  /** Whether a proof is needed even with a token that is not bound. */
  readonly proof?: boolean;
  readonly anonymous?: boolean;
}

export const createClient = (options: ClientOptions): GenlockClient => {
  const base = options.baseUrl.replace(/\/+$/, '');
  const ask = (path: string, request: Ask = {}): Promise<Response> => send(options, base, path, request);
  const read = async <T>(path: string, request?: Ask): Promise<T> =>
    readJson<T>(await ask(path, request), base);
  const member = async <K extends string, T>(name: K, path: string, request?: Ask): Promise<T> =>
    (await read<Record<K, T>>(path, request))[name];
  const post = (body: unknown = {}): Ask => ({ method: 'POST', body });
  const part = encodeURIComponent;

  return {
    catalogs: () => member('catalogs', '/v1/catalogs'),
    catalog: async (server, { after, limit, etag } = {}) => {
      const response = await ask(`/v1/catalogs/${part(server)}`, { query: { after, limit }, etag });
      if (response.status === 304) return null;
      return { ...(await readJson<Catalog>(response, base)), etag: response.headers.get('etag') ?? '' };
    },
    tool: (server, id) => read(`/v1/catalogs/${part(server)}/tools/${part(id)}`),
    generation: async (server, generation, audience) => {
      const path = `/v1/catalogs/${part(server)}/generations/${generation}`;
      return new Uint8Array(await (await ask(path, { query: { audience } })).arrayBuffer());
    },

    admit: (node) => read('/v1/admissions', { ...post(node), proof: true }),
    admitPlan: (nodes) => member('nodes', '/v1/admissions', { ...post({ nodes }), proof: true }),

    receipts: (filter = {}) => member('receipts', '/v1/receipts', { query: filter }),
    receipt: (id) => read(`/v1/receipts/${part(id)}`),

    servers: () => member('servers', '/v1/servers'),
    server: (name) => read(`/v1/servers/${part(name)}`),
    registerServer: (registration) => read('/v1/servers', post(registration)),
    closeServer: (name, reason) => read(`/v1/servers/${part(name)}/close`, post({ reason })),
    openServer: (name) => read(`/v1/servers/${part(name)}/open`, post()),

    startDiscovery: (server, audience) =>
      member('discoveries', `/v1/servers/${part(server)}/discoveries`, post({ audience })),
    discoveries: (filter = {}) => member('discoveries', '/v1/discoveries', { query: filter }),
    discovery: (id) => read(`/v1/discoveries/${part(id)}`),
    discoveredTools: (id, page = {}) => read(`/v1/discoveries/${part(id)}/tools`, { query: page }),
    cancelDiscovery: async (id) => {
      await read(`/v1/discoveries/${part(id)}/cancel`, post());
    },

    accept: (discovery, reason) => read('/v1/acceptances', post({ discovery, reason })),
    acceptances: () => member('acceptances', '/v1/acceptances'),

    reviews: (filter = {}) => read('/v1/reviews', { query: filter }),
    review: (id) => read(`/v1/reviews/${part(id)}`),
    decideReview: (id, decision, reason) => read(`/v1/reviews/${part(id)}`, post({ decision, reason })),
    diff: (server, query) => read(`/v1/catalogs/${part(server)}/diff`, { query }),

    publishPolicy: (bundle, expectedEpoch) => read('/v1/policies', post({ bundle, expectedEpoch })),
    policy: () => read('/v1/policies/current'),

    revoke: (request) => read('/v1/revocations', post(request)),
    revocations: () => member('revocations', '/v1/revocations'),
    liftRevocation: (id) => read(`/v1/revocations/${part(id)}/lift`, post()),

    jwks: () => read('/.well-known/jwks.json', { anonymous: true }),
  };
};

const send = async (options: ClientOptions, base: string, path: string, request: Ask): Promise<Response> => {
  const { method = 'GET', query = {}, body, etag } = request;
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  const url = `${base}${path}${search === '' ? '' : `?${search}`}`;
  const headers = {
    ...(request.anonymous === true ? {} : await credentials(options, method, url, request.proof === true)),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(etag !== undefined && { 'If-None-Match': etag }),
  };
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers,
      // A redirect would carry the token and the proof to another place.
      redirect: 'error',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(options.signal !== undefined && { signal: options.signal }),
    });
  } catch (cause) {
    if (options.signal?.aborted === true) throw cause;
    throw new GenlockUnreachable(base, { cause });
  }
  if (response.ok || response.status === 304) return response;
  throw await problemOf(response, base);
};

const credentials = async (
  { token, key }: ClientOptions,
  method: string,
  url: string,
  proofIsRead: boolean,
): Promise<Record<string, string>> => {
  const accessToken = typeof token === 'string' ? token : await token();
  const bound = isBound(accessToken);
  const headers = { Authorization: `${bound ? 'DPoP' : 'Bearer'} ${accessToken}` };
  if (key === undefined || !(bound || proofIsRead)) return headers;
  return { ...headers, DPoP: await key.prove({ method, url, accessToken }) };
};

/** Only chooses the scheme; whoever verifies the token decides. */
const isBound = (token: string): boolean => {
  try {
    return decodeJwt(token)['cnf'] !== undefined;
  } catch {
    return false;
  }
};

const problemOf = async (response: Response, base: string): Promise<Error> => {
  const body: unknown = await response.json().catch(() => null);
  if (typeof body === 'object' && body !== null && 'code' in body)
    return new GenlockProblem(response.status, body as Readonly<Record<string, unknown>>);
  const cause = new Error(`HTTP ${response.status}`);
  // A gateway in front of Genlock fails with a 5xx of its own where Genlock is not there.
  return response.status >= 500 ? new GenlockUnreachable(base, { cause }) : new NotGenlock(base, { cause });
};

const readJson = async <T>(response: Response, base: string): Promise<T> => {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new NotGenlock(base, { cause });
  }
};
