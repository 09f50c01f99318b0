/**
 * Workflow code of today against histories of runs that are over: a change that a running workflow could not follow fails
 * here. `npx tsx scripts/recordHistories.ts` records them anew where a break is meant.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import '../support/services.js';

interface HistoryFile {
  readonly events: readonly { readonly eventType: string }[];
}

const folder = new URL('./histories/', import.meta.url);
const NAMES = [
  'cancelled',
  'changed',
  'eligible',
  'hinted',
  'incomplete',
  'moved',
  'quarantined',
  'refresh',
  'unchanged',
  'unversioned',
];
const read = (name: string): HistoryFile =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as HistoryFile;

/** What replaying a history throws, or undefined. */
const replay = async (name: string, history: HistoryFile): Promise<unknown> => {
  const options = { workflowBundle: { codePath: inject('temporal').bundle } };
  for await (const { error } of Worker.runReplayHistories(options, [{ workflowId: name, history }]))
    return error;
  throw new Error('nothing was replayed');
};

describe('recorded histories', () => {
  beforeAll(() => {
    Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: [] });
  });

  test('D6 each way that a discovery goes is recorded', () => {
    const files = readdirSync(fileURLToPath(folder)).filter((file) => file.endsWith('.json'));
    expect(files.map((file) => file.replace('.json', '')).sort()).toEqual(NAMES);
    for (const name of NAMES)
      expect(read(name).events.at(-1)?.eventType).toMatch(/WORKFLOW_EXECUTION_(COMPLETED|FAILED)$/);
  });

  test.each(NAMES)('D6 %s replays', async (name) => {
    expect(await replay(name, read(name))).toBeUndefined();
  });

  test('D6 what ran before in a worker steers no replay: all of them one after another, forth and back', async () => {
    const options = { workflowBundle: { codePath: inject('temporal').bundle } };
    const names = [...NAMES, ...NAMES.toReversed()];
    const histories = names.map((name) => ({ workflowId: name, history: read(name) }));
    const errors: unknown[] = [];
    for await (const { error } of Worker.runReplayHistories(options, histories)) errors.push(error);
    expect(errors).toEqual(names.map(() => undefined));
  });

  test('D6 a history that the code does not follow is found', async () => {
    const { events } = read('eligible');
    const text = JSON.stringify({ events }).replaceAll('"verifyTail"', '"verifyHead"');
    expect(await replay('eligible', JSON.parse(text) as HistoryFile)).toBeInstanceOf(
      DeterminismViolationError,
    );
  });

  test('no history holds a page, and none names a machine', () => {
    for (const name of NAMES) {
      const text = JSON.stringify(read(name));
      expect(text).not.toContain(Buffer.from('inputSchema').toString('base64').slice(0, 12));
      expect(text.match(/"identity":"(?!recorder")/g)).toBeNull();
    }
  });
});
