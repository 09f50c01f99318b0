/** A1: what an admission reads of the generations of before stays small, however long a server has been known. */
import { beforeAll, expect, test } from 'vitest';
import { createAdmissionStore } from '../../../src/store/postgres/admissionStore.js';
import { ACME, digest, keyOf, MANAGERS, receipt, registration, useStore } from './storeFixture.js';

const fixture = useStore();
const { server } = keyOf();

/** Rows as promotions left them, number by number, each expiring so many hours from now. */
const promoted = async (from: number, to: number, expiresIn: number): Promise<void> => {
  await fixture.admin.query(
    `insert into genlock.scan (tenant, id, server, audience, workflow_id, run_id, round, segment, attempt, worker, state,
         policy_epoch, trust_version, base_pointer_version, credential, deadline)
       select $1, 'scan-' || n, $2, $3, 'w', 'r', 0, 0, 1, 'w1', 'ELIGIBLE', 7, 1, 0, '{"kind":"none"}', now()
       from generate_series($4::int, $5::int) n`,
    [ACME, server, MANAGERS, from, to],
  );
  await fixture.admin.query(
    `insert into genlock.generation (tenant, server, audience, generation, scan, snapshot, state, expires, promoted_at)
       select $1, $2, $3, n, 'scan-' || n, $6, 'ELIGIBLE', now() + make_interval(hours => $7), now()
       from generate_series($4::int, $5::int) n`,
    [ACME, server, MANAGERS, from, to, digest('snapshot'), expiresIn],
  );
};
const view = () => createAdmissionStore(fixture.api).view(ACME, server, MANAGERS);
const numbers = async (): Promise<readonly number[]> =>
  (await view()).retained.map(({ generation }) => generation);

beforeAll(async () => {
  await fixture.operator.registerServer(ACME, registration(), receipt());
});

test('A1 a generation that expired longer than a day ago is not retained, one of today still is', async () => {
  await promoted(1, 3, -25);
  await promoted(4, 5, -23);
  await promoted(6, 6, 1);
  expect(await numbers()).toEqual([4, 5, 6]);
  expect(await view()).toMatchObject({ newestGeneration: 6, retained: [{ policyEpoch: 7 }, {}, {}] });
});

test('A1 no more than the newest hundred are retained', async () => {
  await promoted(7, 160, 1);
  expect(await numbers()).toEqual(Array.from({ length: 100 }, (_, index) => index + 61));
});
