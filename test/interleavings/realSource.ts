/** A round's source as an MCP server on loopback: every answer is the scripted source's, as bytes. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { IDENTITY_SCHEMA } from '../../src/domain/snapshot.js';
import { endpointDigest, identityDigest } from '../../src/proof/identity.js';
import { spkiDigest } from '../../src/sources/tlsEvidence.js';
import { selfSignedCertificate, type TestCertificate } from '../fixtures/selfSignedCertificate.js';
import type { Attempt } from './attempt.js';
import type { Page, Stamp } from './history.js';
import type { World } from './world.js';

/** Who asks: the step that the next request belongs to. */
export interface Asking {
  readonly attempt: Attempt;
  readonly part: 'page' | 'tail';
}

export interface Served {
  world: World | null;
  asking: Asking | null;
}

const SESSION = 'mcp-session-id';
const INVALID_PARAMS = -32602;

const stampOf = (stamp: Stamp): Record<string, unknown> =>
  stamp === null
    ? {}
    : 'token' in stamp
      ? { _meta: { 'dev.genlock/snapshotToken': stamp.token } }
      : { _meta: { 'dev.genlock/catalogRevision': stamp } };

const resultOf = ({ tools, next, stamp }: Page): unknown => ({
  tools: tools.map(({ name, version }) => ({
    name,
    description: `v${version}`,
    inputSchema: { type: 'object' },
  })),
  ...(next === undefined ? {} : { nextCursor: next }),
  ...stampOf(stamp),
});

const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '0' },
};

const readJson = async (
  request: IncomingMessage,
): Promise<{ method?: string; id?: unknown; params?: { cursor?: string } }> => {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
};

const answer = async (served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const send = (status: number, body?: unknown, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };
  if (request.method !== 'POST') return send(request.method === 'DELETE' ? 200 : 405);
  const { method, id, params } = await readJson(request);
  const message = { jsonrpc: '2.0', id };
  if (served.world === null) return send(503);
  const { source } = served.world;
  if (method === 'initialize') {
    const session = source.openSession();
    return send(
      200,
      { ...message, result: initialized },
      session === null ? {} : { [SESSION]: String(session) },
    );
  }
  if (method !== 'tools/list') return send(202);
  const session = request.headers[SESSION];
  const said = source.answer(params?.cursor, session === undefined ? null : Number(session));
  served.asking?.attempt.answered(served.asking.part, said);
  if (said.kind === 'page') return send(200, { ...message, result: resultOf(said.page) });
  switch (said.what) {
    case 'CURSOR_EXPIRED':
      return send(200, { ...message, error: { code: INVALID_PARAMS, message: 'no such cursor' } });
    case 'SESSION_LOST':
      return send(404);
    case 'UPSTREAM_ERROR':
      return send(503);
  }
};

const listen = async (server: Server | TlsServer): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const stop = async (server: Server | TlsServer): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
};

export interface RealSource {
  readonly url: string;
  /** What a client must trust; undefined without TLS. */
  readonly certificates: Readonly<Record<'a' | 'b', TestCertificate>> | undefined;
  /** Shows the key of the identity that the source has now. */
  follow(): void;
  close(): Promise<void>;
}

export interface RealSources {
  /** @param keyed whether its identity changes, and so is a TLS key */
  open(name: string, served: Served, keyed: boolean): Promise<RealSource>;
  close(): Promise<void>;
}

/** One server for all rounds whose identity never changes; those with TLS have one each, since a key is the server's. */
export const openRealSources = async (): Promise<RealSources> => {
  // Of two authorities with one name only the first is looked at.
  const certificates = { a: selfSignedCertificate('key a'), b: selfSignedCertificate('key b') };
  const byPath = new Map<string, Served>();
  const listener =
    (find: (path: string) => Served | undefined): RequestListener =>
    (request, response) => {
      response.on('error', () => undefined);
      const served = find(request.url ?? '');
      if (served === undefined) response.writeHead(404).end();
      else answer(served, request, response).catch(() => response.destroy());
    };
  const plain = createServer(listener((path) => byPath.get(path)));
  const plainPort = await listen(plain);
  return {
    close: () => stop(plain),
    open: async (name, served, keyed) => {
      if (!keyed) {
        const path = `/${name}/mcp`;
        byPath.set(path, served);
        return {
          url: `http://127.0.0.1:${plainPort}${path}`,
          certificates: undefined,
          follow: () => undefined,
          close: async () => void byPath.delete(path),
        };
      }
      const server = createTlsServer(
        certificates.a,
        listener(() => served),
      );
      // Each answer by a connection of its own, so that each shows the key of its moment.
      server.keepAliveTimeout = 1;
      server.maxRequestsPerSocket = 1;
      const port = await listen(server);
      return {
        url: `https://127.0.0.1:${port}/mcp`,
        certificates,
        follow: () =>
          server.setSecureContext(served.world?.source.identity !== 'b' ? certificates.a : certificates.b),
        close: () => stop(server),
      };
    },
  };
};

/** D8: the identity that Genlock sees while the source shows the key of this name. */
export const identityOf = ({ url, certificates }: RealSource, name: 'a' | 'b') =>
  identityDigest({
    schema: IDENTITY_SCHEMA,
    kind: 'mcp-http',
    endpoint: endpointDigest({ transport: 'http', url }),
    spki: certificates === undefined ? null : spkiDigest(Buffer.from(certificates[name].cert)),
    artifact: null,
  });
