/**
 * The form of every result: one JSON line a measure, with what it is held against. A line is what a later run compares
 * itself with, so the names are fixed.
 */
export interface BenchRow {
  readonly bench: string;
  readonly measure: string;
  readonly unit: string;
  readonly value: number;
  /** What the value is held against: a limit, or what the same run measured of something else; null for nothing. */
  readonly baseline: number | null;
  /** The ratio of value to baseline that was promised; nothing is where it is absent. */
  readonly limit?: number;
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

const ratioOf = ({ value, baseline }: BenchRow): number | null =>
  baseline === null ? null : value / baseline;

/** Whether the row keeps what was promised. */
export const isWithin = (row: BenchRow): boolean => {
  const ratio = ratioOf(row);
  return ratio === null || row.limit === undefined || ratio <= row.limit;
};

/** One line of JSON; `ratio` is value by baseline. */
export const rowLine = (row: BenchRow): string => {
  const ratio = ratioOf(row);
  return JSON.stringify({
    bench: row.bench,
    measure: row.measure,
    unit: row.unit,
    value: rounded(row.value),
    baseline: row.baseline === null ? null : rounded(row.baseline),
    ratio: ratio === null ? null : rounded(ratio),
    limit: row.limit ?? null,
  });
};
