/** Temporal's program for the tests, brought by Genlock's own code into the project's folder, once. */
import { join } from 'node:path';
import { findTemporal } from '../../../src/dev/temporalBinary.js';

export const temporalProgram = async (): Promise<string> => {
  const binDir = join(import.meta.dirname, '..', '..', '..', '.genlock', 'bin');
  return (await findTemporal({ binDir, log: () => {} })).path;
};
