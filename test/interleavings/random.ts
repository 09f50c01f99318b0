/** Chance that can be repeated: a small generator (mulberry32) seeded by numbers, and nothing of the clock. */

export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  /** True in `percent` of 100. */
  chance(percent: number): boolean;
  pick<T>(of: readonly [T, ...T[]]): T;
}

/** Spreads neighbouring seeds over all 32 bits. */
const mix = (a: number, b: number): number => {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13) ^ 0x27d4eb2f, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b);
  return (h ^ (h >>> 15)) >>> 0;
};

export const createRandom = (seed: number, round: number): Random => {
  let state = mix(seed, round);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (percent) => next() * 100 < percent,
    pick: (of) => of[below(of.length)] ?? of[0],
  };
};
