/** F: a page that does not come. Its own limit ends it, or that of the scan. */
import { describe, expect, test } from 'vitest';
import { durationMs } from '../../src/domain/ids.js';
import type { ScanLimits } from '../../src/domain/scanLimits.js';
import type { ScriptedCatalog } from '../fixtures/scriptedCatalog.js';
import { type Begun, NEXT, useFaults } from './expectations.js';

const stack = useFaults();

/** The first generation takes its time; short limits are for what stalls. */
const beginWith = async (catalog: ScriptedCatalog, limits: Partial<ScanLimits>): Promise<Begun> => {
  const { key } = await stack.begin(catalog);
  await stack.register(key, catalog.source, { limits });
  await catalog.mend(NEXT);
  return { key, catalog, before: await stack.standing(key) };
};
const expectMended = async (begun: Begun): Promise<void> => {
  await stack.register(begun.key, begun.catalog.source);
  await stack.expectMended(begun);
};

describe.each(['http', 'stdio'] as const)('D1 a page that stalls over %s', (transport) => {
  // A stdio server starts within this limit too, and is asked once.
  const limitMs = transport === 'http' ? 1_500 : 8_000;

  test('is given up after the time limit of a page', async () => {
    const catalog = await (transport === 'http' ? stack.scripted() : stack.stdio());
    const begun = await beginWith(catalog, { pageTime: durationMs(limitMs) });
    const fault = { reason: 'PAGE_TIMEOUT', evidence: { page: 2, limitMs } } as const;
    await stack.expectFault(begun, fault, { page: 2, stall: true, visit: 'each' });
    await expectMended(begun);
  });
});

test('D1 the scan as a whole has a limit as well', async () => {
  const begun = await beginWith(await stack.scripted(), { scanTime: durationMs(4_000) });
  const fault = { reason: 'DEADLINE_EXCEEDED', evidence: { pages: 2, limitMs: 4_000 } } as const;
  await stack.expectFault(begun, fault, { page: 2, stall: true, visit: 'each' });
  await expectMended(begun);
});

test('D1 a tail that stalls leaves the pages bound to nothing', async () => {
  const begun = await beginWith(await stack.scripted(), { pageTime: durationMs(1_500) });
  const fault = { reason: 'TAIL_UNVERIFIED', evidence: { fault: 'PAGE_TIMEOUT' } } as const;
  const tails = [1, 2, 3].map((visit) => ({ page: 0, visit, stall: true }) as const);
  await stack.expectFault(begun, fault, ...tails);
  expect((await begun.catalog.served()).filter(({ answered }) => answered === 'stalled')).toHaveLength(3);
  await expectMended(begun);
});
