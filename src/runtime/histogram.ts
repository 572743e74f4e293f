/** Counts values by size: how many were no larger than each of some bounds. */

export interface HistogramSnapshot {
  /** In ascending order, and how many values were at most each of them. */
  readonly buckets: readonly { readonly atMost: number; readonly count: number }[];
  /** Of all values, those above the last bound too. */
  readonly count: number;
  readonly sum: number;
}

export class Histogram {
  readonly #bounds: readonly number[];
  /** Of each bucket alone; the last one is for what is above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  /** `bounds` are in ascending order. */
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
