/** Limits of the embedding API. */

/** Items per read of a list that is read to its end. */
export const LIST_PAGE_ITEMS = 1_000;
/** Minimum interval between reads of all sellers for `onChange`; 1,000 sellers take about 1 ms. */
export const COMMIT_READ_INTERVAL_MS = 50;
