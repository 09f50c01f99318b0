/**
 * What Genlock says of one tool beside the source's own words: its effect class, which only the operator's
 * reviewed classification gives (V5), and the verdict of the contract checks.
 */

/** In rising order of harm, UNKNOWN last: it is treated as destructive (V5). */
export const EFFECT_CLASSES = ['READ', 'RESERVATION', 'WRITE', 'DESTRUCTIVE', 'UNKNOWN'] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

/** Only READ is provably without effect; UNKNOWN is not (A5). */
export const mayHaveSideEffects = (effectClass: EffectClass): boolean => effectClass !== 'READ';

/** One result of a contract check. A `fault` quarantines the tool, a `lint` is only shown. */
export interface Finding {
  readonly code: string;
  readonly severity: 'fault' | 'lint';
  /** RFC 6901 pointer into the tool object. */
  readonly pointer: string;
  /** Plain text, with escaped code points where it quotes the source (V7). */
  readonly message: string;
}

/** QUARANTINED exactly where at least one finding is a fault: the tool stays in the snapshot, never callable. */
export interface ToolVerdict {
  readonly status: 'OK' | 'QUARANTINED';
  readonly findings: readonly Finding[];
}

export const verdictOf = (findings: readonly Finding[]): ToolVerdict => ({
  status: findings.some((finding) => finding.severity === 'fault') ? 'QUARANTINED' : 'OK',
  findings,
});
