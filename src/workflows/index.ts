/** The workflows that the worker bundles. */
export { discovery } from './discovery.js';
export { refresh } from './refresh.js';
