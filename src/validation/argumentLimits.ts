/**
 * V4: the bounds on the arguments of a call, checked before anything else walks them. It never recurses
 * deeper than the limit, so that deep input cannot take the guard itself down.
 */
import type { JsonValue } from '../domain/json.js';
import { type ArgumentLimits, DEFAULT_ARGUMENT_LIMITS } from './limits.js';

export type ArgumentSize =
  | { readonly ok: true; readonly bytes: number; readonly nodes: number }
  | { readonly ok: false; readonly limit: 'bytes' | 'depth' | 'nodes' | 'number'; readonly message: string };

interface Tally {
  bytes: number;
  nodes: number;
}

type Excess = Extract<ArgumentSize, { ok: false }>;

/** Counts the escapes of no string: quotes and controls make the written form longer, never the value. */
const stringBytes = (text: string): number => Buffer.byteLength(text, 'utf8') + 2;

const measure = (
  value: JsonValue,
  level: number,
  tally: Tally,
  limits: ArgumentLimits,
): Excess | undefined => {
  tally.nodes += 1;
  if (tally.nodes > limits.nodes) return excess('nodes', `more than ${limits.nodes} values`);
  if (typeof value === 'string') tally.bytes += stringBytes(value);
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) return excess('number', 'a number beyond the range of a double');
    tally.bytes += 8;
  } else if (typeof value !== 'object' || value === null) tally.bytes += 5;
  else {
    if (level >= limits.depth) return excess('depth', `more than ${limits.depth} levels of nesting`);
    tally.bytes += 2;
    if (Array.isArray(value)) {
      for (const item of value as readonly JsonValue[]) {
        const found = measure(item, level + 1, tally, limits);
        if (found !== undefined) return found;
      }
    } else {
      for (const [key, item] of Object.entries(value)) {
        tally.bytes += stringBytes(key) + 2;
        const found = measure(item, level + 1, tally, limits);
        if (found !== undefined) return found;
      }
    }
  }
  return tally.bytes > limits.bytes ? excess('bytes', `more than ${limits.bytes} bytes`) : undefined;
};

const excess = (limit: Excess['limit'], what: string): Excess => ({
  ok: false,
  limit,
  message: `arguments have ${what}`,
});

/**
 * V4: whether arguments are small enough to be looked at.
 * @returns their size in bytes (estimated, without escapes) and values, or the first limit that they exceed
 */
export const checkArgumentLimits = (
  args: JsonValue,
  limits: ArgumentLimits = DEFAULT_ARGUMENT_LIMITS,
): ArgumentSize => {
  const tally: Tally = { bytes: 0, nodes: 0 };
  return measure(args, 0, tally, limits) ?? { ok: true, ...tally };
};
