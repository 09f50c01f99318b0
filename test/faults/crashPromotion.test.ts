/**
 * A worker is killed on either side of the acceptance: after the seal, inside the promotion's transaction, and after its commit
 * was not heard of. One promotion comes of it, whole, with one receipt (P2, D6).
 */
import { describe, expect, test } from 'vitest';
import { useDiscovery } from '../integration/discovery/discoveryStack.js';
import { closeGate } from './crashGate.js';
import {
  asked,
  begin,
  expectWhole,
  NOTHING_PROMOTED,
  PROMOTED_ONCE,
  promotions,
  sessionless,
} from './takeover.js';
import { useWorkers } from './workerProcesses.js';

const stack = useDiscovery({ inProcess: false });
const workers = useWorkers(stack);

/** By the time of a receipt, pointer, freshness, generation and scan are written too. */
const SEAL = { table: 'generation', on: 'update', when: 'new.snapshot is not null' } as const;
const POINTER = { table: 'active_pointer', on: 'insert', when: 'true' } as const;
const RECEIPT = { table: 'receipt', on: 'insert', when: "new.kind = 'catalog'" } as const;
const UNSEALED = { sealed: false, promoted: NOTHING_PROMOTED };
const SEALED = { sealed: true, promoted: NOTHING_PROMOTED };
const ACCEPTED = { sealed: true, promoted: PROMOTED_ONCE };

describe('P2 D6 a worker that promotes is lost', () => {
  test.each([
    ['with its seal written and not committed', { ...SEAL, at: 'row' }, 'undo', UNSEALED],
    ['after its seal, before it has heard of it', { ...SEAL, at: 'commit' }, 'pass', SEALED],
    ['after the seal, with the pointer written and not committed', { ...POINTER, at: 'row' }, 'undo', SEALED],
    ['with the whole promotion written and not committed', { ...RECEIPT, at: 'row' }, 'undo', SEALED],
    [
      'after the commit of the promotion, before it has heard of it',
      { ...RECEIPT, at: 'commit' },
      'pass',
      ACCEPTED,
    ],
  ] as const)('P2 D6 %s: one promotion comes of it', async (_when, point, end, left) => {
    const gate = await closeGate(stack, point);
    const source = await sessionless(stack);
    const first = await workers.survivor();
    const { key, runId, scan } = await begin(stack, source);
    await gate.reached();
    await workers.end(first, 'SIGKILL');
    await gate[end]();
    expect(await promotions(stack, key)).toEqual(left.promoted);
    const sealed = await stack.store.generationOf(key.tenant, scan);
    expect(sealed).toMatchObject({ generation: 1, snapshot: left.sealed ? expect.anything() : null });
    await workers.start();
    const outcome = await expectWhole(stack, key, runId, Array(5).fill(first.name));
    // What was accepted is what was sealed, under the receipt that the workflow names.
    const active = await stack.store.active(key);
    expect(active).toMatchObject({ generation: 1, scan, version: 1 });
    const again = await stack.store.generationOf(key.tenant, scan);
    if (left.sealed) expect(again).toEqual(sealed);
    const { rows } = await stack.admin.query(
      "select id, generation from genlock.receipt where tenant = $1 and server = $2 and kind = 'catalog'",
      [key.tenant, key.server],
    );
    expect(rows).toEqual([{ id: outcome.receipt, generation: 1 }]);
    expect(asked(source)).toMatch(/^0+1+2+3+4+0+$/);
  });
});
