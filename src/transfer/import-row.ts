/** What is read from a row of a file that is imported, whatever the file's format. */
import { IMPORT_BLANK_LINES_LIMIT, IMPORT_SLICE_ROWS } from './limits.ts';
import type { Currency } from '../domain/catalogue/currency.ts';
import { AppError, type Issue } from '../domain/error.ts';
import {
  parseProductRow, type ProductPatch, type ProductRow,
} from '../domain/catalogue/product.ts';

export interface ImportRow {
  /** The line of the file that it begins on, from 1. */
  readonly line: number;
  /** As it was sent; null where there is none. */
  readonly sku: string | null;
  /** How much text it was. */
  readonly characters: number;
  readonly content: RowContent;
}

/** A product, or why there is none; undefined for a row that is not meant to hold one. */
export type RowContent =
  | {
    readonly product: ProductRow;
    /** Why the row is rejected if no product has its SKU and a member has no default. */
    readonly missing?: readonly Issue[];
    readonly issues?: undefined;
  }
  | {
    readonly issues: readonly Issue[];
    readonly product?: undefined;
    readonly missing?: undefined;
  }
  | undefined;

/** Reads the rows of one file, a turn's worth at a time: none is parsed before it is asked for. */
export interface RowReader {
  /** Columns that nothing is read from; known once the first rows are. */
  readonly ignoredColumns: readonly string[];
  /** @throws AppError `invalid_data`, `invalid_query` where the file as a whole is faulty */
  read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportRow[], void, void>;
}

/** Rows in groups of a turn; those before a fault come before it. */
export function* sliceRows<Row>(
  rows: Iterable<Row>,
): Generator<readonly Row[], void, void> {
  let turn: Row[] = [];
  try {
    for (const row of rows) {
      turn.push(row);
      if (turn.length < IMPORT_SLICE_ROWS) continue;
      yield turn;
      turn = [];
    }
  } catch (error) {
    yield turn;
    throw error;
  }
  if (turn.length > 0) yield turn;
}

/** The members that a row leaves out, which only a new product needs. */
export interface LeftOut {
  readonly defaults: ProductPatch;
  /** The faults of a new product without those that have no default. */
  readonly missing: readonly Issue[];
}

/** The product with these members; `issues` are the faults of those that could not be read. */
export function parseContent(
  members: Readonly<Record<string, unknown>>, issues: readonly Issue[], currency: Currency,
  leftOut?: LeftOut,
): RowContent {
  try {
    const product = parseProductRow(members, currency);
    if (issues.length > 0) return { issues };
    if (!leftOut) return { product };
    const { defaults, missing } = leftOut;
    return { product: { ...product, defaults }, missing };
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
    const found = error.issues.filter(({ pointer }) =>
      !issues.some((issue) => issue.pointer === pointer));
    return { issues: [...issues, ...found] };
  }
}

/** A new product has no value of a member: its cell is blank, or there is no such member at all. */
export function missingMember(member: string, code: 'blank' | 'required'): Issue {
  const what = code === 'blank' ? 'Must not be blank' : 'Is required';
  return { pointer: `/${member}`, code, detail: `${what} for a new product.` };
}

/** Nobody's file has so many, and each costs time. */
export function tooManyBlankLines(line: number): AppError {
  const detail = `Line ${line} ends ${IMPORT_BLANK_LINES_LIMIT} blank lines. Leave them out.`;
  return new AppError('invalid_data', detail);
}

/** 10 of one currency must never become 10 of another. */
export function findCurrencyIssue(sent: unknown, currency: Currency): Issue | undefined {
  if (sent === currency.code) return undefined;
  const detail = `Must be ${currency.code}, the currency of this seller, or be left out.`;
  return { pointer: '/currency', code: 'mismatch', detail };
}
