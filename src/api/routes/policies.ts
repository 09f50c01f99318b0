/** The policy in force: one reviewed bundle under one epoch (P1). */
import { CatalogError } from '../../domain/errors.js';
import { publishPolicy } from '../../usecases/publishPolicy.js';
import { json, type Route, route } from '../route.js';
import { discoveryStart, jsonValue, text, z } from '../schemas.js';

const MAX_BUNDLE = 16 * 1024 * 1024;

const publish = route({
  method: 'post',
  path: '/v1/policies',
  id: 'publishPolicy',
  tag: 'Policies',
  summary: 'Publish a bundle as the next epoch',
  description:
    'In force from the answer on. The active content of every server is bound to it again by a discovery; until then its effectful tools are not callable.',
  access: 'operator',
  maxBody: MAX_BUNDLE,
  body: z
    .strictObject({
      bundle: jsonValue.openapi({ description: 'policyBundle.v1: audiences, tools and permits.' }),
      expectedEpoch: z.int().min(0).optional().openapi({
        description: 'The epoch that the reviewer saw in force, 0 for none. Left out: the current one.',
      }),
    })
    .openapi('PolicyPublication'),
  responses: {
    201: {
      description: 'In force',
      schema: z.object({ epoch: z.int(), digest: text, receipt: text, rebinding: z.array(discoveryStart) }),
    },
  },
  handle: async ({ caller, body, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    const deps = { ...services, store: services.operatorStore };
    return json(201, await publishPolicy(deps, operator, body.bundle, body.expectedEpoch));
  },
});

const current = route({
  method: 'get',
  path: '/v1/policies/current',
  id: 'readPolicy',
  tag: 'Policies',
  summary: 'The bundle in force',
  access: 'operator',
  responses: {
    200: { description: 'The bundle', schema: z.object({ epoch: z.int(), digest: text, bundle: jsonValue }) },
  },
  handle: async ({ caller }, { operatorStore }) => {
    const found = await operatorStore.readPolicyBundle(caller.tenant, null);
    if (found === null) throw new CatalogError('POLICY_DENIED', 'NO_POLICY');
    const { epoch, digest, bundle } = found;
    return json(200, { epoch, digest, bundle: JSON.parse(bundle) });
  },
});

export const policyRoutes: readonly Route[] = [publish, current];
