/** `genlock worker`: runs workflows and activities until it is stopped. */
import { environment, workerConfig } from '../config.js';
import { createLogger } from '../telemetry/log.js';
import { startWorkerProgram } from '../wiring.js';
import { runProgram, tellReady } from './runProgram.js';

/** @returns the exit code */
export const runWorker = (): Promise<number> =>
  runProgram(async () => {
    const config = workerConfig(environment());
    const program = await startWorkerProgram(
      config,
      createLogger({ level: config.logLevel, program: 'worker' }),
    );
    tellReady({ program: 'worker', name: program.name });
    return program;
  });
