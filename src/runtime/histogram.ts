/** A histogram: counts the values at or below each of its bounds. */

export type HistogramSnapshot = ReturnType<ReturnType<typeof makeHistogram>['read']>;

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
    /** `buckets` has cumulative counts; `count` includes the values above the last bound. */
    read() {
      let count = 0;
      const buckets = bounds.map((atMost, at) => {
        count += counts[at] ?? 0;
        return { atMost, count };
      });
      return { buckets, count: count + (counts.at(-1) ?? 0), sum };
    },
  };
}
