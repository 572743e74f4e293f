/** How the rows of a CSV file are written, as far as its sender must say so. */
import type { ShortRows } from './csv-cells.ts';
import type { Encoding } from './decode.ts';
import type { DecimalMark } from './numbers.ts';

export interface FileOptions {
  /** The encoding of a file without a byte order mark. Default: UTF-8. */
  readonly encoding?: Encoding | undefined;
  /** What separates decimals. Default: what the cells of a column say. */
  readonly decimal?: DecimalMark | undefined;
  /** Default: `reject`. */
  readonly shortRows?: ShortRows | undefined;
}
