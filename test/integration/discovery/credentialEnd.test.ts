/**
 * S6 P5: a credential that states its own end, and is past it. Many servers then show a short list of sign-in tools, and no
 * refusal: so nothing is asked with it.
 */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { at, type BentList, serveList, tool } from './bentLists.js';
import { ownKey, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

/** A token that ends so many seconds from now, as a JWT says it. */
const token = (seconds: number) => {
  const exp = Math.ceil(Date.now() / 1_000) + seconds;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ exp })}`;
  const signature = createHmac('sha256', 'a test').update(signed).digest('base64url');
  return { text: `${signed}.${signature}`, expired: new Date(exp * 1_000).toISOString() };
};
const real: BentList = {
  pages: [[tool('post_message')], [tool('list_channels'), tool('search')]],
  revision: at(7),
};

/** A server that promoted `real`, with a credential under a name of its own. */
const signedIn = async () => {
  const state = { list: real, afterPage: (): void => undefined };
  const server = await stack.bent({
    list: async (b) => {
      await serveList(() => state.list)(b);
      if (b.cursor !== undefined) state.afterPage();
    },
  });
  const key = ownKey();
  const variable = `GENLOCK_CREDENTIAL_ACME_${key.server.toUpperCase().replaceAll('-', '_')}`;
  stack.secrets.set(variable, token(3_600).text);
  const audiences = { [key.audience]: { kind: 'reference', reference: `env:${variable}` } } as const;
  await stack.register(key, server.url, { audiences });
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1, tools: 3 });
  const active = await stack.store.active(key);
  return { key, state, server, variable, active };
};

test.concurrent('S6 with a credential that is past its own end nothing is asked: CREDENTIAL_EXPIRED', async () => {
  const { key, state, server, variable, active } = await signedIn();
  state.list = { pages: [[tool('authenticate'), tool('complete_authentication')]], revision: at(8) };
  const { text, expired } = token(-10);
  stack.secrets.set(variable, text);
  const asked = server.seen.length;
  expect(await stack.discover(key)).toMatchObject({
    state: 'INCOMPLETE',
    reason: 'CREDENTIAL_EXPIRED',
    evidence: { pages: 0, expired },
  });
  expect(server.seen).toHaveLength(asked);
  expect(await stack.store.active(key)).toEqual(active);
});

test.concurrent('S6 one that has ended by the time of the tail binds no pages', async () => {
  const { key, state, server, variable, active } = await signedIn();
  state.list = { ...real, revision: at(8) };
  const { text, expired } = token(-10);
  state.afterPage = () => void stack.secrets.set(variable, text);
  const lists = () => server.seen.filter((method) => method === 'tools/list').length;
  const before = lists();
  expect(await stack.discover(key)).toMatchObject({
    state: 'INCOMPLETE',
    reason: 'CREDENTIAL_EXPIRED',
    evidence: { pages: 2, expired },
  });
  expect(lists() - before).toBe(2);
  expect(await stack.store.active(key)).toEqual(active);
});
