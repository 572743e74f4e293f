/** Which mutations are written together. */
import { WRITE_BATCH_LIMIT, WRITE_BATCH_ROWS_LIMIT } from '../limits.ts';

/**
 * How many of the waiting mutations one transaction takes: up to the first that it may not have.
 * Mutations of many rows fill a batch sooner, so that others do not wait long for them.
 */
export function countBatch<Pending extends { readonly rows: number }>(
  waiting: readonly Pending[], isExcluded: (pending: Pending) => boolean = () => false,
): number {
  let rows = 0;
  const end = waiting.findIndex((pending, index) => {
    rows += pending.rows;
    return index > 0 && (rows > WRITE_BATCH_ROWS_LIMIT || index >= WRITE_BATCH_LIMIT
      || isExcluded(pending));
  });
  return end < 0 ? waiting.length : end;
}
