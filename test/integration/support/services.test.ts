/** The services that every other integration test stands on. */
import { Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../../src/workflows/contract.js';
import { cloneDatabase } from '../../support/database.js';
import { ownTaskQueue } from '../../support/temporal.js';

const asRole = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

describe('test services', () => {
  test('each clone is migrated, apart from the others, and gone when dropped', async () => {
    const [one, two] = await Promise.all([cloneDatabase(), cloneDatabase()]);
    try {
      await asRole(one.adminUrl, (admin) =>
        admin.query("insert into genlock.fence (tenant, server) values ('acme', '')"),
      );
      const count = (url: string) =>
        asRole(url, async (admin) => (await admin.query('select * from genlock.fence')).rows.length);
      expect(await count(one.adminUrl)).toBe(1);
      expect(await count(two.adminUrl)).toBe(0);
    } finally {
      await Promise.all([one.drop(), two.drop()]);
    }
    await expect(asRole(one.adminUrl, async () => {})).rejects.toMatchObject({ code: '3D000' });
  });

  test('the login roles get in, and none of them can bypass row-level security', async () => {
    const database = await cloneDatabase();
    try {
      for (const [role, url] of [
        ['genlock_api', database.apiUrl],
        ['genlock_operator', database.operatorUrl],
        ['genlock_worker', database.workerUrl],
      ] as const) {
        const { rows } = await asRole(url, (client) =>
          client.query('select rolname, rolsuper, rolbypassrls from pg_roles where rolname = current_user'),
        );
        expect(rows).toEqual([{ rolname: role, rolsuper: false, rolbypassrls: false }]);
      }
    } finally {
      await database.drop();
    }
  });

  test("Temporal knows Genlock's search attributes", async () => {
    const { address, namespace } = ownTaskQueue();
    const connection = await Connection.connect({ address });
    try {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      expect(Object.keys(customAttributes ?? {})).toEqual(
        expect.arrayContaining(Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name)),
      );
    } finally {
      await connection.close();
    }
  });

  test('the workflow bundle runs in a worker on a queue of its own', async () => {
    const { address, namespace, bundle, taskQueue } = ownTaskQueue();
    const connection = await NativeConnection.connect({ address });
    try {
      const worker = await Worker.create({
        connection,
        namespace,
        taskQueue,
        workflowBundle: { codePath: bundle },
      });
      await worker.runUntil(async () => {
        expect(worker.getState()).toBe('RUNNING');
      });
    } finally {
      await connection.close();
    }
  });
});
