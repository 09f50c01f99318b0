/**
 * The form of every result: one JSON line a measure, with what it is held against. A line is what a later run compares
 * itself with, so the names are fixed.
 */
export interface BenchRow {
  readonly bench: string;
  readonly measure: string;
  readonly unit: string;
  readonly value: number;
  /** What the value is held against: here the limit that it must stay below; null where nothing is promised. */
  readonly baseline: number | null;
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Whether the row is within what was promised. */
export const isWithin = ({ value, baseline }: BenchRow): boolean => baseline === null || value < baseline;

/** One line of JSON; `ratio` is value by baseline. */
export const rowLine = (row: BenchRow): string =>
  JSON.stringify({
    bench: row.bench,
    measure: row.measure,
    unit: row.unit,
    value: rounded(row.value),
    baseline: row.baseline,
    ratio: row.baseline === null ? null : rounded(row.value / row.baseline),
  });
