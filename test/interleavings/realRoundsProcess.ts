/** A process that runs its share of the real rounds, several at a time, and sends each result to the one that started it. */
import { disagreements } from './agreement.js';
import { LANES, openRealStack } from './realStack.js';
import { scheduleOf } from './schedule.js';

export interface Share {
  readonly seed: number;
  readonly first: number;
  /** Between two rounds of this process: how many processes share them. */
  readonly step: number;
  readonly end: number;
  readonly workerUrl: string;
  readonly operatorUrl: string;
}

export interface RealResult {
  readonly round: number;
  readonly says: readonly string[];
}

const runShare = async (share: Share): Promise<void> => {
  const stack = await openRealStack(share);
  let next = share.first;
  const lane = async (): Promise<void> => {
    for (let round = next; round < share.end; round = next) {
      next += share.step;
      const says = await disagreements(scheduleOf(share.seed, round), stack);
      await new Promise((sent) => process.send?.({ round, says } satisfies RealResult, sent));
    }
  };
  try {
    await Promise.all(Array.from({ length: LANES }, lane));
  } finally {
    await stack.close();
  }
};

process.once('disconnect', () => process.exit(1));
process.once('message', (share: Share) => {
  runShare(share).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
