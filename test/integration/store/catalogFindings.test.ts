/** What was found in a catalog as a whole is kept with its scan, for operators, and does not change after the seal. */
import { beforeAll, expect, test } from 'vitest';
import type { Finding } from '../../../src/domain/descriptor.js';
import {
  ACME,
  GLOBEX,
  keyOf,
  provenScan,
  receipt,
  registration,
  sealedScan,
  useStore,
} from './storeFixture.js';

const fixture = useStore();
beforeAll(async () => {
  await fixture.operator.registerServer(ACME, registration(), receipt());
});

const finding = (message: string): Finding => ({
  code: 'SPLIT_TEXT',
  severity: 'lint',
  pointer: '',
  message,
});
const kept = async (scan: string) => (await fixture.operator.readDiscovery(ACME, scan))?.catalogFindings;

test('V7 the last word before the seal counts, and text that no database holds is kept escaped', async () => {
  const { id } = await provenScan(fixture, keyOf());
  expect(await kept(id)).toEqual([]);
  expect(await fixture.store.noteCatalogFindings(ACME, id, [finding('first')])).toBe(true);
  expect(await fixture.store.noteCatalogFindings(ACME, id, [finding('a\u0000b')])).toBe(true);
  expect(await kept(id)).toEqual([finding('a\\u{0}b')]);
  expect(await fixture.store.noteCatalogFindings(GLOBEX, id, [])).toBe(false);
  expect(await kept(id)).toHaveLength(1);
});

test('V7 a sealed scan takes none, nor does one that is not proven', async () => {
  const sealed = await sealedScan(fixture, keyOf());
  expect(await fixture.store.noteCatalogFindings(ACME, sealed.id, [finding('late')])).toBe(false);
  expect(await kept(sealed.id)).toEqual([]);
  const unproven = await provenScan(fixture, keyOf(), { proven: false });
  expect(await fixture.store.noteCatalogFindings(ACME, unproven.id, [finding('early')])).toBe(false);
});

test('V7 of more findings than an answer shows, those of quarantined tools are shown first', async () => {
  const { id } = await provenScan(fixture, keyOf());
  const [row] = await fixture.store.sealedTools(ACME, id);
  if (row === undefined) throw new Error('no tool');
  const lint = { status: 'OK', findings: [finding('only told of')] } as const;
  const fault = { status: 'QUARANTINED', findings: [{ ...finding('a fault'), severity: 'fault' }] } as const;
  const rows = Array.from({ length: 501 }, (_, n) => ({
    ...row,
    name: `a${n}`,
    position: n + 1,
    verdict: lint,
  }));
  const held = { ...row, name: 'z', position: 999, verdict: fault };
  await fixture.store.saveCandidateTools(ACME, id, [...rows, held]);
  const { toolFindings } = (await fixture.operator.readDiscovery(ACME, id)) ?? { toolFindings: [] };
  expect(toolFindings).toHaveLength(500);
  expect(toolFindings[0]).toMatchObject({ name: 'z', status: 'QUARANTINED' });
});
