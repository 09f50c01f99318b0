/** The worker process's Temporal side, with the settings that make a takeover after a crash quick. */
import { readFile } from 'node:fs/promises';
import { type LogLevel, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { DiscoveryActivities } from '../activities/activityTypes.js';
import { CatalogError } from '../domain/errors.js';
import type { TemporalAddress } from './connect.js';

export interface WorkerOptions extends TemporalAddress {
  readonly taskQueue: string;
  readonly identity: string;
  /** Written by `npm run build`; workflows run from it, so that every worker of a build runs the same code. */
  readonly workflowBundle: string;
  readonly activities: DiscoveryActivities;
  readonly log: WorkerLog;
}

/** The part of a pino logger that the SDK's own lines go to. */
export interface WorkerLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface RunningWorker {
  /** Resolves when the worker has stopped. */
  run(): Promise<void>;
  shutdown(): void;
}

/**
 * Lines of the SDK by our own levels: its progress is of interest only to who looks for a fault. What it says below
 * INFO is dropped at any level of ours: whole tasks, with the tokens that complete them and the inputs of workflows.
 */
export const logSdkLine = (log: WorkerLog, level: LogLevel, message: string, fields: object): void => {
  if (level === 'ERROR') log.error(fields, message);
  else if (level === 'WARN') log.warn(fields, message);
  else if (level === 'INFO') log.debug(fields, message);
};

/** Once a process. The SDK would take SIGINT and SIGTERM for itself; the program stops its parts in order. */
const installRuntime = (log: WorkerLog): void => {
  const at =
    (level: LogLevel) =>
    (message: string, fields: object = {}): void =>
      logSdkLine(log, level, message, fields);
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message, fields = {}) => logSdkLine(log, level, message, fields),
      trace: at('TRACE'),
      debug: at('DEBUG'),
      info: at('INFO'),
      warn: at('WARN'),
      error: at('ERROR'),
    },
  });
};

/** @throws CatalogError CONFIG_INVALID/TEMPORAL_UNREACHABLE */
export const createWorker = async (options: WorkerOptions): Promise<RunningWorker> => {
  await readFile(options.workflowBundle).catch((cause: unknown) => {
    throw new CatalogError(
      'CONFIG_INVALID',
      'INVALID_VARIABLE',
      { what: 'workflow bundle', next: 'npm run build' },
      { cause },
    );
  });
  installRuntime(options.log);
  const connection = await NativeConnection.connect({ address: options.address }).catch((cause: unknown) => {
    throw new CatalogError('CONFIG_INVALID', 'TEMPORAL_UNREACHABLE', { address: options.address }, { cause });
  });
  const worker = await Worker.create({
    connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue,
    identity: options.identity,
    workflowBundle: { codePath: options.workflowBundle },
    activities: { ...options.activities },
    // A dead worker's sticky queue holds the next workflow task for this long.
    stickyQueueScheduleToStartTimeout: '2s',
    maxHeartbeatThrottleInterval: '500ms',
    shutdownGraceTime: '2s',
    // A frozen worker keeps swallowing tasks with its open polls; fewer polls, fewer swallowed.
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
  });
  return {
    run: async () => {
      try {
        await worker.run();
      } finally {
        await connection.close();
      }
    },
    shutdown: () => worker.shutdown(),
  };
};
