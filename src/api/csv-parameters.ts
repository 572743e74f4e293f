/** Parameters that say how a CSV file is written, where the file itself leaves it open. */
import { type ShortRows, SHORT_ROWS } from '../transfer/csv-cells.ts';
import { type Encoding, parseEncoding } from '../transfer/decode.ts';
import type { FileOptions } from '../transfer/file-options.ts';
import { type DecimalMark, DECIMAL_MARKS } from '../transfer/numbers.ts';
import { invalidQuery } from '../http/request/query.ts';
import { choice } from './parameters.ts';

export const csvParameters = {
  encoding: {
    schema: { type: 'string', minLength: 1 }, parse: parseEncoding, example: 'windows-1252',
    description: 'CSV: the encoding of a file without a byte order mark, by a label of the WHATWG '
      + 'Encoding Standard. UTF-8 unless it is sent; it is never guessed.',
  },
  decimal: {
    ...choice(DECIMAL_MARKS), example: 'comma',
    description: 'CSV: what separates decimals, so that `1.200` is either 1.2 or 1200. Unless it '
      + 'is sent, other cells of the column may say so; a number that stays unclear is rejected.',
  },
  short_rows: {
    ...choice(SHORT_ROWS), example: 'blank',
    description: 'CSV: what a row with fewer cells than the header is. `reject` rejects it, and is '
      + 'the default: a line break or a delimiter may have moved its cells. With `blank`, its last '
      + 'cells are blank, as programs write that leave them out.',
  },
} as const;

interface CsvValues {
  readonly encoding: Encoding | undefined;
  readonly decimal: DecimalMark | undefined;
  readonly short_rows: ShortRows | undefined;
}

export function toFileOptions({ encoding, decimal, short_rows }: CsvValues): FileOptions {
  return { encoding, decimal, shortRows: short_rows };
}

/**
 * Rejects the parameters of CSV files that were sent with an NDJSON file.
 * @param others further parameters of CSV files
 * @throws AppError `invalid_query`
 */
export function assertNoCsvParameters(
  values: Readonly<Record<string, unknown>>, others: readonly string[],
): void {
  const sent = [...others, ...Object.keys(csvParameters)]
    .filter((parameter) => values[parameter] !== undefined);
  if (sent.length === 0) return;
  const detail = 'Applies to CSV only: NDJSON is UTF-8, and names its members.';
  throw invalidQuery(sent.map((parameter) => ({ parameter, code: 'unknown', detail })));
}
