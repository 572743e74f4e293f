/**
 * Claims that somebody may have read, and when: a power cut after that must not make them false.
 */

/** What has to hold for the catalogue, or for a file. */
export interface Claim {
  readonly what: string;
  /** A query of the catalogue that has to find a row. */
  readonly sql?: string;
  readonly values?: readonly (string | number)[];
  /** A file that has to exist; its path in the recorded folder. */
  readonly file?: string;
}

/** A claim, and the time from which somebody may have read it. */
export interface Receipt extends Claim {
  readonly at: number;
}
