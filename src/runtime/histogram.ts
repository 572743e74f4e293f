/** A histogram: counts the values at or below each of its bounds. */

export interface HistogramSnapshot {
  /** Cumulative counts by bound, in ascending order. */
  readonly buckets: readonly { readonly atMost: number; readonly count: number }[];
  /** All values, including those above the last bound. */
  readonly count: number;
  readonly sum: number;
}

/** @param bounds In ascending order. */
export function makeHistogram(bounds: readonly number[]) {
  /** Per bucket, not cumulative; the last bucket is above all bounds. */
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  let sum = 0;
  return {
    add(value: number): void {
      let at = 0;
      while (value > (bounds[at] ?? Infinity)) at += 1;
      counts[at] = (counts[at] ?? 0) + 1;
      sum += value;
    },
    read(): HistogramSnapshot {
      let count = 0;
      const buckets = bounds.map((atMost, at) => {
        count += counts[at] ?? 0;
        return { atMost, count };
      });
      return { buckets, count: count + (counts.at(-1) ?? 0), sum };
    },
  };
}
