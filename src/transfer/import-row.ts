/** What is read from a row of a file that is imported, whatever the file's format. */
import { IMPORT_BLANK_LINES_LIMIT, IMPORT_TURN_ROWS } from '../config.ts';
import type { Currency } from '../domain/currency.ts';
import { AppError, type Issue } from '../domain/error.ts';
import { type NewProduct, parseNewProduct } from '../domain/product.ts';

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
  | { readonly product: NewProduct; readonly issues?: undefined }
  | { readonly issues: readonly Issue[]; readonly product?: undefined }
  | undefined;

/** Reads the rows of one file, a turn's worth at a time: none is parsed before it is asked for. */
export interface RowReader {
  /** Columns that nothing is read from; known once the first rows are. */
  readonly ignoredColumns: readonly string[];
  /** @throws AppError `invalid_data`, `invalid_query` where the file as a whole is faulty */
  read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportRow[], void, void>;
}

/** Rows in groups of a turn; those before a fault come before it. */
export function* gatherTurns<Row>(
  rows: Iterable<Row>,
): Generator<readonly Row[], void, void> {
  let turn: Row[] = [];
  try {
    for (const row of rows) {
      turn.push(row);
      if (turn.length < IMPORT_TURN_ROWS) continue;
      yield turn;
      turn = [];
    }
  } catch (error) {
    yield turn;
    throw error;
  }
  if (turn.length > 0) yield turn;
}

/** The product with these members; `issues` are the faults of those that could not be read. */
export function parseContent(
  members: Readonly<Record<string, unknown>>, issues: readonly Issue[], currency: Currency,
): RowContent {
  try {
    const product = parseNewProduct(members, currency);
    return issues.length === 0 ? { product } : { issues };
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
    const found = error.issues.filter(({ pointer }) =>
      !issues.some((issue) => issue.pointer === pointer));
    return { issues: [...issues, ...found] };
  }
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
