/** A histogram: counts the values at or below each of its bounds. */

export interface HistogramSnapshot {
  /** Cumulative counts by bound, in ascending order. */
  readonly buckets: readonly { readonly atMost: number; readonly count: number }[];
  /** All values, including those above the last bound. */
  readonly count: number;
  readonly sum: number;
}

export class Histogram {
  readonly #bounds: readonly number[];
  /** Per bucket, not cumulative; the last bucket is above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds In ascending order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  add(value: number): void {
    let at = 0;
    while (value > (this.#bounds[at] ?? Infinity)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  read(): HistogramSnapshot {
    let count = 0;
    const buckets = this.#bounds.map((atMost, at) => {
      count += this.#counts[at] ?? 0;
      return { atMost, count };
    });
    return { buckets, count: count + (this.#counts.at(-1) ?? 0), sum: this.#sum };
  }
}
