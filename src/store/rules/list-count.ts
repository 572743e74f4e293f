/** Counts of lists, which adapters stop at a limit. */
import { LIST_COUNT_LIMIT } from '../limits.ts';
import type { ListCount } from '../write.ts';

/** Rows that a counting statement reads at most: one more than the limit shows that there is. */
export const COUNTED_ROWS = LIST_COUNT_LIMIT + 1;

export function toListCount(rows: number): ListCount {
  return { count: Math.min(rows, LIST_COUNT_LIMIT), isExact: rows < COUNTED_ROWS };
}
