/** What `genlock start` says once everything is up. */
import { expect, test } from 'vitest';
import { type Addresses, upText } from '../../../src/dev/runStart.js';

const addresses: Addresses = {
  apiUrl: 'http://127.0.0.1:8080',
  temporal: { address: '127.0.0.1:7233', uiUrl: 'http://127.0.0.1:8233' },
  tokenUrl: 'http://127.0.0.1:8081/token',
  inventory: { url: 'http://127.0.0.1:8090/mcp', adminUrl: 'http://127.0.0.1:8090' },
  state: 'state folder/start',
};

test('names every address, and a command that asks for a token in a form that the issuer reads', () => {
  const text = upText(addresses);
  for (const part of [
    'http://127.0.0.1:8080/docs',
    'http://127.0.0.1:8233',
    '127.0.0.1:7233',
    'POST http://127.0.0.1:8090/admin/change',
    'state folder/start',
  ])
    expect(text).toContain(part);
  const body = /curl -s http:\/\/127\.0\.0\.1:8081\/token -d '(.*)'/.exec(text)?.[1] ?? '';
  expect(JSON.parse(body)).toEqual({ tenant: 'demo', subject: 'me', roles: ['genlock-operator'] });
});

test("names no UI where Temporal is somebody else's", () => {
  const text = upText({ ...addresses, temporal: { ...addresses.temporal, uiUrl: null } });
  expect(text).not.toContain('Temporal UI');
  expect(text).toContain('127.0.0.1:7233');
});
