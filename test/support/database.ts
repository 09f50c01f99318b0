/** A database of its own for a test file. */
import { inject } from 'vitest';
import './services.js';
import { cloneOf, type TestDatabase } from './clonedDatabase.js';

export type { TestDatabase };

/**
 * @example
 * let database: TestDatabase;
 * beforeAll(async () => { database = await cloneDatabase(); });
 * afterAll(() => database.drop());
 */
export const cloneDatabase = (): Promise<TestDatabase> => cloneOf(inject('postgres'));
