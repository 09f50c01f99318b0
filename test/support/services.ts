/** What the global set-up hands to every test file: one Postgres and one Temporal for the whole run. */

export interface TestPostgres {
  /** The superuser's; tests use it to make and drop databases only. */
  readonly adminUrl: string;
  /** A migrated database that each file clones. */
  readonly template: string;
  readonly passwords: Readonly<Record<'genlock_api' | 'genlock_operator' | 'genlock_worker', string>>;
}

export interface TestTemporal {
  /** host:port */
  readonly address: string;
  readonly namespace: string;
  /** File of the workflow bundle, made once. */
  readonly bundle: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: TestPostgres;
    temporal: TestTemporal;
  }
}
