/** Five suites. The first two need no services; the others share one real Postgres and one real Temporal. */
import { defineConfig } from 'vitest/config';

const services = { globalSetup: ['test/support/globalSetup.ts'], testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    // Most of the time of the service suites is waiting: for a heartbeat to be missed, for a server to start.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          // They take milliseconds; a loaded machine may need many times as long.
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'architecture',
          include: ['test/architecture/**/*.test.ts'],
          testTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...services,
          name: 'integration',
          include: ['test/{integration,replay,interleavings}/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        // These start and kill processes of their own.
        test: {
          ...services,
          name: 'e2e',
          globalSetup: ['test/support/buildDist.ts', ...services.globalSetup],
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // Attacks, crashes and races, one file a fault. They kill and restart processes and servers of their own.
        test: {
          ...services,
          name: 'faults',
          globalSetup: ['test/support/buildDist.ts', ...services.globalSetup],
          include: ['test/faults/**/*.test.ts'],
          testTimeout: 180_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
