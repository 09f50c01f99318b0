/**
 * The core with one guard less, for each guard in turn. A run that finds nothing wrong with such a core would find nothing
 * wrong with a product that had lost the guard.
 */
import type { Mutant } from './mutant.js';
import { PROMOTION_MUTANTS } from './promotionMutants.js';
import { RULE_MUTANTS } from './ruleMutants.js';
import { SCAN_MUTANTS } from './scanMutants.js';

export const MUTANTS: readonly Mutant[] = [...SCAN_MUTANTS, ...PROMOTION_MUTANTS, ...RULE_MUTANTS];
