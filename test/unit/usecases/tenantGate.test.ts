/** S4: what one tenant asks for at once is bounded, and no other tenant is touched by that. */
import { expect, test } from 'vitest';
import { parseTenantId } from '../../../src/domain/ids.js';
import { createTenantGate } from '../../../src/usecases/tenantGate.js';

const [ACME, GLOBEX] = [parseTenantId('acme'), parseTenantId('globex')];

test('S4 above the bound of its tenant a request is refused at once; one that ends, well or not, makes room', async () => {
  const gate = createTenantGate(2, 'REVIEW_READS');
  const ends: { readonly resolve: (text: string) => void; readonly reject: (error: Error) => void }[] = [];
  const waiting = () =>
    gate.run(ACME, () => new Promise<string>((resolve, reject) => ends.push({ resolve, reject })));
  const running = [waiting(), waiting()];
  const ask = (tenant = ACME) => gate.run(tenant, async () => 'done');
  await expect(ask()).rejects.toMatchObject({ code: 'OVERLOADED', reason: 'REVIEW_READS' });
  expect(await ask(GLOBEX)).toBe('done');

  ends[0]?.reject(new Error('broken'));
  await expect(running[0]).rejects.toThrow('broken');
  expect(await ask()).toBe('done');
  expect(await ask()).toBe('done');
  ends[1]?.resolve('late');
  expect(await running[1]).toBe('late');
});
