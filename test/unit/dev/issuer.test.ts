import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDpopKey } from '../../../src/client/dpopKey.js';
import { type DevIssuer, startDevIssuer } from '../../../src/dev/issuer.js';
import { epochMs } from '../../../src/domain/ids.js';
import { type CallerVerifier, createCallerVerifier } from '../../../src/keys/callerToken.js';

let folder: string;
let issuer: DevIssuer;
let verifier: CallerVerifier;
const wanted = { tenant: 'acme', subject: 'alice', roles: ['stock-manager'], ttlSeconds: 60 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'genlock-issuer-'));
  issuer = await startDevIssuer({ keyFile: join(folder, 'issuer.json'), audience: 'genlock', port: 0 });
  verifier = createCallerVerifier({
    issuer: issuer.issuer,
    audience: 'genlock',
    jwksUrl: new URL(issuer.jwksUrl),
  });
});
afterAll(async () => {
  await issuer.close();
  await rm(folder, { recursive: true });
});

const post = (
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(issuer.tokenUrl, { method: 'POST', headers }, async (response) => {
      const chunks = await response.toArray();
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks as Buffer[]).toString() });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });

describe('dev issuer', () => {
  it("its tokens verify like any other issuer's, bound to the key that was named", async () => {
    const { jkt } = await createDpopKey();
    const caller = await verifier.verify(issuer.mint({ ...wanted, jkt }), epochMs(Date.now()));
    expect(caller).toMatchObject({ tenant: 'acme', subject: 'alice', roles: ['stock-manager'], jkt });
  });

  it('gives a token over its port', async () => {
    const answer = await post(wanted);
    const { access_token: token, token_type: type } = JSON.parse(answer.body) as Record<string, string>;
    expect(type).toBe('Bearer');
    expect((await verifier.verify(token, epochMs(Date.now()))).subject).toBe('alice');
  });

  it('keeps its keys in a file for its owner only', async () => {
    expect((await stat(join(folder, 'issuer.json'))).mode & 0o777).toBe(0o600);
  });

  it('listens on loopback only', () => {
    expect(new URL(issuer.issuer).hostname).toBe('127.0.0.1');
  });

  it('a page of a browser gets no token', async () => {
    expect((await post(wanted, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('a name that was rebound to loopback gets no token', async () => {
    expect((await post(wanted, { host: 'evil.example' })).status).toBe(403);
  });

  it.each([
    {},
    { ...wanted, tenant: '../x' },
    { ...wanted, ttlSeconds: 0 },
    { ...wanted, jkt: 'x' },
    null,
    'x'.repeat(20_000),
  ])('a request of the wrong form is refused', async (body) => {
    expect((await post(body)).status).toBe(400);
  });

  it('further claims cannot replace those of the request', async () => {
    const token = issuer.mint({ ...wanted, claims: { tenant: 'globex', dept: 'north' } });
    const caller = await verifier.verify(token, epochMs(Date.now()));
    expect(caller.tenant).toBe('acme');
    expect(caller.claims['dept']).toBe('north');
  });

  it('a taken port is a configuration error', async () => {
    const port = Number(new URL(issuer.issuer).port);
    await expect(
      startDevIssuer({ keyFile: join(folder, 'issuer.json'), audience: 'genlock', port }),
    ).rejects.toMatchObject({ code: 'CONFIG_INVALID', reason: 'PORT_IN_USE' });
  });
});
