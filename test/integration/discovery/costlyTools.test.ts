/** V4: a list of the dearest tools that the checks let through takes its time, and takes it from nobody else. */
import { expect, test } from 'vitest';
import { startDiscovery } from '../../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { rounds } from '../../support/testForm.js';
import { at, serveList, tool, tools } from './bentLists.js';
import { ownKey, until, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

/** Each has patterns of its own, so that none is compiled already. */
const costly = (count: number): object[] =>
  Array.from({ length: count }, (_, n) =>
    tool(`costly_${n}`, {
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_p, p) => [`p${p}`, { pattern: `[a-z]{900}-${n}-${p}` }]),
        ),
      },
    }),
  );

test('V4 D6 a page of costly tools ends in one attempt, its verdicts are kept as they come, and others scan meanwhile', async () => {
  const list = costly(rounds(300, 1_000));
  const hostile = ownKey();
  const other = ownKey();
  const listing = { pages: [list], revision: at(1) };
  await stack.register(hostile, (await stack.bent({ list: serveList(() => listing) })).url);
  const ordinary = { pages: [tools(30)], revision: at(1) };
  await stack.register(other, (await stack.bent({ list: serveList(() => ordinary) })).url);

  const { runId } = await startDiscovery(stack.client, stack.taskQueue, hostile);
  const ends: string[] = [];
  const costlyOutcome = stack.outcomeOf(hostile, runId).finally(() => ends.push('costly'));
  const count = async (table: 'descriptor_check' | 'candidate_tool'): Promise<number> =>
    (await stack.admin.query(`select count(*)::int as n from ${table}`)).rows[0].n;
  await until(async () => (await count('descriptor_check')) > 0);
  expect(await count('candidate_tool')).toBe(0);

  const otherOutcome = await stack.discover(other).finally(() => ends.push('other'));
  expect(otherOutcome).toMatchObject({ state: 'ELIGIBLE', tools: 30 });
  expect(await costlyOutcome).toMatchObject({ state: 'ELIGIBLE', tools: list.length });
  expect(ends).toEqual(['other', 'costly']);

  const { events } = await stack.client.workflow
    .getHandle(discoveryWorkflowId(hostile), runId)
    .fetchHistory();
  const attempts = (events ?? []).flatMap(
    ({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? [],
  );
  expect(attempts.length).toBeGreaterThan(0);
  expect(attempts.filter((attempt) => attempt !== 1)).toEqual([]);
});
