/** V6 `genlock review` as an operator runs it: a process of its own against a real API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiFixture, AUDIENCE, startApi } from '../integration/api/apiFixture.js';
import { promoteTools, tool } from '../integration/api/promoteTools.js';
import { type Ended, genlock } from './genlockProcess.js';

let api: ApiFixture;
let env: Record<string, string>;
beforeAll(async () => {
  api = await startApi();
  const { token, client } = await api.person('olga', ['genlock-operator']);
  env = { GENLOCK_URL: api.url, GENLOCK_TOKEN: token };
  await client.registerServer({
    name: 'inventory',
    namespace: 'inventory',
    source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
    audiences: { [AUDIENCE]: 'none' },
    refreshSeconds: 0,
  });
  const of = { tenant: api.tenant, classes: { reserve: 'WRITE', ship: 'WRITE' } as const };
  const reworded = (name: string) => tool(name, { description: `Does ${name}\u200b` });
  await promoteTools(api.scans, { ...of, tools: [tool('reserve'), tool('ship')] });
  await promoteTools(api.scans, { ...of, tools: [reworded('reserve'), reworded('ship')], counter: 2 });
});
afterAll(() => api.stop());

const review = (...args: readonly string[]): Promise<Ended> => genlock(['review', ...args], { env }).ended;
const ids = async (): Promise<readonly string[]> => {
  const { reviews } = JSON.parse((await review('list', '--json')).stdout) as { reviews: { id: string }[] };
  return reviews.map(({ id }) => id);
};

test('V6 list, show, refuse and accept', async () => {
  const listed = await review('list', '--server', 'inventory');
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  const [head, ...lines] = listed.stdout.trimEnd().split('\n');
  expect(head).toMatch(/^ID +SERVER +AUDIENCE +TOOL +EFFECT +CHANGED +STATE$/);
  const [reserve = '', ship = ''] = await ids();
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^${reserve} .*inventory\\.reserve@1 +WRITE +text +pending$`)),
    expect.stringMatching(new RegExp(`^${ship} .*inventory\\.ship@1 +WRITE +text +pending$`)),
  ]);

  const shown = await review('show', reserve);
  expect(shown.stdout).toContain(
    '/description (text, from character 14 on)\n- "Does reserve"\n+ "Does reserve\\u{200B}"\n',
  );
  expect(shown.stdout).not.toContain('\u200b');

  const refused = await review('refuse', reserve, '--reason', 'hidden text');
  expect(refused).toMatchObject({ code: 0 });
  expect(refused.stdout).toMatch(/^inventory\.reserve@1 of inventory: refused\nreceipt \S+\n$/);
  const accepted = await review('accept', ship, '--reason', 'looked at', '--json');
  expect(JSON.parse(accepted.stdout)).toMatchObject({ id: ship, state: 'accepted' });
  expect(await ids()).toEqual([]);
  const every = JSON.parse((await review('list', '--state', 'all', '--json')).stdout) as object;
  expect(every).toMatchObject({ reviews: [{ state: 'refused' }, { state: 'accepted' }] });
});

test('V6 what cannot be done is told with what to do, and exits 1', async () => {
  for (const [args, text] of [
    [['show', 'nothing'], 'NOT_FOUND/NO_SUCH_REVIEW'],
    [['list', '--state', 'open'], 'BAD_REQUEST/INVALID_QUERY'],
    [['accept', 'x'], "required option '--reason <text>'"],
  ] as const) {
    const { code, stderr } = await review(...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(text)]);
  }
  const blind = await genlock(['review', 'list'], { env: { GENLOCK_URL: api.url } }).ended;
  expect([blind.code, blind.stderr]).toEqual([1, expect.stringContaining('GENLOCK_TOKEN')]);
});
