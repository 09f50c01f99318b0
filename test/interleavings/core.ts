/**
 * The guards that a round rests on, as one object: the product's own pure functions, and the conditions that the product
 * keeps in SQL as the simulated store has them. A mutant replaces one of them.
 */
import { judgeWithAcceptances } from '../../src/domain/acceptance.js';
import { isShrunk, isUnchanged } from '../../src/domain/continuity.js';
import { acceptPage, resumeScan, verifyTailFacts } from '../../src/domain/pagination.js';
import { ROUNDS } from '../../src/domain/rounds.js';

/** The conditions of migrations/0002_functions.sql. */
export const FENCES = {
  /** D6: whether a statement about pages is of the newest claim. */
  hasClaim: (claim: string, newest: string): boolean => claim === newest,
  /** P1: whether what a scan began with still is. */
  epochAtPromotion: (scan: number, now: number): boolean => scan === now,
  trustAtPromotion: (scan: number, now: number): boolean => scan === now,
  pointerAtPromotion: (scan: number, now: number): boolean => scan === now,
  isOpen: (closed: boolean): boolean => !closed,
  epochAtRenewal: (scan: number, now: number): boolean => scan === now,
  trustAtRenewal: (scan: number, now: number): boolean => scan === now,
  pointerAtRenewal: (scan: number, now: number): boolean => scan === now,
  /** D5: whether an acceptance was given beside the pointer that a scan began with. */
  pointerOfAcceptance: (accepted: number, scan: number): boolean => accepted === scan,
};

export const CORE = {
  acceptPage,
  resumeScan,
  verifyTailFacts,
  judgeWithAcceptances,
  isUnchanged,
  isShrunk,
  rounds: ROUNDS,
  fences: FENCES,
  /** Which pages a scan goes on with after a restart: those of its own. */
  pagesOf: <P>(own: readonly P[], _before: readonly P[]): readonly P[] => own,
};

export type Fence = keyof typeof FENCES;
export type Core = typeof CORE;
