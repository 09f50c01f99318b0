/** Clones of the migrated template, with the URL of each role. Also for programs that run outside of vitest. */
import { randomBytes } from 'node:crypto';
import { asAdmin } from './administrator.js';
import type { TestPostgres } from './services.js';

export interface TestDatabase {
  readonly name: string;
  /** The superuser's, in this database: for looking at what no role may see. */
  readonly adminUrl: string;
  readonly apiUrl: string;
  readonly operatorUrl: string;
  readonly workerUrl: string;
  /** Cuts off whoever is still connected. */
  drop(): Promise<void>;
}

export const cloneOf = async ({ adminUrl, template, passwords }: TestPostgres): Promise<TestDatabase> => {
  const name = `genlock_test_${randomBytes(6).toString('hex')}`;
  await asAdmin(adminUrl, (admin) => admin.query(`create database ${name} template ${template}`));
  const urlOf = (role?: keyof typeof passwords): string => {
    const url = new URL(adminUrl);
    url.pathname = `/${name}`;
    if (role) {
      url.username = role;
      url.password = passwords[role];
    }
    return url.href;
  };
  return {
    name,
    adminUrl: urlOf(),
    apiUrl: urlOf('genlock_api'),
    operatorUrl: urlOf('genlock_operator'),
    workerUrl: urlOf('genlock_worker'),
    drop: () =>
      asAdmin(adminUrl, async (admin) => {
        await admin.query(`drop database if exists ${name} with (force)`);
      }),
  };
};
