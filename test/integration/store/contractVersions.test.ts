/** Contract versions: numbered per (tenant, server, name), issued once for a candidate, never used twice (S2). */
import { describe, expect, test } from 'vitest';
import { parseNamespace, parseServerName } from '../../../src/domain/ids.js';
import {
  ACME,
  GLOBEX,
  keyOf,
  MANAGERS,
  promoted,
  provenScan,
  receipt,
  registration,
  useStore,
  VIEWERS,
} from './storeFixture.js';

const fixture = useStore();
let servers = 0;
const ownServer = async (tenant = ACME) => {
  const name = parseServerName(`server-${++servers}`);
  await fixture.operator.registerServer(
    tenant,
    registration({ name, namespace: parseNamespace(name) }),
    receipt(),
  );
  return { managers: keyOf(tenant, MANAGERS, name), viewers: keyOf(tenant, VIEWERS, name) };
};
const versionsOf = async (key: ReturnType<typeof keyOf>, scan: string) =>
  Object.fromEntries(
    (await fixture.store.sealedTools(key.tenant, scan)).map((tool) => [tool.name, tool.contractVersion]),
  );
const promote = async (key: ReturnType<typeof keyOf>, tools: Record<string, string>) =>
  await versionsOf(key, (await promoted(fixture, key, { tools })).scan.id);

describe('S2 contract versions', () => {
  test('S2 a contract that differs from the active one goes up by one, the others keep theirs', async () => {
    const { managers } = await ownServer();
    expect(await promote(managers, { reserve: 'r1', get: 'g1' })).toEqual({ reserve: 1, get: 1 });
    expect(await promote(managers, { reserve: 'r2', get: 'g1' })).toEqual({ reserve: 2, get: 1 });
    expect(await promote(managers, { reserve: 'r2', get: 'g2', new: 'n1' })).toEqual({
      reserve: 2,
      get: 2,
      new: 1,
    });
  });

  test('S2 a number is not used again when a tool goes and comes back, not even with its old contract', async () => {
    const { managers } = await ownServer();
    expect(await promote(managers, { reserve: 'r1', get: 'g1' })).toEqual({ reserve: 1, get: 1 });
    expect(await promote(managers, { get: 'g1' })).toEqual({ get: 1 });
    expect(await promote(managers, { reserve: 'r1', get: 'g1' })).toEqual({ reserve: 2, get: 1 });
  });

  test('S2 a contract that returns goes up too where another audience still has the old one', async () => {
    const { managers, viewers } = await ownServer();
    expect(await promote(managers, { reserve: 'r1' })).toEqual({ reserve: 1 });
    expect(await promote(viewers, { reserve: 'r1' })).toEqual({ reserve: 1 });
    expect(await promote(managers, { reserve: 'r2' })).toEqual({ reserve: 2 });
    expect(await promote(managers, { reserve: 'r1' })).toEqual({ reserve: 3 });
    expect(await promote(viewers, { reserve: 'r2' })).toEqual({ reserve: 4 });
  });

  test('S2 a tool that goes and comes back goes up too where another audience still has the old one', async () => {
    const { managers, viewers } = await ownServer();
    expect(await promote(managers, { reserve: 'r1', get: 'g1' })).toEqual({ reserve: 1, get: 1 });
    expect(await promote(viewers, { reserve: 'r1' })).toEqual({ reserve: 1 });
    expect(await promote(managers, { get: 'g1' })).toEqual({ get: 1 });
    expect(await promote(managers, { reserve: 'r1', get: 'g1' })).toEqual({ reserve: 2, get: 1 });
    expect(await promote(viewers, { reserve: 'r1' })).toEqual({ reserve: 1 });
  });

  test('S2 a contract that returns to what it was before is a new version', async () => {
    const { managers } = await ownServer();
    for (const [contract, version] of [
      ['r1', 1],
      ['r2', 2],
      ['r1', 3],
    ] as const) {
      expect(await promote(managers, { reserve: contract })).toEqual({ reserve: version });
    }
  });

  test('S2 the same contract in another audience is the same version, another one the next number', async () => {
    const { managers, viewers } = await ownServer();
    expect(await promote(managers, { reserve: 'r1' })).toEqual({ reserve: 1 });
    expect(await promote(viewers, { reserve: 'r1' })).toEqual({ reserve: 1 });
    expect(await promote(viewers, { reserve: 'r-viewers' })).toEqual({ reserve: 2 });
    expect(await promote(managers, { reserve: 'r2' })).toEqual({ reserve: 3 });
  });

  test('S2 versions are issued once for a candidate, also when many ask at a time', async () => {
    const { managers } = await ownServer();
    const scan = await provenScan(fixture, managers, { tools: { reserve: 'r1', get: 'g1' } });
    await Promise.all([1, 2, 3, 4].map(() => fixture.store.issueContractVersions(ACME, scan.id)));
    expect(await versionsOf(managers, scan.id)).toEqual({ reserve: 1, get: 1 });
    const { rows } = await fixture.admin.query(
      'select distinct last from genlock.contract_counter where server = $1',
      [managers.server],
    );
    expect(rows).toEqual([{ last: 1 }]);
  });

  test('S2 two candidates at a time never issue one number for two contracts', async () => {
    const { managers, viewers } = await ownServer();
    const scans = [
      await provenScan(fixture, managers, { tools: { reserve: 'r-managers' } }),
      await provenScan(fixture, viewers, { tools: { reserve: 'r-viewers' } }),
    ];
    await Promise.all(scans.map((scan) => fixture.store.issueContractVersions(ACME, scan.id)));
    const issued = await Promise.all(scans.map((scan) => versionsOf(managers, scan.id)));
    expect(issued.map((one) => one['reserve']).sort()).toEqual([1, 2]);
  });

  test('S2 S4 tenants number apart', async () => {
    const [here, there] = [await ownServer(ACME), await ownServer(GLOBEX)];
    await promote(here.managers, { reserve: 'r1' });
    await promote(here.managers, { reserve: 'r2' });
    expect(await promote(there.managers, { reserve: 'r2' })).toEqual({ reserve: 1 });
  });
});
