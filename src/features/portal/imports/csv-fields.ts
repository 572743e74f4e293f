/**
 * Fields that say how a CSV file is written, where the file itself leaves it open; and the remedies
 * of errors in terms of these fields.
 */
import { TemporaryFile } from '../../../store/temporary/temporary-file.ts';
import { SHORT_ROWS } from '../../../transfer/csv-cells.ts';
import { findLocation } from '../../../transfer/column-names.ts';
import { parseEncoding } from '../../../transfer/decode.ts';
import type { FileOptions } from '../../../transfer/file-options.ts';
import { DECIMAL_MARKS } from '../../../transfer/numbers.ts';
import { hasHandles, SKU_SOURCES } from '../../../transfer/sku-source.ts';
import type { Choice, Field } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { shorten } from '../html/html.ts';
import { COLUMN_NAME_BYTES } from '../limits.ts';

/** How a file is opened, as chosen before its preview. */
export type UploadOptions = Pick<FileOptions, 'encoding' | 'sheet'>;

/** How the numbers and rows of a file are read, as plain data. */
export type CsvSettings = Pick<FileOptions, 'decimal' | 'shortRows' | 'skuFrom'>;

const LABELS = {
  decimal: 'Decimal mark', short_rows: 'Rows with too few cells', encoding: 'Text encoding',
  sku_from: 'Rows without a SKU', sheet: 'Sheet', duplicates: 'Several rows for one product',
} as const;

const PARAMETER = /\b(decimal|short_rows|sku_from|duplicates)=([\w+-]+)/g;

const ENCODINGS: readonly Choice[] = [
  { value: '', label: 'Unicode (UTF-8, or UTF-16 with a byte order mark)' },
  { value: 'windows-1252', label: 'Western European (windows-1252)' },
  { value: 'windows-1250', label: 'Central European (windows-1250)' },
  { value: 'windows-1251', label: 'Cyrillic (windows-1251)' },
  { value: 'windows-1253', label: 'Greek (windows-1253)' },
  { value: 'windows-1254', label: 'Turkish (windows-1254)' },
  { value: 'windows-1257', label: 'Baltic (windows-1257)' },
  { value: 'ibm866', label: 'Cyrillic, DOS (ibm866)' },
  { value: 'macintosh', label: 'Western European, old Mac (macintosh)' },
  { value: 'shift_jis', label: 'Japanese (shift_jis)' },
  { value: 'gb18030', label: 'Chinese, simplified (gb18030)' },
  { value: 'big5', label: 'Chinese, traditional (big5)' },
  { value: 'euc-kr', label: 'Korean (euc-kr)' },
  { value: 'utf-16le', label: 'UTF-16 without a byte order mark (utf-16le)' },
  { value: 'utf-16be', label: 'UTF-16, big-endian, without a byte order mark (utf-16be)' },
];

const encodingField: Field = {
  name: 'encoding', label: LABELS.encoding, control: 'select', choices: ENCODINGS,
  hint: 'Leave it, unless the preview says that the file is not UTF-8. Then check the names there.',
};

/** The fields of the upload form: the file is previewed with them. */
export const UPLOAD_FIELDS: readonly Field[] = [encodingField, {
  name: 'sheet', label: LABELS.sheet,
  hint: 'Of an Excel workbook. Leave it blank for the first sheet that is not hidden.',
}];

/** Values of the fields; blank for the default. */
export function readUploadOptions(values: ReadonlyMap<string, string>): UploadOptions {
  const [encoding = '', sheet = ''] = UPLOAD_FIELDS.map(({ name }) => values.get(name)?.trim());
  const parsed = encoding === '' ? undefined : parseEncoding(encoding);
  return {
    ...(parsed && 'value' in parsed && { encoding: parsed.value }), ...(sheet !== '' && { sheet }),
  };
}

/** What several rows for one product mean. @param reject the value of the first choice */
export function duplicatesField(
  reject: string, initial: string, { header }: { readonly header: readonly string[] },
): Field {
  const location = findLocation(header);
  return {
    name: 'duplicates', label: LABELS.duplicates, control: 'select', initial,
    choices: [
      { value: reject, label: 'Reject them' },
      { value: 'sum', label: 'Sum: add up their stock' },
      { value: 'last', label: 'Last: use the last one' },
    ],
    ...(location !== undefined && {
      hint: `The file has a column "${shorten(location, COLUMN_NAME_BYTES)}": if a product has a `
        + 'row for each of them, choose the sum.',
    }),
  };
}

export const CSV_FIELD_NAMES = ['decimal', 'short_rows', 'sku_from'];

/** None if the file is NDJSON. */
export function listCsvFields(
  { decimal, shortRows = 'reject', skuFrom }: CsvSettings,
  { format, header }: { readonly format: 'csv' | 'ndjson'; readonly header: readonly string[] },
): readonly Field[] {
  if (format !== 'csv') return [];
  return [
    {
      name: 'decimal', label: LABELS.decimal, control: 'select', initial: decimal ?? '',
      choices: [
        { value: '', label: 'As the numbers of each column show' },
        { value: 'point', label: 'Point: 1.200 is 1.2' },
        { value: 'comma', label: 'Comma: 1.200 is 1200' },
      ],
    },
    {
      name: 'short_rows', label: LABELS.short_rows, control: 'select', initial: shortRows,
      choices: [
        { value: 'reject', label: 'Reject' },
        { value: 'blank', label: 'Blank: read the missing cells as blank' },
      ],
    },
    ...!hasHandles(header) ? [] : [{
      name: 'sku_from', label: LABELS.sku_from, control: 'select', initial: skuFrom ?? '',
      choices: [
        { value: '', label: 'Reject' },
        { value: 'handle+options', label: 'Make SKUs from the handles and options of Shopify' },
      ],
    } as const],
  ];
}

/** Reads the fields; ignores values that they do not offer. */
export function readCsvFields(form: Form): CsvSettings {
  return {
    decimal: DECIMAL_MARKS.find((mark) => mark === form.get('decimal')),
    shortRows: SHORT_ROWS.find((choice) => choice === form.get('short_rows')),
    skuFrom: SKU_SOURCES.find((choice) => choice === form.get('sku_from')),
  };
}

/** How a file is read with these settings. */
export function toFileOptions(
  { decimal, shortRows, skuFrom }: CsvSettings, { encoding, sheet }: UploadOptions,
): FileOptions {
  return { encoding, decimal, shortRows, skuFrom, sheet, spool: TemporaryFile.spool };
}

/** An error with its parameters as fields: `set decimal=comma` as `set "Decimal mark" to comma`. */
export function toFields(detail: string): string {
  return detail
    .replaceAll(/encoding=([\w-]+)/g, `"${LABELS.encoding}" to $1 for a new upload`)
    .replaceAll('sheet=NAME', `"${LABELS.sheet}" for a new upload`)
    .replaceAll(PARAMETER, (_, name: string, value: string) =>
      `"${LABELS[name as keyof typeof LABELS]}" to ${value}`) // one of the names in the pattern
    .replaceAll('map=adjust:COLUMN', 'the field "Column for stock adjustment"');
}
