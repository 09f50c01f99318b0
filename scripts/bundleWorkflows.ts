/**
 * Bundles the workflows into one file, so that a worker starts without a bundler and every worker of a release runs
 * the very same code.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const SOURCE = fileURLToPath(new URL('../src/workflows/index.ts', import.meta.url));

/**
 * @param target the file to write
 * @throws Error with the bundler's own lines, which are the only place where it says what is wrong
 */
export const bundleWorkflows = async (target: string): Promise<void> => {
  const lines: string[] = [];
  const keep = (_level: string, message: string): void => {
    lines.push(message);
  };
  const logger = {
    log: keep,
    trace: () => {},
    debug: () => {},
    info: (message: string) => keep('INFO', message),
    warn: (message: string) => keep('WARN', message),
    error: (message: string) => keep('ERROR', message),
  };
  try {
    const { code } = await bundleWorkflowCode({ workflowsPath: SOURCE, logger });
    await writeFile(target, code);
  } catch (error) {
    throw new Error(`The workflows do not bundle.\n${lines.join('\n')}`, { cause: error });
  }
};
