/** P5: what a refresh that fails leaves behind it: the old generation, while it is fresh, and not a moment longer. */
import { expect, test } from 'vitest';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { type Digest, epochMs } from '../../src/domain/ids.js';
import { parseBundle } from '../../src/policy/bundle.js';
import { compilePolicy } from '../../src/policy/compilePolicy.js';
import { createPolicies } from '../../src/usecases/policies.js';
import { createCatalogReader } from '../../src/usecases/readCatalog.js';
import { useFaults } from './expectations.js';

const stack = useFaults();

/** What a stock manager reads at that time: the generation, or the code of the refusal. */
const readAt = async ({ tenant, server }: DiscoveryKey, now: number): Promise<unknown> => {
  const language = {
    compile: (text: string, epoch: number) => compilePolicy(parseBundle(JSON.parse(text)), epoch),
  };
  const reader = createCatalogReader({
    store: stack.api,
    policies: createPolicies(stack.api, language),
    now: () => epochMs(now),
  });
  const caller = {
    tenant,
    subject: 'mara',
    roles: ['stock-manager'],
    claims: { roles: ['stock-manager'] },
    tokenDigest: 'unused' as Digest,
    jkt: null,
    expiresAt: epochMs(now + 1),
  };
  try {
    const answer = await reader.catalog(caller, server, { after: '', limit: 10 });
    return answer.kind === 'catalog' ? answer.catalog.generation : answer.kind;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('P5 what serves is not renewed by a refresh that fails, and serves nobody past its freshness', async () => {
  await stack.publishPolicy();
  const begun = await stack.begin(await stack.scripted());
  const freshUntil = begun.before.served?.freshUntil ?? 0;
  const fault = { reason: 'AUTH_REFUSED', evidence: { page: 1 } } as const;
  await stack.expectFault(begun, fault, { page: 1, status: 401, visit: 'each' });
  expect(await readAt(begun.key, freshUntil - 1)).toBe(1);
  expect(await readAt(begun.key, freshUntil)).toBe('STALE_CATALOG');
  // A refresh that finds it unchanged renews it.
  await begun.catalog.mend();
  expect(await stack.discover(begun.key)).toMatchObject({ reason: 'UNCHANGED', generation: 1 });
  expect(await readAt(begun.key, freshUntil)).toBe(1);
});
