/** The surface that others rely on, with literal values: a change here is a change of the API. */
import { describe, expect, test } from 'vitest';
import { docsPage } from '../../../src/api/docsPage.js';
import { openApiDocument, ROUTES } from '../../../src/api/openApi.js';

const document = openApiDocument('1.2.3');

describe('the document', () => {
  test('has these operations, with these rights', () => {
    expect(ROUTES.map(({ method, path, access }) => `${method} ${path} ${access}`)).toEqual([
      'get /v1/catalogs caller',
      'get /v1/catalogs/{server} caller',
      'get /v1/catalogs/{server}/tools/{id} caller',
      'get /v1/catalogs/{server}/generations/{generation} operator',
      'post /v1/admissions caller',
      'get /v1/receipts caller',
      'get /v1/receipts/{id} caller',
      'post /v1/servers operator',
      'get /v1/servers operator',
      'get /v1/servers/{server} operator',
      'post /v1/servers/{server}/close operator',
      'post /v1/servers/{server}/open operator',
      'post /v1/servers/{server}/discoveries operator',
      'get /v1/discoveries operator',
      'get /v1/discoveries/{id} operator',
      'get /v1/discoveries/{id}/tools operator',
      'post /v1/discoveries/{id}/cancel operator',
      'post /v1/acceptances operator',
      'get /v1/acceptances operator',
      'get /v1/reviews operator',
      'get /v1/reviews/{id} operator',
      'post /v1/reviews/{id} operator',
      'get /v1/catalogs/{server}/diff operator',
      'post /v1/policies operator',
      'get /v1/policies/current operator',
      'post /v1/revocations operator',
      'get /v1/revocations operator',
      'post /v1/revocations/{id}/lift operator',
      'get /.well-known/jwks.json public',
      'get /healthz public',
      'get /readyz public',
      'get /metrics public',
    ]);
  });

  test('names every path parameter, every reference resolves, and every operation has an id of its own', () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      expect(Object.keys(document.components?.schemas ?? {})).toContain(name);
    for (const { method, path } of ROUTES) {
      const operation = document.paths?.[path]?.[method];
      const named = (operation?.parameters ?? []).flatMap((one) =>
        'name' in one && one.in === 'path' ? [one.name] : [],
      );
      expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
    expect(new Set(ROUTES.map(({ id }) => id)).size).toBe(ROUTES.length);
  });

  test('an admission needs a proof and answers what a client reads', () => {
    const admit = document.paths?.['/v1/admissions']?.post;
    expect(admit?.parameters).toContainEqual(
      expect.objectContaining({ name: 'DPoP', in: 'header', required: true }),
    );
    expect(document.components?.schemas?.['Admitted']).toMatchObject({
      required: ['decision', 'lease', 'receipt', 'generation', 'effectClass', 'resource', 'argumentsDigest'],
    });
    expect(document.components?.schemas?.['PlanNode']).toMatchObject({
      required: ['server', 'tool', 'generation', 'descriptor'],
      additionalProperties: false,
    });
  });
});

test('the page escapes what it shows', () => {
  const page = docsPage({ ...document, info: { ...document.info, title: '<img src=x>' } });
  expect(page).not.toContain('<img');
  expect(page).toContain('&lt;img src=x&gt;');
});
