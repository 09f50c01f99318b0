/** V6 for a tool id as policy permits it: in every audience of its server, and whatever texts it had before the permit. */
import { expect, test } from 'vitest';
import type { Person } from '../api/apiFixture.js';
import { bundle } from '../api/examplePolicy.js';
import { promoteTools, tool } from '../api/promoteTools.js';
import { api, args, manager, operator, useAdmission } from './admissionFixture.js';

useAdmission();

const MANAGERS = 'warehouse.policy-1';
const VIEWERS = 'viewer.policy-1';

const serverOf = async (name: string) => {
  await operator.client.registerServer({
    name,
    namespace: name,
    source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
    audiences: { [MANAGERS]: 'none', [VIEWERS]: 'none' },
    refreshSeconds: 0,
  });
  let counter = 0;
  /** @returns what a person's admission of the tool is answered with */
  return async (description: string, audience: string = MANAGERS) => {
    counter += 1;
    const { generation, tools } = await promoteTools(api.scans, {
      tenant: api.tenant,
      server: name,
      audience,
      tools: [tool('reserve', { description })],
      classes: { reserve: 'RESERVATION' },
      counter,
    });
    const { id = '', descriptor = '' } = tools['reserve'] ?? {};
    const node = { server: name, tool: id, descriptor, generation, arguments: args };
    return async (person: Person): Promise<string> => {
      const answer = await person.client.admitPlan([node]);
      const [one] = answer;
      if (one === undefined) throw new Error('no answer');
      return one.decision === 'REFUSED' ? `${one.code}/${one.reason}` : one.decision;
    };
  };
};
const permit = async (id: string): Promise<void> => {
  const plain = bundle([]);
  await operator.client.publishPolicy({
    ...plain,
    tools: { ...plain.tools, [id]: { effectClass: 'RESERVATION', resource: 'stock/{/sku}' } },
    permits: [{ id: 'all', roles: ['stock-manager', 'stock-viewer'], tools: [id], modes: ['autonomous'] }],
  });
};

test('V6 S2 a text that only a second audience is served is held under the id that the permit names', async () => {
  const viewer = await api.person('victor', ['stock-viewer']);
  const promote = await serverOf('shared');
  await permit('shared.reserve@1');
  const forManagers = await promote('Reserves');
  expect(await forManagers(manager)).toBe('ALLOWED');
  const forViewers = await promote('Reserves, and pays first', VIEWERS);
  expect(await forViewers(viewer)).toBe('REVIEW_REQUIRED/TEXT_CHANGED');
  expect(await forManagers(manager)).toBe('REVIEW_REQUIRED/TEXT_CHANGED');

  const { reviews } = await operator.client.reviews({ server: 'shared' });
  const ofManagers = reviews.find(({ audience }) => audience === MANAGERS);
  await operator.client.decideReview(ofManagers?.id ?? '', 'accept', 'as it was');
  expect(await forManagers(manager)).toBe('ALLOWED');
  expect(await forViewers(viewer)).toBe('REVIEW_REQUIRED/TEXT_CHANGED');
  expect(await (await promote('Reserves', VIEWERS))(viewer)).toBe('ALLOWED');
});

test('V6 the first text of an id is held too, where the permit came after another one', async () => {
  const promote = await serverOf('flipping');
  await promote('Pays first');
  await promote('Reserves');
  await permit('flipping.reserve@1');
  const flipped = await promote('Pays first');
  expect(await flipped(manager)).toBe('REVIEW_REQUIRED/TEXT_CHANGED');
  const honest = await promote('Reserves');
  expect(await honest(manager)).toBe('REVIEW_REQUIRED/TEXT_CHANGED');
  const [review] = (await operator.client.reviews({ server: 'flipping', state: 'pending' })).reviews;
  await operator.client.decideReview(review?.id ?? '', 'accept', 'this is the one');
  expect(await honest(manager)).toBe('ALLOWED');
  expect(await (await promote('Pays first'))(manager)).toBe('REVIEW_REQUIRED/TEXT_CHANGED');
});
