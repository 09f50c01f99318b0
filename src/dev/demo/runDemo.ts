/** `genlock demo`: the main job, end to end, on a fresh stack of real servers. Everything it shows really happened. */
import { join, resolve } from 'node:path';
import { explain } from '../../cli/explain.js';
import { devConfig, environment } from '../../config.js';
import { type Stack, startStack } from '../stack.js';
import { openFreshStateFolder } from '../stateFolder.js';
import { createNarrator, type Narrator, renderTable, wantsColor } from './narrator.js';
import { type DemoResult, isAsPromised, resultRows } from './result.js';
import { runSteps } from './steps.js';

/** @returns 0 where everything came out as promised, else 1 */
export const runDemo = async ({ json }: { readonly json: boolean }): Promise<number> => {
  const config = devConfig(environment());
  // With --json the last line of stdout is the object; what is told on the way goes to stderr.
  const out = json ? process.stderr : process.stdout;
  const narrator = createNarrator(out, wantsColor(environment()));
  const began = Date.now();
  const folder = await openFreshStateFolder(config.stateDir, 'demo-');
  const undo: (() => Promise<void>)[] = [() => folder.remove()];
  const cleanUp = async (): Promise<void> => {
    narrator.close();
    for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end();
  };
  const interrupted = onInterrupt();
  try {
    const work = show({
      narrator,
      undo,
      stateDir: folder.dir,
      binDir: join(resolve(config.stateDir), 'bin'),
      config,
      began,
    });
    const result = await Promise.race([work, interrupted.promise]);
    if (result === 'interrupted') {
      narrator.line('Stopping.');
      await Promise.race([work.catch(() => {}), cleanUp()]);
      return 130;
    }
    narrator.line(`\n${renderTable(resultRows(result))}\n\n${result.seconds} s`);
    if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
    return isAsPromised(result) ? 0 : 1;
  } catch (error) {
    narrator.close();
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  } finally {
    interrupted.forget();
    await cleanUp();
  }
};

interface Show {
  readonly narrator: Narrator;
  readonly undo: (() => Promise<void>)[];
  readonly stateDir: string;
  readonly binDir: string;
  readonly config: ReturnType<typeof devConfig>;
  readonly began: number;
}

const show = async ({ narrator, undo, stateDir, binDir, config, began }: Show): Promise<DemoResult> => {
  const start = narrator.step('A stack of its own');
  const stack: Stack = await startStack({
    config,
    stateDir,
    binDir,
    ports: null,
    persistent: false,
    log: (line) => start.update(line),
  });
  undo.push(() => stack.stop());
  const [, killable, other] = await Promise.all([
    stack.startApi(),
    stack.startWorker('worker-1'),
    stack.startWorker('worker-2'),
  ]);
  start.done(`Postgres, Temporal, API (${stack.apiUrl}), workers ${killable.pid} and ${other.pid}`);
  if (stack.temporal.uiUrl !== null) narrator.line(`  Temporal UI  ${stack.temporal.uiUrl}`);
  narrator.line(`  API docs     ${stack.apiUrl}/docs`);
  narrator.line('  (both while the demo runs; npm start keeps them up)');
  const steps = await runSteps({ stack, narrator, undo, stateDir, workers: [killable, other] });
  return { ...steps, seconds: Math.round((Date.now() - began) / 100) / 10 };
};

const onInterrupt = (): { readonly promise: Promise<'interrupted'>; forget(): void } => {
  let forget = (): void => {};
  const promise = new Promise<'interrupted'>((resolve) => {
    let asked = false;
    const listener = (): void => {
      if (asked) process.exit(130);
      asked = true;
      resolve('interrupted');
    };
    process.on('SIGINT', listener);
    process.on('SIGTERM', listener);
    forget = () => {
      process.off('SIGINT', listener);
      process.off('SIGTERM', listener);
    };
  });
  return { promise, forget };
};
