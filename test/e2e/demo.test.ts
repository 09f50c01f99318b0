/** `npm run demo`, as a newcomer runs it: on a fresh stack, in a process of its own. */
import { describe, expect, it } from 'vitest';
import { genlock } from './genlockProcess.js';

describe('genlock demo', () => {
  it('prints what came out as its last line, each part as Genlock promises', async () => {
    const { code, stdout } = await genlock(['demo', '--json']).ended;
    const result = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<
      string,
      Record<string, unknown>
    >;
    expect(code).toBe(0);
    expect(result).toEqual({
      versioned: { state: 'ELIGIBLE', generation: 1, tools: 120, pages: 5 },
      unversioned: { state: 'UNVERSIONED_OBSERVATION', tools: 13 },
      admitted: { lease: expect.any(String), receipt: expect.any(String), verified: true },
      revoked: { code: 'POLICY_REVOKED' },
      stale: { code: 'STALE_CATALOG', activeGeneration: 2 },
      killed: { state: 'ELIGIBLE', pagesByWorker: [2, 3], fetchedTwice: 0 },
      seconds: expect.any(Number),
    });
  });

  it('leaves nothing running and no state behind after Ctrl-C in the middle', async () => {
    const demo = genlock(['demo']);
    await demo.said(/Discovering inventory-mcp/);
    const started = demo.descendants();
    expect(started.length).toBeGreaterThan(3);
    demo.signal('SIGINT');
    expect((await demo.ended).code).toBe(130);
    await demo.allGone(started);
    expect(demo.stateEntries().filter((name) => name.startsWith('demo-'))).toEqual([]);
  });
});
