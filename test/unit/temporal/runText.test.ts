/** What a run says of itself from its start in Temporal's UI. */
import { expect, test } from 'vitest';
import { parseAudienceClass, parseServerName, parseTenantId } from '../../../src/domain/ids.js';
import { runDetails, runSummary } from '../../../src/temporal/runText.js';

const key = {
  tenant: parseTenantId('acme'),
  server: parseServerName('inventory'),
  audience: parseAudienceClass('warehouse.policy-1'),
};

test('the summary names server, audience and tenant', () => {
  expect(runSummary(key)).toBe('Tool list of inventory, for audience warehouse.policy-1 of tenant acme');
});

test('the details name the server and every step in its order', () => {
  const text = runDetails(key);
  const marks = [
    '`inventory`',
    '1. `scanPages`',
    '2. `verifyTail`',
    '3. `checkContract`',
    '4. `seal`',
    '5. `promote`',
  ].map((mark) => text.indexOf(mark));
  expect(marks).not.toContain(-1);
  expect(marks).toEqual([...marks].sort((a, b) => a - b));
});
