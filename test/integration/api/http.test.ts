/** The edge itself: what is no request, who is no caller, and what the program tells of itself. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../../src/api/openApi.js';
import { CODES } from '../../../src/domain/errors.js';
import { type ApiFixture, type Person, startApi } from './apiFixture.js';

let api: ApiFixture;
let operator: Person;

beforeAll(async () => {
  api = await startApi();
  operator = await api.person('olga', ['genlock-operator']);
});
afterAll(() => api.stop());

const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${api.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${operator.token}`, ...(init.headers as object) },
  });
  const text = await response.text();
  return {
    response,
    text,
    body: (text.startsWith('{') ? JSON.parse(text) : null) as Record<string, unknown> | null,
  };
};
const post = (path: string, body: string | Uint8Array, type = 'application/json') =>
  ask(path, { method: 'POST', body: body as string, headers: { 'content-type': type } });

describe('RFC 9457 problems', () => {
  test('name code, reason, next and the request, and are not cached', async () => {
    const { response, body } = await ask('/v1/nothing/here');
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      type: 'urn:genlock:error:NOT_FOUND',
      title: CODES.NOT_FOUND.meaning,
      status: 404,
      detail: 'The API has no such path.',
      instance: `urn:uuid:${response.headers.get('x-request-id')}`,
      code: 'NOT_FOUND',
      reason: 'NO_SUCH_ROUTE',
      next: CODES.NOT_FOUND.next,
      retry: false,
      details: {},
    });
  });

  test.each([
    ['GET', '/v1/servers/%E0%A4%A', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/servers/UPPER', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/receipts?limit=0', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/receipts?limit=1&limit=2', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/receipts?colour=red', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/receipts?before=yesterday', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/receipts?before=0000-01-01T00:00:00Z', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/receipts?before=2026-01-01T00:00:00-16:00', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', `/v1/receipts?before=2026-01-01T00:00:00.${'1'.repeat(200)}Z`, 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/v1/catalogs/inventory?after=%00', 'BAD_REQUEST/INVALID_QUERY'],
    ['GET', '/V1/receipts', 'NOT_FOUND/NO_SUCH_ROUTE'],
    ['GET', '/v1/receipts/', 'NOT_FOUND/NO_SUCH_ROUTE'],
    ['DELETE', '/v1/servers', 'NOT_FOUND/NO_SUCH_ROUTE'],
  ])('%s %s is %s', async (method, path, expected) => {
    const { body } = await ask(path, { method });
    expect(`${body?.['code']}/${body?.['reason']}`).toBe(expected);
  });

  const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
  test.each<[string, string | Uint8Array, string, string]>([
    ['no JSON', 'nonsense', 'application/json', 'INVALID_JSON'],
    ['nothing', '', 'application/json', 'INVALID_JSON'],
    ['a key twice', '{"kind":"subject","kind":"server"}', 'application/json', 'INVALID_JSON'],
    ['a lone surrogate', '{"kind":"\\ud800"}', 'application/json', 'INVALID_JSON'],
    ['bad UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'application/json', 'INVALID_JSON'],
    ['100 levels', deep, 'application/json', 'INVALID_JSON'],
    ['20,000 levels', `${'{"c":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 'application/json', 'INVALID_JSON'],
    ['a number that is infinite', '{"kind":1e400}', 'application/json', 'INVALID_JSON'],
    ['a rounded number', '{"kind":9007199254740993}', 'application/json', 'INVALID_BODY'],
    ['a form', 'kind=subject', 'application/x-www-form-urlencoded', 'WRONG_CONTENT_TYPE'],
    ['another charset', '{}', 'application/json; charset=latin1', 'WRONG_CONTENT_TYPE'],
    ['two megabytes', `"${'x'.repeat(2_000_000)}"`, 'application/json', 'TOO_LARGE'],
    ['U+0000', '{"kind":"subject","target":"a\\u0000b","reason":"x"}', 'application/json', 'INVALID_BODY'],
    ['no object', '[]', 'application/json', 'INVALID_BODY'],
    ['a member too many', '{"__proto__":{},"kind":"subject"}', 'application/json', 'INVALID_BODY'],
  ])('a body with %s is refused', async (_, body, type, reason) => {
    expect((await post('/v1/revocations', body, type)).body).toMatchObject({
      status: 400,
      code: 'BAD_REQUEST',
      reason,
    });
  });

  test('a body that is too large without saying so is cut off', async () => {
    const url = new URL(`${api.url}/v1/revocations`);
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        url,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${operator.token}`, 'content-type': 'application/json' },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.on('error', reject);
      for (let chunk = 0; chunk < 20; chunk += 1) sent.write('x'.repeat(100_000));
    });
    expect(status).toBe(400);
  });

  test.each(['0001-01-01T00:00:00+15:59', '9999-12-31T23:59:59.999999-15:59', '2026-01-01T00:00:00Z'])(
    'receipts before %s can be asked for',
    async (before) => {
      expect((await ask(`/v1/receipts?before=${encodeURIComponent(before)}`)).response.status).toBe(200);
    },
  );

  test.each([
    ['of an operator', true, 400, 'TOO_LARGE'],
    ['of nobody', false, 401, 'NO_TOKEN'],
  ])('whoever first sends 10 MB %s and then reads gets the problem', async (_, known, status, reason) => {
    const { hostname, port } = new URL(api.url);
    const body = Buffer.alloc(10_000_000, 'x');
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('end', () => resolve(text));
      socket.pause();
      socket.write(
        [
          'POST /v1/revocations HTTP/1.1',
          `Host: ${hostname}:${port}`,
          'Connection: close',
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
          ...(known ? [`Authorization: Bearer ${operator.token}`] : []),
          '\r\n',
        ].join('\r\n'),
      );
      socket.write(body, () => socket.resume());
    });
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status, reason });
  });

  test('what is wrong is named by member, in the form that was meant', async () => {
    const { body } = await post('/v1/admissions', '{"server":"inventory","tool":"reserve","generation":1}');
    expect(body?.['details']).toEqual({
      errors: [
        { member: 'tool', rule: 'namespace.name@contractVersion' },
        { member: 'descriptor', rule: expect.any(String) },
      ],
    });
    const plan = await post('/v1/admissions', '{"nodes":[{"server":"inventory"}]}');
    expect(plan.body?.['details']).toMatchObject({
      errors: [
        { member: 'nodes.0.tool' },
        { member: 'nodes.0.generation' },
        { member: 'nodes.0.descriptor' },
      ],
    });
  });
});

describe('callers', () => {
  test.each<[string, string | undefined, string]>([
    ['no header', undefined, 'NO_TOKEN'],
    ['another scheme', 'Basic b2xnYTpwdw==', 'NO_TOKEN'],
    ['no JWT', 'Bearer x', 'MALFORMED'],
  ])('%s is refused before anything is read', async (_, authorization, reason) => {
    const response = await fetch(`${api.url}/v1/servers`, {
      headers: { ...(authorization && { authorization }) },
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('Bearer error="invalid_token"');
    expect(await response.json()).toMatchObject({ code: 'UNAUTHENTICATED', reason });
  });

  test('RFC 9449 a bound token on an operator route is worth what its proof is, and the problem says what is wrong', async () => {
    const bound = await api.person('olga', ['genlock-operator'], { bound: true });
    const other = await api.person('eve', []);
    const url = `${api.url}/v1/servers`;
    const prove = (more: object = {}, person: Person = bound) =>
      person.key.prove({ method: 'GET', url, accessToken: bound.token, ...more });
    for (const [proof, reason] of [
      [undefined, 'MISSING'],
      ['x.y.z', 'MALFORMED'],
      [`${await prove()}, ${await prove()}`, 'MALFORMED'],
      [await prove({ method: 'POST' }), 'WRONG_TARGET'],
      [await prove({ url: `${api.url}/v1/revocations` }), 'WRONG_TARGET'],
      [await prove({ accessToken: operator.token }), 'WRONG_TOKEN'],
      [await prove({}, other), 'KEY_MISMATCH'],
    ] as const) {
      const response = await fetch(url, {
        headers: { authorization: `DPoP ${bound.token}`, ...(proof !== undefined && { dpop: proof }) },
      });
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('www-authenticate')).toContain('DPoP error="invalid_dpop_proof"');
      expect(await response.json()).toMatchObject({
        status: 401,
        code: 'PROOF_INVALID',
        reason,
        next: expect.stringContaining('DPoP'),
      });
    }
    expect((await bound.client.servers()).length).toBeGreaterThanOrEqual(0);
    const { text } = await ask('/metrics');
    expect(text).toMatch(/genlock_unauthenticated_total\{reason="KEY_MISMATCH"\} 1/);
  });

  test('R1 what is refused before a caller is known is counted', async () => {
    const { text } = await ask('/metrics');
    expect(text).toMatch(/genlock_unauthenticated_total\{reason="NO_TOKEN"\} [1-9]/);
    expect(text).toMatch(
      /genlock_http_request_duration_seconds_count\{method="GET",route="\/v1\/servers",status="401"\}/,
    );
    expect(text).not.toContain(api.tenant);
  });

  test('every route but the public ones wants a caller', async () => {
    for (const { method, path, access } of ROUTES.filter((route) => route.access !== 'public')) {
      const response = await fetch(`${api.url}${path.replaceAll(/\{\w+\}/g, 'x')}`, {
        method: method.toUpperCase(),
      });
      expect([access, path, response.status]).toEqual([access, path, 401]);
    }
  });
});

describe('the program', () => {
  test('is alive, and says which part is not ready without saying why', async () => {
    expect((await ask('/healthz')).body).toEqual({ status: 'ok' });
    const { response, text, body } = await ask('/readyz');
    expect(response.status).toBe(503);
    expect(body).toEqual({ status: 'notReady', parts: { database: 'ready', broken: 'notReady' } });
    expect(text).not.toContain('secret driver text');
    expect(api.log.some(({ fields }) => fields['part'] === 'broken')).toBe(true);
  });

  test('publishes public keys only', async () => {
    const { body, text } = await ask('/.well-known/jwks.json');
    expect(body?.['keys']).toHaveLength(1);
    expect(text).not.toContain('"d"');
  });

  test('describes every route in its document, and shows it on a page that runs and loads nothing', async () => {
    const { body } = await ask('/openapi.json');
    expect(body?.['openapi']).toBe('3.1.0');
    const paths = body?.['paths'] as Record<string, Record<string, { operationId: string }>>;
    for (const route of ROUTES) expect(paths[route.path]?.[route.method]?.operationId).toBe(route.id);

    const { response, text } = await ask('/docs');
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';style-src 'sha256-/);
    expect(text).not.toMatch(/<script|src=|https?:\/\//);
    for (const route of ROUTES) expect(text).toContain(`id="${route.id}"`);
  });
});
