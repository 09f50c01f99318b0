/** The OpenAPI 3.1 document, from the same schemas that validate requests. */
import { OpenAPIRegistry, OpenApiGeneratorV31, type ResponseConfig } from '@asteasolutions/zod-to-openapi';
import type { z } from 'zod';
import { PROBLEM_TYPE } from './problem.js';
import type { Route } from './route.js';
import { acceptanceRoutes } from './routes/acceptances.js';
import { admissionRoutes } from './routes/admissions.js';
import { catalogRoutes } from './routes/catalogs.js';
import { discoveryRoutes } from './routes/discoveries.js';
import { policyRoutes } from './routes/policies.js';
import { receiptRoutes } from './routes/receipts.js';
import { reviewRoutes } from './routes/reviews.js';
import { revocationRoutes } from './routes/revocations.js';
import { serverRoutes } from './routes/servers.js';
import { systemRoutes } from './routes/system.js';
import { dpopHeader, problem } from './schemas.js';

/** In the order in which a reader meets them. */
export const ROUTES: readonly Route[] = [
  ...catalogRoutes,
  ...admissionRoutes,
  ...receiptRoutes,
  ...serverRoutes,
  ...discoveryRoutes,
  ...acceptanceRoutes,
  ...reviewRoutes,
  ...policyRoutes,
  ...revocationRoutes,
  ...systemRoutes,
];

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

/** @param version of the program */
export const openApiDocument = (version: string): OpenApiDocument => {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'caller', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      "A token of the operator's issuer. One that is bound to a key (cnf.jkt) is sent with the scheme DPoP and a proof in the DPoP header (RFC 9449).",
  });
  for (const route of ROUTES) registry.registerPath(pathOf(route));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Genlock',
      version,
      description:
        'Is this tool list complete, and of one generation? Is it the accepted one? May this call be made, now, by this subject?',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
  });
};

type PathConfig = Parameters<OpenAPIRegistry['registerPath']>[0];

const pathOf = (route: Route): PathConfig => {
  const description = [
    route.description,
    route.access === 'operator' ? 'Needs the role `genlock-operator`.' : undefined,
  ].filter((part) => part !== undefined);
  return {
    method: route.method,
    path: route.path,
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(description.length > 0 && { description: description.join(' ') }),
    security: route.access === 'public' ? [] : [{ caller: [] }],
    request: requestOf(route),
    responses: responsesOf(route),
  };
};

const requestOf = ({ params, query, body, readsProof }: Route): NonNullable<PathConfig['request']> => ({
  ...(params !== undefined && { params: params as z.ZodObject }),
  ...(query !== undefined && { query: query as z.ZodObject }),
  ...(readsProof === true && { headers: dpopHeader }),
  ...(body !== undefined && { body: { required: true, content: { 'application/json': { schema: body } } } }),
});

const responsesOf = ({ responses, access }: Route): Record<string, ResponseConfig> => {
  const documented = Object.entries(responses).map(([status, { description, schema, type }]) => [
    status,
    {
      description,
      ...(schema !== undefined && { content: { [type ?? 'application/json']: { schema } } }),
    },
  ]);
  const failed = {
    description: 'A problem (RFC 9457); docs/errors.md lists every code with its reasons',
    content: { [PROBLEM_TYPE]: { schema: problem } },
  };
  return { ...Object.fromEntries(documented), ...(access !== 'public' && { default: failed }) };
};
