#!/usr/bin/env node
/** The command line. Each command loads only what it needs, so that help and errors come at once. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { explain } from '../cli/explain.js';
import { environment, keysConfig, migrateConfig } from '../config.js';
import { packageRoot } from '../packageRoot.js';

const { version } = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as {
  version: string;
};

/** Runs a command to its exit code; what it throws is told to a person, without a stack trace. */
const act =
  <A extends unknown[]>(work: (...args: A) => Promise<number>) =>
  async (...args: A): Promise<void> => {
    try {
      process.exitCode = await work(...args);
    } catch (error) {
      process.stderr.write(`${explain(error)}\n`);
      process.exitCode = 1;
    }
  };

const program = new Command('genlock')
  .description(
    'Proves that a tool list is complete and of one generation, accepts it at one point only, and admits each call against it.',
  )
  .version(version)
  .showHelpAfterError();

program
  .command('demo')
  .description('the main job, end to end, on a fresh stack of real servers')
  .option('--json', 'print one JSON object as the last line')
  .action(
    act(async (options: { json?: boolean }) => {
      const { runDemo } = await import('../dev/demo/runDemo.js');
      return runDemo({ json: options.json === true });
    }),
  );

program
  .command('start')
  .description('keep a stack up with the example servers registered; state lives under .genlock/')
  .action(
    act(async () => {
      const { runStart } = await import('../dev/runStart.js');
      return runStart();
    }),
  );

program
  .command('api')
  .description('run the API (configured by the environment, see .env.example)')
  .action(
    act(async () => {
      const { runApi } = await import('./runApi.js');
      return runApi();
    }),
  );

program
  .command('worker')
  .description('run a worker (configured by the environment)')
  .action(
    act(async () => {
      const { runWorker } = await import('./runWorker.js');
      return runWorker();
    }),
  );

program
  .command('migrate')
  .description("bring the database's schema up to date, and give the login roles their passwords")
  .option('--restored', 'once after restoring a backup: close every server until an operator opens it')
  .action(
    act(async (options: { restored?: boolean }) => {
      const config = migrateConfig(environment());
      const { migrate } = await import('../store/postgres/migrate.js');
      const passwords = Object.fromEntries(
        Object.entries(config.passwords).map(([role, password]) => [role, password.reveal()]),
      );
      const dir = join(packageRoot(), 'migrations');
      const applied = await migrate({ adminUrl: config.adminUrl.reveal(), dir, passwords });
      process.stdout.write(
        applied.length === 0 ? 'The schema is up to date.\n' : `Applied: ${applied.join(', ')}\n`,
      );
      if (options.restored === true) {
        const { markRestored } = await import('../store/postgres/markRestored.js');
        const { closed, fences } = await markRestored(config.adminUrl.reveal());
        process.stdout.write(
          `Restored: ${closed} servers are closed until an operator opens them, ${fences} fences are new.\nRestart every API and worker process before you open one.\n`,
        );
      }
      return 0;
    }),
  );

const keys = program.command('keys').description('the keys that sign leases and receipts');
keys
  .command('rotate')
  .description('put a fresh key first in GENLOCK_KEYS_FILE; the others go on verifying')
  .action(
    act(async () => {
      const { keysFile } = keysConfig(environment());
      const { rotateKeyFile } = await import('../keys/keyFile.js');
      const { kid } = await rotateKeyFile(keysFile);
      process.stdout.write(
        `The key that signs from the next start on: ${kid}\nAPI and worker processes read the file at their start only: restart all of them.\n`,
      );
      return 0;
    }),
  );

const policy = program.command('policy').description('the reviewed policy bundle');
policy
  .command('check')
  .description('validate a bundle folder as a whole; errors name file, pointer and reason')
  .argument('<folder>')
  .action(
    act(async (folder: string) => {
      const { readBundle } = await import('../policy/readBundle.js');
      const { bundleDigest } = await import('../policy/bundle.js');
      const bundle = await readBundle(folder);
      process.stdout.write(
        `The bundle is valid: ${Object.keys(bundle.tools).length} tools, ${bundle.permits.length} permits, ${bundle.audiences.length} audience rules.\n${bundleDigest(bundle)}\n`,
      );
      return 0;
    }),
  );

const review = program
  .command('review')
  .description(
    'changed texts and hints of tools that may have effects: they are not admitted until you accept them',
  );
const reviews = async () => {
  const { reviewCommands } = await import('../cli/review.js');
  return reviewCommands(environment(), (text) => process.stdout.write(text));
};
const AS_JSON = ['--json', 'print one JSON object'] as const;
review
  .command('list')
  .description('by server, audience and tool')
  .option('--server <name>')
  .option('--state <state>', 'pending, refused, accepted or all', 'pending')
  .option(...AS_JSON)
  .action(
    act(async (options: { server?: string; state: string; json?: boolean }) =>
      (await reviews()).list(options),
    ),
  );
review
  .command('show')
  .description('what changed, member by member, with hidden characters as \\u{…}')
  .argument('<id>')
  .option(...AS_JSON)
  .action(act(async (id: string, options: { json?: boolean }) => (await reviews()).show(id, options)));
for (const [decision, description] of [
  ['accept', 'the tool can be called from then on, as it is now'],
  ['refuse', 'the tool stays held; you can accept the change later'],
] as const)
  review
    .command(decision)
    .description(description)
    .argument('<id>')
    .requiredOption('--reason <text>', 'why, for the receipt')
    .option(...AS_JSON)
    .action(
      act(async (id: string, options: { reason: string; json?: boolean }) =>
        (await reviews()).decide(decision, id, options),
      ),
    );

await program.parseAsync();
