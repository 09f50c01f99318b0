/**
 * V4: threads for what a source's schema could make long: its analysis, its compiling, and checks of arguments that
 * are not proven short. The caller's thread goes on meanwhile. A thread that is over its time or memory is ended and
 * replaced, and whatever it was doing counts as refused (A6).
 */
import { Piscina } from 'piscina';
import { CatalogError } from '../domain/errors.js';
import { type DurationMs, durationMs } from '../domain/ids.js';
import type { JudgeTask, SchemaTask } from './argumentThread.js';
import { type ArgumentVerdict, type PreparedSchema, refuseUnread } from './compileArguments.js';

export interface ArgumentThreads {
  /**
   * What can be known of a schema before it is run.
   * @returns `refused` where it does not pass the contract checks; `stopped` where finding out took too much
   * @throws CatalogError OVERLOADED/VALIDATION_QUEUE
   */
  prepare(lane: string, task: SchemaTask): Promise<PreparedSchema | 'refused' | 'stopped'>;
  /** @throws CatalogError OVERLOADED/VALIDATION_QUEUE */
  judge(lane: string, task: JudgeTask): Promise<ArgumentVerdict | 'refused'>;
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** A module that Node can load, with the exports of argumentThread.ts. */
  readonly file: string;
  readonly threads?: number;
  /** From the start of a task to its end, waiting for a free thread and compiling included. */
  readonly deadline?: DurationMs;
  /** Megabytes of one thread's heap. */
  readonly heap?: number;
}

const THREADS = 2;
const DEADLINE = durationMs(15_000);
const HEAP_MB = 256;
/** The compiler recurses with the schema: the largest that pass the checks overflow the stack that Node gives by itself. */
const STACK_MB = 64;
/** Tasks of one lane that wait. */
const LANE = 200;

type Run = <T>(act: () => Promise<T>) => Promise<T>;

/** One task of a lane at a time, so that no lane has all the threads, and each of n lanes gets its turn in n. */
const createLanes = (): ((lane: string) => Run) => {
  const lanes = new Map<string, { last: Promise<unknown>; waiting: number }>();
  return (name) => async (act) => {
    const lane = lanes.get(name) ?? { last: Promise.resolve(), waiting: 0 };
    if (lane.waiting >= LANE) throw new CatalogError('OVERLOADED', 'VALIDATION_QUEUE', {});
    lanes.set(name, lane);
    lane.waiting += 1;
    const turn = lane.last.then(act);
    lane.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      lane.waiting -= 1;
      if (lane.waiting === 0) lanes.delete(name);
    }
  };
};

/** Starts the threads and waits for one, so that a program which lacks the file does not start. */
export const startArgumentThreads = async (options: ThreadOptions): Promise<ArgumentThreads> => {
  const { file, threads = THREADS, deadline = DEADLINE, heap = HEAP_MB } = options;
  const pool = new Piscina({
    filename: file,
    execArgv: [],
    // Nothing of the process's own: no secrets.
    env: {},
    minThreads: threads,
    maxThreads: threads,
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: 32, stackSizeMb: STACK_MB },
  });
  // A thread that ends between two tasks is replaced; the error would otherwise end the process.
  pool.on('error', () => undefined);
  const laneOf = createLanes();
  let closed = false;

  /** @returns `stopped` where the thread was ended, by the deadline or by itself */
  const run = async <T>(name: 'prepare' | 'judge', task: SchemaTask): Promise<T | 'stopped'> => {
    // A pool that was closed would start threads again.
    if (closed) return 'stopped';
    const overdue = new AbortController();
    const timer = setTimeout(() => overdue.abort(), deadline);
    try {
      return (await pool.run(task, { name, signal: overdue.signal })) as T;
    } catch {
      return 'stopped';
    } finally {
      clearTimeout(timer);
    }
  };

  const close = (): Promise<void> => {
    closed = true;
    return pool.destroy();
  };
  const probe: SchemaTask = {
    key: '',
    tool: '{"inputSchema":{"type":"object"}}',
    part: 'inputSchema',
    dialect: '2020-12',
  };
  try {
    await pool.run(probe, { name: 'prepare' });
  } catch (error) {
    await close();
    throw error;
  }

  return {
    prepare: (lane, task) => laneOf(lane)(() => run<PreparedSchema | 'refused'>('prepare', task)),
    judge: async (lane, task) => {
      const outcome = await laneOf(lane)(() => run<ArgumentVerdict | 'refused'>('judge', task));
      if (outcome !== 'stopped') return outcome;
      return refuseUnread('VALIDATION_DEADLINE', 'deadline', 'checking the arguments took too much');
    },
    close,
  };
};
