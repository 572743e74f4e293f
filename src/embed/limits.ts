/** Limits of the embedding API. */

/** Minimum interval between reads of all sellers for `onChange`; 1,000 sellers take about 1 ms. */
export const COMMIT_READ_INTERVAL_MS = 50;
