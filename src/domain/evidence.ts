/**
 * What may leave a scan as evidence (S6): no secret of the source's target, and no more text than an operator reads.
 * Evidence goes into Postgres, workflow histories and the API, and nothing can be taken back out of them.
 */
import type { Evidence } from './generation.js';
import { type Blot, blotter } from './secretText.js';

const MAX_TEXT = 300;
const MAX_NAME = 100;
const MAX_DEPTH = 6;
const MAX_ENTRIES = 200;
const MAX_CHARACTERS = 16_384;
/** Of a longer text only this much is looked at; secrets that the cut parts are known by their parts. */
const WINDOW = 16_384;
/** A number of fewer digits is no secret. */
const LONG_NUMBER = 1e7;
const CUT = '…';

interface Budget {
  entries: number;
  characters: number;
}

const shown = (text: string, blot: Blot, cap: number, budget: Budget): string => {
  const clean = blot(text.slice(0, WINDOW));
  const cut = clean.length > cap || text.length > WINDOW ? `${clean.slice(0, cap - 1)}${CUT}` : clean;
  budget.characters -= cut.length;
  return budget.characters < 0 ? CUT : cut;
};

const scrub = (value: unknown, blot: Blot, depth: number, budget: Budget): unknown => {
  if (typeof value === 'string') return shown(value, blot, MAX_TEXT, budget);
  if (typeof value === 'number' && Math.abs(value) >= LONG_NUMBER) {
    const text = blot(String(value));
    return text === String(value) ? value : text;
  }
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth >= MAX_DEPTH) return CUT;
  const inner = (one: unknown): unknown => scrub(one, blot, depth + 1, budget);
  const take = (): boolean => budget.entries-- > 0 && budget.characters > 0;
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const one of value) {
      if (!take()) return [...kept, CUT];
      kept.push(inner(one));
    }
    return kept;
  }
  const kept: [string, unknown][] = [];
  for (const [name, one] of Object.entries(value)) {
    if (!take()) {
      kept.push([CUT, CUT]);
      break;
    }
    kept.push([shown(name, blot, MAX_NAME, budget), inner(one)]);
  }
  return Object.fromEntries(kept);
};

/**
 * S6: blots every secret out of every string, member name and long number, and then cuts: strings at 300 characters,
 * the whole at 200 entries, 16,384 characters and 6 levels. What was left out shows as `…`.
 */
export const scrubValue = (value: unknown, secrets: readonly string[]): unknown =>
  scrub(value, blotter(secrets), 0, { entries: MAX_ENTRIES, characters: MAX_CHARACTERS });

/** `scrubValue` of the evidence of an end. */
export const scrubEvidence = (evidence: Evidence, secrets: readonly string[]): Evidence =>
  scrubValue(evidence, secrets) as Evidence;
