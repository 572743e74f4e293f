/** Claims that a client or operator may have read, and when: they must hold after a power cut. */

/** A condition of the catalogue, or of a file. */
export interface Claim {
  readonly what: string;
  /** A query of the catalogue that has to find a row. */
  readonly sql?: string;
  readonly values?: readonly (string | number)[];
  /** A file that has to exist; its path in the recorded folder. */
  readonly file?: string;
}

/** A claim, and the time from which it may have been read. */
export interface Receipt extends Claim {
  readonly at: number;
}
