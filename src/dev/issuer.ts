/**
 * The dev stack's own token issuer. Whoever reaches its port gets any token, so it listens on loopback only and is
 * wired by the dev stack alone; a deployment names the operator's issuer.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { CatalogError } from '../domain/errors.js';
import { parseTenantId } from '../domain/ids.js';
import { loadKeySet } from '../keys/keyFile.js';

const MAX_BODY_BYTES = 16_384;

export interface DevTokenRequest {
  readonly tenant: string;
  readonly subject: string;
  readonly roles: readonly string[];
  /** 1 s to one day. */
  readonly ttlSeconds: number;
  /** Binds the token to a holder's key (`cnf.jkt`). */
  readonly jkt?: string | undefined;
  /** Further claims, for audience rules; they cannot replace those above. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

export interface DevIssuer {
  /** `iss` of its tokens: `http://127.0.0.1:{port}`. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** `POST` a DevTokenRequest, get `{access_token, token_type, expires_in}`. */
  readonly tokenUrl: string;
  /** @throws CatalogError BAD_REQUEST/INVALID_BODY for a request that no token can be made of */
  mint(request: DevTokenRequest): string;
  close(): Promise<void>;
}

export interface DevIssuerSettings {
  /** Holds the issuer's keys, mode 0600; created where it does not exist. */
  readonly keyFile: string;
  /** `aud` of its tokens. */
  readonly audience: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

const requestForm = z.strictObject({
  tenant: z.string().refine(isTenant, { error: 'not a tenant id' }),
  subject: z.string().min(1).max(255),
  roles: z.array(z.string().regex(/^[\x21-\x7e]{1,128}$/)).max(100),
  ttlSeconds: z.int().min(1).max(86_400).default(3_600),
  jkt: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/)
    .optional(),
  claims: z.record(z.string(), z.unknown()).optional(),
});

/**
 * @throws CatalogError CONFIG_INVALID/PORT_IN_USE
 * @throws CatalogError CONFIG_INVALID/INVALID_VARIABLE for an unusable key file
 */
export const startDevIssuer = async ({ keyFile, audience, port }: DevIssuerSettings): Promise<DevIssuer> => {
  const keys = await loadKeySet(keyFile);
  let issuer = '';

  const mint = (request: DevTokenRequest): string => {
    const form = requestForm.safeParse(request);
    if (!form.success)
      throw new CatalogError('BAD_REQUEST', 'INVALID_BODY', {
        errors: form.error.issues.map(({ path, message }) => ({ member: path.join('.'), rule: message })),
      });
    const { tenant, subject, roles, ttlSeconds, jkt, claims } = form.data;
    const iat = Math.floor(Date.now() / 1_000);
    return keys.signCompact(
      'at+jwt',
      JSON.stringify({
        ...claims,
        iss: issuer,
        aud: audience,
        sub: subject,
        tenant,
        roles,
        iat,
        exp: iat + ttlSeconds,
        ...(jkt === undefined ? {} : { cnf: { jkt } }),
      }),
    );
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A page in a browser can send requests to loopback: it has an Origin, the CLI has none. The Host is checked
    // against DNS rebinding.
    const foreign = request.headers.origin !== undefined || request.headers.host !== new URL(issuer).host;
    if (foreign) return send(response, 403, { error: 'loopback clients only' });
    if (request.method === 'GET' && request.url === '/jwks.json')
      return send(response, 200, keys.publicJwks());
    if (request.method !== 'POST' || request.url !== '/token')
      return send(response, 404, { error: 'GET /jwks.json or POST /token' });
    try {
      const wanted = JSON.parse(await readBody(request)) as DevTokenRequest;
      const token = mint(wanted);
      send(response, 200, {
        access_token: token,
        token_type: wanted.jkt === undefined ? 'Bearer' : 'DPoP',
        expires_in: wanted.ttlSeconds ?? 3_600,
      });
    } catch (error) {
      if (error instanceof CatalogError)
        return send(response, 400, { error: 'invalid_request', details: error.details });
      send(response, 400, { error: 'invalid_request' });
    }
  };

  const server = createServer((request, response) => void answer(request, response));
  const bound = await listen(server, port);
  issuer = `http://127.0.0.1:${bound}`;
  return {
    issuer,
    jwksUrl: `${issuer}/jwks.json`,
    tokenUrl: `${issuer}/token`,
    mint,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        'code' in cause && cause.code === 'EADDRINUSE'
          ? new CatalogError('CONFIG_INVALID', 'PORT_IN_USE', { what: 'dev issuer', port }, { cause })
          : cause,
      ),
    );
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new CatalogError('BAD_REQUEST', 'TOO_LARGE', { maxBytes: MAX_BODY_BYTES });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
};

function isTenant(text: string): boolean {
  try {
    parseTenantId(text);
    return true;
  } catch {
    return false;
  }
}
