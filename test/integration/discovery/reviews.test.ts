/** V6 from a server's change to the review: promoted by the scan that found it, with that tool held. */
import { expect, test } from 'vitest';
import { at, type BentList, serveList, tool } from './bentLists.js';
import { ownKey, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

test('V6 a reworded tool is promoted and waits for a review; other spellings of the same list change nothing', async () => {
  const list = (counter: number, ...tools: object[]): BentList => ({ pages: [tools], revision: at(counter) });
  const state = { list: list(1, tool('ship', { description: 'Ships' }), tool('count')) };
  const server = await stack.bent({ list: serveList(() => state.list) });
  const key = ownKey();
  await stack.register(key, server.url);
  const openReviews = async () =>
    (await stack.operator.listReviews(key.tenant, { server: key.server, limit: 10 })).map(
      ({ name, changed, generation, state: decided }) => [name, changed, generation, decided],
    );
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
  expect(await openReviews()).toEqual([]);

  state.list = list(2, tool('ship', { description: 'Ships at once' }), tool('count'));
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
  expect(await openReviews()).toEqual([['ship', ['text'], 2, 'pending']]);

  const turned = Object.fromEntries(Object.entries(tool('ship', { description: 'Ships at once' })).reverse());
  state.list = { pages: [[tool('count')], [turned]], revision: at(2) };
  expect(await stack.discover(key)).toMatchObject({ state: 'RETIRED', reason: 'UNCHANGED' });
  state.list = { pages: [[turned], [tool('count')]], revision: at(3) };
  expect(await stack.discover(key)).toMatchObject({ state: 'RETIRED', reason: 'UNCHANGED' });
  expect(await openReviews()).toEqual([['ship', ['text'], 2, 'pending']]);
});

test('V6 a server that goes back to its first text, while a new policy binds the second, does not get past the review', async () => {
  const state = { list: { pages: [[tool('ship', { description: 'First' })]], revision: at(1) } as BentList };
  const server = await stack.bent({ list: serveList(() => state.list) });
  const key = ownKey();
  await stack.register(key, server.url);
  const shownIn = async () => {
    const [review] = await stack.operator.listReviews(key.tenant, { server: key.server, limit: 10 });
    const detail = review && (await stack.operator.readReview(key.tenant, review.id));
    return [detail?.before, detail?.after].map((text) => JSON.parse(text ?? '{}').description);
  };
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
  state.list = { pages: [[tool('ship', { description: 'Second' })]], revision: at(2) };
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
  expect(await shownIn()).toEqual(['First', 'Second']);

  await stack.publishPolicy();
  state.list = { pages: [[tool('ship', { description: 'First' })]], revision: at(3) };
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
  expect(await shownIn()).toEqual(['Second', 'First']);
});
