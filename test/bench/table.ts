/** Summarizes measurements, and prints them in columns. */

/** @param firstWidth Characters of the first column. */
export function printRow(cells: readonly (string | number)[], firstWidth = 12): void {
  console.log(cells.map((cell, n) => format(cell).padStart(n === 0 ? firstWidth : 12)).join(''));
}

/** A number with two decimals below 100, and none above; `-` where nothing was measured. */
export function format(cell: string | number): string {
  if (typeof cell === 'string') return cell;
  if (Number.isNaN(cell)) return '-';
  return cell >= 100 ? String(Math.round(cell)) : cell.toFixed(2);
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share From 0 to 1. */
export function percentile(values: readonly number[] | Float64Array, share: number): number {
  // Typed arrays sort numbers as numbers, and much faster.
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
