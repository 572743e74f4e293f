/** Parameters that say how a file of rows is written, where the file itself leaves it open. */
import { SHORT_ROWS } from '../transfer/csv-cells.ts';
import { parseEncoding } from '../transfer/decode.ts';
import { TemporaryFile } from '../store/temporary/temporary-file.ts';
import type { FileOptions } from '../transfer/file-options.ts';
import { DECIMAL_MARKS } from '../transfer/numbers.ts';
import { SKU_SOURCES } from '../transfer/sku-source.ts';
import { openWorkbook } from '../transfer/workbooks.ts';
import { CSV_TYPE, WORKBOOK_TYPE } from './media-types.ts';
import { invalidQuery } from '../http/request/query.ts';
import { choice, type Values } from './parameters.ts';

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
    description: 'CSV: how a row with fewer cells than the header is read. `reject`, the default, '
      + 'rejects it, since a line break may have cut it. `blank` reads the missing cells as blank, '
      + 'for programs that leave out blank cells at the end of a row.',
  },
  sku_from: {
    schema: { enum: SKU_SOURCES }, example: 'handle+options',
    // In a query, a plus sign that is not encoded is a space.
    parse: (text: string) => choice(SKU_SOURCES).parse(text.replaceAll(' ', '+')),
    description: 'CSV of Shopify: makes the SKU of a variant without one from the handle of its '
      + 'product and the values of its options, such as `linen-shirt/S`. By default, such a row is '
      + 'rejected.',
  },
  sheet: {
    schema: { type: 'string', minLength: 1 }, parse: (text: string) => ({ value: text }),
    example: 'Stock',
    description: 'Workbooks: the name of the sheet to read, in any case. By default, the first one '
      + 'that is not hidden.',
  },
} as const;

export function toFileOptions(
  { encoding, decimal, short_rows, sku_from, sheet }: Values<typeof csvParameters>,
): FileOptions {
  const spool = TemporaryFile.spool;
  return { encoding, decimal, shortRows: short_rows, skuFrom: sku_from, sheet, spool };
}

/** Whether a file of this media type has a table: its first bytes say whether it is CSV. */
export function isTable(mediaType: string): boolean {
  return mediaType === CSV_TYPE || mediaType === WORKBOOK_TYPE;
}

/** The body of a request with a workbook, for descriptions. */
export const workbookContent = openWorkbook && {
  [WORKBOOK_TYPE]: {
    schema: {
      type: 'string', contentMediaType: WORKBOOK_TYPE,
      description: 'An Excel workbook (.xlsx), of which one sheet is read. The media type text/csv '
        + 'may also be used for it.',
    },
    example: 'PK...',
  },
};

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
  const detail = 'Is not for NDJSON, which is UTF-8 and names its members.';
  throw invalidQuery(sent.map((parameter) => ({ parameter, code: 'unknown', detail })));
}
