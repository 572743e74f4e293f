/** Limits of the embedding API. */

/** Minimum interval between reads of all sellers for `onChange`; 1,000 sellers take about 1 ms. */
export const COMMIT_READ_INTERVAL_MS = 50;
/**
 * How long a call of `beforeWrite` may take: the process does nothing else in the meantime. Pauses
 * of a busy machine are shorter.
 */
export const BEFORE_WRITE_LIMIT_MS = 250;
/** A reason of `beforeWrite`: a few sentences. */
export const WRITE_REASON_LIMIT_CHARACTERS = 1_000;
