/** The activities of the worker, over their dependencies. */
import type { DiscoveryActivities } from './activityTypes.js';
import { checkContract } from './checkContract.js';
import type { ActivityDeps } from './deps.js';
import { promote } from './promote.js';
import { recordEnd } from './recordEnd.js';
import { scanPages } from './scanPages.js';
import { seal } from './seal.js';
import { verifyTail } from './verifyTail.js';

export const createActivities = (deps: ActivityDeps): DiscoveryActivities => ({
  scanPages: scanPages(deps),
  verifyTail: verifyTail(deps),
  checkContract: checkContract(deps),
  seal: seal(deps),
  promote: promote(deps),
  recordEnd: recordEnd(deps),
  startDiscovery: (key) => deps.startDiscovery(key),
});
