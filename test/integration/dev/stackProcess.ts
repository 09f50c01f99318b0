/**
 * A process that brings up a stack and then waits to be ended by its test, in whatever way.
 * Arguments: state folder, Temporal's program. Prints one line of JSON when everything is up.
 */
import { startPostgres } from '../../../src/dev/embeddedPostgres.js';
import { openStateFolder } from '../../../src/dev/stateFolder.js';
import { startTemporal } from '../../../src/dev/temporalServer.js';

const [path = '', binary = ''] = process.argv.slice(2);
const log = (): void => {};
const { dir } = await openStateFolder(path);
const postgres = await startPostgres({ stateDir: dir, log });
const temporal = await startTemporal({ stateDir: dir, binary, searchAttributes: [], persistent: false, log });
process.stdout.write(`${JSON.stringify({ adminUrl: postgres.adminUrl, address: temporal.address })}\n`);
process.stdin.once('data', () => {
  throw new Error('a failure that nobody catches');
});
