/** A table: rows of named columns. */
export type Table = Record<string, Record<string, number | string>>;

/** What a bench found: tables by title. */
export type Figures = Record<string, Table>;

export const rounded = (value: number, digits = 0): number => Number(value.toFixed(digits));

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Half of them were at most the median, all at most the worst. */
export function spread(values: readonly number[]): { rounds: number; medianMs: number; worstMs: number } {
  const sorted = [...values].sort((one, other) => one - other);
  return {
    rounds: sorted.length,
    medianMs: rounded(sorted[sorted.length >> 1] ?? 0),
    worstMs: rounded(sorted.at(-1) ?? 0),
  };
}
