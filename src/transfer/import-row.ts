/** A row of an imported file of any format. */
import { IMPORT_BLANK_LINES_LIMIT, IMPORT_SLICE_ROWS } from './limits.ts';
import type { SkipReason } from '../domain/catalogue/import.ts';
import type { Currency } from '../domain/catalogue/currency.ts';
import {
  SENT_FIELDS, type SentField, type SentFieldName,
} from '../domain/catalogue/product-fields.ts';
import { AppError, type Issue } from '../domain/error.ts';
import {
  parseProductRow, type ProductPatch, type ProductRow,
} from '../domain/catalogue/product.ts';

/** Fields that a row may leave out. */
export type RowField = SentField & { readonly name: Exclude<SentFieldName, 'sku'> };
export const ROW_FIELDS = SENT_FIELDS.filter((field): field is RowField => field.name !== 'sku');
/** Those that new products need, and may have a default for. */
export const DEFAULTABLE_FIELDS = ROW_FIELDS.filter(({ isRequired }) => isRequired);
export const DEFAULTABLE: readonly RowField['name'][] = DEFAULTABLE_FIELDS.map(({ name }) => name);
/** Those that are safe to suggest, since they claim nothing. */
export const SAFE_DEFAULTS: ReadonlyMap<string, string> = new Map([
  ['category', 'category:Uncategorized'], ['stock', 'stock:0'],
]);

export interface ImportRow {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** As sent; null if there is none. */
  readonly sku: string | null;
  /** The SKU with a mark that only means text, such as `'101`; undefined without a mark. */
  readonly markedSku?: string | undefined;
  /** Length of its text. */
  readonly characters: number;
  readonly content: RowContent;
  /** Why the row is not a product. */
  readonly skipReason?: SkipReason | undefined;
  /** The line of the file's previous row with the same SKU. */
  readonly previousLine?: number | undefined;
}

/** A product, or why there is none; undefined for a row that is not a product. */
export type RowContent =
  | {
    readonly product: ProductRow;
    /** Why the row is rejected if its SKU is new and a member has no default. */
    readonly missing?: readonly Issue[];
    readonly issues?: undefined;
  }
  | {
    readonly issues: readonly Issue[];
    readonly product?: undefined;
    readonly missing?: undefined;
  }
  | undefined;

/** Reads the rows of one file in slices. Parses a row only when its slice is requested. */
export interface RowReader<Row = ImportRow> {
  readonly format: 'csv' | 'ndjson';
  /** Ignored columns; known after the first rows. */
  readonly ignoredColumns: readonly string[];
  /** Sentences for the summary; known after the last row. */
  readonly notes: readonly string[];
  /** @throws AppError `invalid_data`, `invalid_query` if the file as a whole is invalid */
  read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Row[], void, void>;
}

/** Groups rows into slices. Rows before an error are yielded before it is thrown. */
export function* sliceRows<Row>(rows: Iterable<Row>): Generator<readonly Row[], void, void> {
  let slice: Row[] = [];
  try {
    for (const row of rows) {
      slice.push(row);
      if (slice.length < IMPORT_SLICE_ROWS) continue;
      yield slice;
      slice = [];
    }
  } catch (error) {
    yield slice;
    throw error;
  }
  if (slice.length > 0) yield slice;
}

/** What a row leaves out, which only a new product needs. */
export interface LeftOut {
  readonly defaults: ProductPatch;
  /** Errors of a new product, for members without a default. */
  readonly missing: readonly Issue[];
}

/** What must hold for a row to be imported. */
export type RowConditions = Pick<ProductRow, 'id' | 'createsNone'>;

/** Parses a product; `issues` are the errors of members that could not be read. */
export function parseContent(
  members: Readonly<Record<string, unknown>>, issues: readonly Issue[], currency: Currency,
  leftOut?: LeftOut, conditions?: RowConditions,
): RowContent {
  try {
    const parsed = parseProductRow(members, currency);
    if (issues.length > 0) return { issues };
    const product = conditions ? { ...parsed, ...conditions } : parsed;
    if (!leftOut) return { product };
    const { defaults, missing } = leftOut;
    return { product: { ...product, defaults }, missing };
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
    const memberIssues = error.issues.filter(({ pointer }) =>
      !issues.some((issue) => issue.pointer === pointer));
    return { issues: [...issues, ...memberIssues] };
  }
}

/** The error of a new product whose cell for a member is blank or absent. */
export function missingMember(member: string, code: 'blank' | 'required'): Issue {
  const fault = code === 'blank' ? 'Must not be blank' : 'Is required';
  return { pointer: `/${member}`, code, detail: `${fault} for a new product.` };
}

/** Blank lines cost time, and no real file has this many consecutive ones. */
export function tooManyBlankLines(line: number): AppError {
  const detail = `Line ${line} follows ${IMPORT_BLANK_LINES_LIMIT} blank lines. Remove them.`;
  return new AppError('invalid_data', detail);
}

/** An amount in one currency must never become the same amount in another. */
export function findCurrencyIssue(code: unknown, currency: Currency): Issue | undefined {
  if (code === currency.code) return undefined;
  const detail = `Must be ${currency.code}, the currency of this seller, or be left out.`;
  return { pointer: '/currency', code: 'mismatch', detail };
}

/**
 * In the error of a row that means something else outside its file: without the other rows of its
 * product, or the types of its cells. In a file of rejected rows, it is rejected again unless its
 * error was removed.
 */
export const SEND_WHOLE_FILE = 'send the whole file again';

export const PART: Issue = {
  pointer: '', code: 'duplicate',
  detail: 'As its error says, the row is only right in the original file. Correct that file, and '
    + `${SEND_WHOLE_FILE}.`,
};

/** Whether the error of a row says that it is right only in its file. */
export function isPart(error: unknown): boolean {
  return typeof error === 'string' && error.includes(SEND_WHOLE_FILE);
}

/** Adds the remedy to the error of such a row. */
export function asPart(error: string): string {
  return isPart(error) ? error
    : `${error} Correct it in the whole file, which may have other rows of its product, and `
      + `${SEND_WHOLE_FILE}.`;
}

/** The line of such a row in NDJSON, with its error as the first member. */
export function addError(line: Buffer, error: string): Buffer {
  const text = line.toString();
  const isMarked = /^\s*\{\s*"error"/.test(text);
  return isMarked ? line : Buffer.from(text.replace('{', `{"error":${JSON.stringify(error)},`));
}
