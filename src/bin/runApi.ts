/** `genlock api`: serves the API until it is stopped. */
import { apiConfig, environment } from '../config.js';
import { createLogger } from '../telemetry/log.js';
import { startApiProgram } from '../wiring.js';
import { runProgram, tellReady } from './runProgram.js';

/** @returns the exit code */
export const runApi = (): Promise<number> =>
  runProgram(async () => {
    const config = apiConfig(environment());
    const program = await startApiProgram(config, createLogger({ level: config.logLevel, program: 'api' }));
    tellReady({ program: 'api', url: program.url });
    return program;
  });
