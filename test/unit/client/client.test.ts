/** The client against a server that answers what a test wants, over real HTTP. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import { createClient, GenlockProblem, GenlockUnreachable, NotGenlock } from '../../../src/client/client.js';
import { createDpopKey } from '../../../src/client/dpopKey.js';

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokenOf = (claims: object) => `${encode({ alg: 'ES256' })}.${encode(claims)}.c2ln`;
const bearer = tokenOf({ sub: 'alice' });

interface Seen {
  readonly request: IncomingMessage;
  readonly body: string;
}
let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const serve = async (status: number, body: string, headers: Record<string, string> = {}) => {
  const seen: Seen[] = [];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push({ request, body: Buffer.concat(chunks).toString() });
    response.writeHead(status, headers).end(body);
  });
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return { seen, baseUrl: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` };
};
const node = { server: 'inventory', tool: 'inventory.reserve@1', generation: 1, descriptor: 'd' };

describe('what is sent', () => {
  test('an admission carries a proof for this very request, made anew each time', async () => {
    const { seen, baseUrl } = await serve(201, '{"decision":"ALLOWED"}');
    const key = await createDpopKey();
    const client = createClient({ baseUrl: `${baseUrl}/`, token: bearer, key });
    await client.admit({ ...node, arguments: { sku: 'A' } });
    await client.admit(node);
    const proofs = seen.map(({ request }) => String(request.headers['dpop']));
    const [claims] = proofs.map(decodeJwt);
    expect(claims).toMatchObject({ htm: 'POST', htu: `${baseUrl}/v1/admissions` });
    expect(decodeProtectedHeader(proofs[0] ?? '')['typ']).toBe('dpop+jwt');
    expect(proofs[0]).not.toBe(proofs[1]);
    expect(seen[0]?.request.headers.authorization).toBe(`Bearer ${bearer}`);
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([{ ...node, arguments: { sku: 'A' } }, node]);
  });

  test('a bound token goes with the scheme DPoP and a proof on every route; another one without', async () => {
    const { seen, baseUrl } = await serve(200, '{"receipts":[]}');
    const key = await createDpopKey();
    const bound = tokenOf({ sub: 'alice', cnf: { jkt: key.jkt } });
    await createClient({ baseUrl, token: async () => bound, key }).receipts({ limit: 5 });
    await createClient({ baseUrl, token: bearer, key }).receipts();
    const [first, second] = seen.map(({ request }) => request);
    expect(first?.headers.authorization).toBe(`DPoP ${bound}`);
    expect(first?.url).toBe('/v1/receipts?limit=5');
    expect(decodeJwt(String(first?.headers['dpop']))).toMatchObject({ htu: `${baseUrl}/v1/receipts` });
    expect(second?.headers['dpop']).toBeUndefined();
  });

  test('names in a path are encoded, and the key set is asked for without a token', async () => {
    const { seen, baseUrl } = await serve(200, '{}');
    const client = createClient({ baseUrl, token: bearer });
    await client.tool('inventory', 'inventory.a/b?c@1');
    await client.jwks();
    expect(seen[0]?.request.url).toBe('/v1/catalogs/inventory/tools/inventory.a%2Fb%3Fc%401');
    expect(seen[1]?.request.headers.authorization).toBeUndefined();
  });
});

describe('what comes back', () => {
  test('a catalog with its tag, and null where it is the same', async () => {
    const one = await serve(200, '{"generation":3}', { etag: '"3-x"' });
    expect(await createClient({ baseUrl: one.baseUrl, token: bearer }).catalog('inventory')).toEqual({
      generation: 3,
      etag: '"3-x"',
    });
    server?.close();
    const two = await serve(304, '');
    const client = createClient({ baseUrl: two.baseUrl, token: bearer });
    expect(await client.catalog('inventory', { etag: '"3-x"' })).toBeNull();
    expect(two.seen[0]?.request.headers['if-none-match']).toBe('"3-x"');
  });

  test('a problem becomes an error with code, reason, next and the receipt', async () => {
    const problem = {
      status: 409,
      code: 'STALE_CATALOG',
      reason: 'TOOL_REMOVED',
      detail: 'Gone.',
      next: 'Plan again.',
      retry: false,
      instance: 'urn:uuid:r-1',
      details: { activeGeneration: 2 },
      receipt: { id: 'x', jws: 'a.b.c' },
    };
    const { baseUrl } = await serve(409, JSON.stringify(problem));
    const error = await createClient({ baseUrl, token: bearer })
      .admit(node)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GenlockProblem);
    expect(error).toMatchObject({
      message: 'STALE_CATALOG/TOOL_REMOVED: Gone.',
      status: 409,
      code: 'STALE_CATALOG',
      reason: 'TOOL_REMOVED',
      next: 'Plan again.',
      requestId: 'r-1',
      details: { activeGeneration: 2 },
      receipt: { id: 'x', jws: 'a.b.c' },
    });
  });

  test('no answer, another program and a redirect are not Genlock', async () => {
    const gone = await serve(200, '{}');
    server?.close();
    await expect(createClient({ baseUrl: gone.baseUrl, token: bearer }).servers()).rejects.toThrow(
      GenlockUnreachable,
    );
    const proxy = await serve(502, '<html>bad gateway</html>');
    await expect(createClient({ baseUrl: proxy.baseUrl, token: bearer }).servers()).rejects.toThrow(
      GenlockUnreachable,
    );
    server?.close();
    const { baseUrl } = await serve(302, '', { location: 'http://127.0.0.1:1/' });
    await expect(createClient({ baseUrl, token: bearer }).servers()).rejects.toThrow(GenlockUnreachable);
  });

  test('a program that answers with no JSON, or refuses with no code, is told to be another one', async () => {
    for (const status of [200, 404]) {
      const { baseUrl } = await serve(status, '<!doctype html>');
      const error: unknown = await createClient({ baseUrl, token: bearer })
        .servers()
        .catch((one) => one);
      server?.close();
      expect(error).toBeInstanceOf(NotGenlock);
      expect(error).toMatchObject({ url: baseUrl, message: expect.stringContaining(baseUrl) });
    }
  });
});
