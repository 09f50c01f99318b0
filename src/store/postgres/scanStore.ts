/** The worker's store, put together from its parts. */
import type pg from 'pg';
import type { ScanStore } from '../scanStore.js';
import { acceptancePart } from './acceptances.js';
import { generationPart } from './activePointer.js';
import { candidatePart } from './candidates.js';
import { scanPart } from './scans.js';

export const createScanStore = (pool: pg.Pool): ScanStore => ({
  ...scanPart(pool),
  ...candidatePart(pool),
  ...generationPart(pool),
  ...acceptancePart(pool),
});
