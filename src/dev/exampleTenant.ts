/** The tenant of the examples: its operator and its agent, its policy, and the servers that it registers. */
import { join } from 'node:path';
import { createClient, type GenlockClient, GenlockProblem } from '../client/client.js';
import { createDpopKey, type DpopKey } from '../client/dpopKey.js';
import type { ServerRegistration } from '../client/types.js';
import { packageRoot } from '../packageRoot.js';
import { bundleDigest } from '../policy/bundle.js';
import { readBundle } from '../policy/readBundle.js';
import { EXAMPLE_TENANT } from './exampleServers.js';
import type { Stack } from './stack.js';

const TTL_SECONDS = 3_600;

const tokenOf = (stack: Stack, subject: string, roles: readonly string[], key: DpopKey | null): string =>
  stack.issuer.mint({
    tenant: EXAMPLE_TENANT,
    subject,
    roles,
    ttlSeconds: TTL_SECONDS,
    ...(key === null ? {} : { jkt: key.jkt }),
  });

export interface ExampleTenant {
  readonly operator: GenlockClient;
  readonly policyEpoch: number;
}

/** Publishes examples/policy where it is not the current bundle, and registers the servers. */
export const publishExamples = async (
  stack: Stack,
  registrations: readonly ServerRegistration[],
): Promise<ExampleTenant> => {
  const operatorToken = tokenOf(stack, 'operator@example', ['genlock-operator'], null);
  const operator = createClient({ baseUrl: stack.apiUrl, token: operatorToken });
  const bundle = await readBundle(join(packageRoot(), 'examples', 'policy'));
  const current = await currentPolicy(operator);
  const policyEpoch =
    current !== null && current.digest === bundleDigest(bundle)
      ? current.epoch
      : (await operator.publishPolicy(bundle, current?.epoch ?? 0)).epoch;
  for (const registration of registrations) await operator.registerServer(registration);
  return { operator, policyEpoch };
};

/** null where no epoch is published yet. */
const currentPolicy = async (
  operator: GenlockClient,
): Promise<Awaited<ReturnType<GenlockClient['policy']>> | null> => {
  try {
    return await operator.policy();
  } catch (error) {
    if (error instanceof GenlockProblem && error.reason === 'NO_POLICY') return null;
    throw error;
  }
};

/** An agent with the role that examples/policy permits `inventory.reserve@1` to, and a key of its own. */
export const createExampleAgent = async (stack: Stack): Promise<GenlockClient> => {
  const key = await createDpopKey();
  return createClient({
    baseUrl: stack.apiUrl,
    token: tokenOf(stack, 'agent-7@example', ['stock-manager'], key),
    key,
  });
};
