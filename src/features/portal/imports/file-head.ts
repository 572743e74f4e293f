/**
 * What a file is, told by how it begins and not by its name: lines of JSON, or a table as CSV, of
 * which the header and some rows are shown. Files that people have and that are neither, such as
 * workbooks, are refused by their kind.
 */
import { AppError } from '../../../domain/error.ts';
import { copyText } from '../../../domain/text.ts';
import { CsvReader, type CsvRecord } from '../../../transfer/csv-reader.ts';
import { EXAMPLE_LIMIT_CHARACTERS, EXAMPLE_ROWS } from '../limits.ts';

export type FileHead =
  | { readonly format: 'ndjson' }
  | {
    readonly format: 'csv';
    /** The names of the columns. */
    readonly header: readonly string[];
    /** Cells of the first rows, cut where they are long. */
    readonly examples: readonly (readonly string[])[];
  };

const SAVE_AS = 'Save it as "CSV UTF-8" and upload that file';
const OTHERS: readonly (readonly [start: Buffer, what: string])[] = [
  [Buffer.from('PK\x03\x04'), `This is a workbook (.xlsx, .ods) or a .zip file. ${SAVE_AS}.`],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), `This is an Excel workbook (.xls). ${SAVE_AS}.`],
  [Buffer.from([0x1f, 0x8b]), 'This file is compressed with gzip. Decompress it first.'],
  [Buffer.from('%PDF-'), 'This is a PDF. Upload a CSV or NDJSON file.'],
];

/** `open` reads the file from its beginning. @throws AppError `invalid_data` */
export async function readFileHead(open: () => AsyncIterable<Buffer>): Promise<FileHead> {
  for await (const chunk of open()) {
    const [, what] = OTHERS.find(([start]) => chunk.indexOf(start) === 0) ?? [];
    if (what !== undefined) throw new AppError('invalid_data', what);
    // An object begins so, and no name of a column does.
    if (/^\uFEFF?\s*\{/.test(chunk.toString())) return { format: 'ndjson' };
    break;
  }
  const [header, ...rows] = await readRecords(open(), 1 + EXAMPLE_ROWS);
  if (!header) throw new AppError('invalid_data', 'The file is empty.');
  return {
    format: 'csv', header: header.cells.map(copyText),
    examples: rows.map(({ cells }) => cells.map(cut)),
  };
}

async function readRecords(chunks: AsyncIterable<Buffer>, count: number): Promise<CsvRecord[]> {
  const first: CsvRecord[] = [];
  try {
    for await (const records of new CsvReader().read(chunks)) {
      first.push(...records.slice(0, count - first.length));
      if (first.length === count) break;
    }
  } catch (error) {
    // A fault after the header is told with the line where it stands, by whoever reads the rows.
    if (first.length === 0) throw error;
  }
  return first;
}

function cut(cell: string): string {
  return copyText(cell.slice(0, EXAMPLE_LIMIT_CHARACTERS));
}
