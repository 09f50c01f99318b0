/**
 * `npm run bench -- NAME…`: runs benchmarks by name and prints their rows. Ends with 1 where a limit is broken, so that
 * a promise about scale is something that a machine can check.
 */
import { type BenchRow, isWithin, rowLine } from './rows.js';

type Bench = (log: (line: string) => void) => Promise<readonly BenchRow[]>;

interface Entry {
  readonly what: string;
  readonly load: () => Promise<Bench>;
}

const BENCHES: Readonly<Record<string, Entry>> = {
  discovery: {
    what: 'first discovery and unchanged refresh of 1,000 and 10,000 tools, against only reading the list',
    load: async () => (await import('./discovery.js')).discovery,
  },
  'discovery.scale': {
    what: '10,000 tools in 100 pages: history events, largest payload, growth of worker memory',
    load: async () => (await import('./discoveryScale.js')).discoveryScale,
  },
  signing: {
    what: 'ES256 against EdDSA, and node:crypto against jose, as ratios',
    load: async () => (await import('./signing.js')).signing,
  },
};

const usage = (): string =>
  [
    'Usage: npm run bench -- NAME…',
    '',
    ...Object.entries(BENCHES).map(([name, { what }]) => `  ${name.padEnd(20)}${what}`),
    '',
    'Prints one JSON line for each measure. Ends with 1 where a ratio is above its limit.',
  ].join('\n');

const main = async (names: readonly string[]): Promise<number> => {
  if (names.length === 1 && names[0] === '--help') {
    console.log(usage());
    return 0;
  }
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
  if (names.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) console.error(`No benchmark is called ${unknown.join(', ')}.\n`);
    console.error(usage());
    return 2;
  }
  let broken = 0;
  for (const name of names) {
    const bench = await BENCHES[name]?.load();
    // Progress goes to standard error: standard output holds rows and nothing else.
    const rows = (await bench?.((line) => console.error(line))) ?? [];
    for (const row of rows) {
      console.log(rowLine(row));
      if (isWithin(row)) continue;
      broken++;
      console.error(
        `${row.bench} ${row.measure}: ${row.value} is more than ${row.limit} times ${row.baseline}`,
      );
    }
  }
  return broken > 0 ? 1 : 0;
};

// The SDK's native core can keep the process alive after all is stopped, so the end is explicit.
process.exit(
  await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    return 1;
  }),
);
