/** A store of its own for a test file. */
import type pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { OperatorStore } from '../../../src/store/operatorStore.js';
import { createOperatorStore } from '../../../src/store/postgres/operatorStore.js';
import { createPool } from '../../../src/store/postgres/pool.js';
import { createScanStore } from '../../../src/store/postgres/scanStore.js';
import type { ScanStore } from '../../../src/store/scanStore.js';
import { cloneDatabase, type TestDatabase } from '../../support/database.js';
import { ACME, GLOBEX, receipt, registration } from './candidates.js';

export * from './candidates.js';

export interface StoreFixture {
  readonly database: TestDatabase;
  /** As the superuser, for looking at what no role may see. */
  readonly admin: pg.Pool;
  readonly api: pg.Pool;
  readonly worker: pg.Pool;
  readonly operatorPool: pg.Pool;
  readonly store: ScanStore;
  readonly operator: OperatorStore;
}

/** Set up before the file's tests and dropped after them. */
export const useStore = (): StoreFixture => {
  const parts = {} as { -readonly [K in keyof StoreFixture]: StoreFixture[K] };
  beforeAll(async () => {
    parts.database = await cloneDatabase();
    const open = (url: string): pg.Pool => createPool({ url, size: 6, applicationName: 'genlock tests' });
    parts.admin = open(parts.database.adminUrl);
    parts.api = open(parts.database.apiUrl);
    parts.worker = open(parts.database.workerUrl);
    parts.operatorPool = open(parts.database.operatorUrl);
    parts.store = createScanStore(parts.worker);
    parts.operator = createOperatorStore(parts.operatorPool);
    for (const tenant of [ACME, GLOBEX])
      await parts.operator.registerServer(tenant, registration(), receipt());
  });
  afterAll(async () => {
    for (const pool of [parts.admin, parts.api, parts.worker, parts.operatorPool]) await pool.end();
    await parts.database.drop();
  });
  return parts;
};
