/** The code of an argument thread, loaded from its source: threads do not inherit a test runner's way to read TypeScript. */
import { register } from 'tsx/esm/api';

register();
export const { prepare, judge } = await import('../../src/validation/argumentThread.ts');
