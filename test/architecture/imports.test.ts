/** Who may import whom: this repository keeps the rules, and the rules bite. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cruise, ROOT, type Violation } from './cruise.js';

/** A file that breaks a rule, and the rule. Every target is a file of the tree below. */
const FORBIDDEN: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['domain/usesProof.ts', "export { one } from '../proof/one.js';", 'domain-imports'],
  ['domain/usesNode.ts', "export { createHash } from 'node:crypto';", 'domain-builtins'],
  ['domain/usesPackage.ts', "export { z } from 'zod';", 'domain-packages'],
  ['domain/namesPort.ts', "export type { One } from '../store/one.js';", 'domain-types'],
  ['proof/readsFiles.ts', "export { readFile } from 'node:fs/promises';", 'proof-builtins'],
  ['proof/logs.ts', "export { one } from '../telemetry/one.js';", 'proof-imports'],
  ['validation/usesKeys.ts', "export { one } from '../keys/one.js';", 'validation-imports'],
  ['keys/usesProof.ts', "export { one } from '../proof/one.js';", 'keys-imports'],
  ['sources/usesStore.ts', "export { one } from '../store/one.js';", 'sources-imports'],
  ['sources/usesDriver.ts', "export { Pool } from 'pg';", 'sources-packages'],
  ['policy/namesStore.ts', "export type { One } from '../store/one.js';", 'policy-types'],
  ['store/usesPolicy.ts', "export { one } from '../policy/one.js';", 'store-imports'],
  ['usecases/usesStore.ts', "export { one } from '../store/one.js';", 'usecases-imports'],
  ['usecases/usesInline.ts', "export const later = () => import('../store/one.js');", 'usecases-imports'],
  ['activities/usesSource.ts', "export { one } from '../sources/one.js';", 'activities-imports'],
  ['workflows/usesActivities.ts', "export { one } from '../activities/one.js';", 'workflows-imports'],
  ['workflows/usesNode.ts', "export { createHash } from 'node:crypto';", 'workflows-builtins'],
  ['workflows/usesClient.ts', "export { Client } from '@temporalio/client';", 'workflows-packages'],
  ['temporal/usesWorkflow.ts', "export { one } from '../workflows/one.js';", 'temporal-imports'],
  ['api/usesStore.ts', "export { one } from '../store/one.js';", 'api-imports'],
  ['api/usesWorker.ts', "export { one } from '../temporal/worker.js';", 'api-imports'],
  ['client/usesDomain.ts', "export { one } from '../domain/one.js';", 'client-imports'],
  ['server/namesProof.ts', "export type { One } from '../proof/one.js';", 'server-types'],
  ['cli/usesStore.ts', "export { one } from '../store/one.js';", 'cli-imports'],
  ['telemetry/usesDev.ts', "export { one } from '../dev/one.js';", 'roots-below-nobody'],
  ['wiring.ts', "export { one } from './bin/one.js';", 'bin-is-a-root'],
  ['api/usesDevelopmentPackage.ts', "export { test } from 'vitest';", 'no-development-package'],
  ['api/usesNothing.ts', "export { one } from './nowhere.js';", 'no-unresolved'],
  ['api/usesTest.ts', "export { one } from '../../test/one.js';", 'api-imports'],
  ['utils/odd.ts', "export { one } from '../domain/one.js';", 'known-layer'],
  ['store/ring.ts', "export { two } from './ringTwo.js'; export const one = 1;", 'no-cycle'],
];

/** What a layer may do, so that a rule that forbids everything fails too. */
const ALLOWED: readonly (readonly [path: string, text: string])[] = [
  ['proof/hashes.ts', "export { createHash } from 'node:crypto'; export { one } from '../domain/one.js';"],
  ['validation/uses.ts', "export { one } from '../proof/one.js'; export { Ajv } from 'ajv';"],
  [
    'usecases/namesPort.ts',
    "export type { One } from '../store/one.js'; export { one } from '../keys/one.js';",
  ],
  ['activities/namesPort.ts', "import type { One } from '../sources/one.js'; export const one: One = 1;"],
  ['workflows/namesActivities.ts', "export type { One } from '../activities/one.js';"],
  [
    'workflows/uses.ts',
    "export { sleep } from '@temporalio/workflow'; export { one } from '../domain/one.js';",
  ],
  ['temporal/uses.ts', "export { one } from '../workflows/contract.js';"],
  ['api/uses.ts', "export { one } from '../usecases/one.js'; export { two } from '../temporal/connect.js';"],
  ['client/namesDomain.ts', "export type { One } from '../domain/one.js';"],
  ['cli/uses.ts', "export { one } from '../store/postgres/migrate.js';"],
  [
    'store/uses.ts',
    "import pg from 'pg'; export const one = pg; export { one as two } from '../proof/one.js';",
  ],
  ['bin/uses.ts', "export { one } from '../store/one.js'; export { two } from '../dev/one.js';"],
];

const LAYER_FOLDERS =
  'domain proof validation keys sources policy store store/postgres usecases activities workflows temporal api gateway client server cli telemetry bin dev'.split(
    ' ',
  );

const makeTree = (): string => {
  const tree = mkdtempSync(join(tmpdir(), 'genlock-imports-'));
  for (const name of ['package.json', 'tsconfig.json', '.dependency-cruiser.cjs'])
    cpSync(join(ROOT, name), join(tree, name));
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), `${text}\n`);
  };
  const target = 'export const one = 1; export const two = 2; export type One = number;';
  for (const folder of LAYER_FOLDERS) write(`src/${folder}/one.ts`, target);
  for (const path of ['store/postgres/migrate', 'temporal/connect', 'temporal/worker', 'workflows/contract'])
    write(`src/${path}.ts`, target);
  write('test/one.ts', target);
  write('src/store/ringTwo.ts', "export { one } from './ring.js'; export const two = 2;");
  for (const [path, text] of [...FORBIDDEN, ...ALLOWED]) write(`src/${path}`, text);
  return tree;
};

describe('who may import whom', () => {
  test('this repository keeps every rule', () => {
    const { modules, violations } = cruise(ROOT);
    expect(modules).toBeGreaterThan(50);
    expect(violations).toEqual([]);
  });

  test('each layer that stands has its row in the table, and each row its rules', () => {
    const { forbidden } = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as {
      forbidden: { name: string }[];
    };
    const rules = new Set(forbidden.map(({ name }) => name));
    const stands = readdirSync(join(ROOT, 'src')).map((name) => name.replace(/\.ts$/, ''));
    const rootsAndLayers = stands.filter((name) => !['bin', 'dev', 'wiring'].includes(name));
    expect(rootsAndLayers.filter((layer) => !rules.has(`${layer}-imports`))).toEqual([]);
  });

  describe('the rules bite', () => {
    const tree = makeTree();
    let found: readonly Violation[];
    try {
      found = cruise(tree).violations;
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
    const rulesOf = (path: string): string[] =>
      found.filter(({ from }) => from === `src/${path}`).map(({ rule }) => rule);

    test.each(FORBIDDEN)('%s is found', (path, _, rule) => {
      expect(rulesOf(path)).toContain(rule);
    });
    test.each(ALLOWED)('%s is allowed', (path) => {
      expect(rulesOf(path)).toEqual([]);
    });
  });
});
