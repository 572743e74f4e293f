/**
 * Changes of stock that a seller sends, many at once: what one may say, and what becomes of it. A
 * change that is refused leaves no trace, so the same one may be sent again.
 */
import type { Issue } from '../error.ts';
import type { ProductId } from '../id.ts';
import { ISSUES_PER_CHANGE_LIMIT, REASON_LIMIT_CODE_POINTS, STOCK_LIMIT } from '../limits.ts';
import { escapePointer, type ParseResult, parseInteger, parseLine } from '../validation.ts';
import { type Sku, skuReference, stockQuantity } from './product-fields.ts';

/** It names a product in one of two ways, and says what its stock is to be in one of two ways. */
export interface StockChange {
  readonly sku?: Sku;
  /** The text of an id, as it was sent. */
  readonly id?: string;
  /** The new stock. */
  readonly set?: number;
  /** What is added to the stock, or with a minus taken from it. */
  readonly adjust?: number;
  /** The change is made only where the stock is this before. */
  readonly expect?: number;
  /** The source's own count of its updates: one that is not above the last is out of date. */
  readonly sequence?: number;
  /** 1..200 code points. */
  readonly reason?: string;
}

export type StockStatus =
  | 'ok' | 'unchanged' | 'not_found' | 'conflict' | 'stale' | 'insufficient' | 'invalid';

/** What became of a change; a member is undefined where it is not known. */
export interface StockResult {
  readonly status: StockStatus;
  readonly id?: ProductId | undefined;
  readonly sku?: Sku | undefined;
  /** The stock before and after: the same one where nothing was changed. */
  readonly previous?: number | undefined;
  readonly stock?: number | undefined;
  /** Position of the product's last change. */
  readonly position?: number | undefined;
}

/** Whether it did not do what was asked for. */
export function isFailure(status: StockStatus): boolean {
  return status !== 'ok' && status !== 'unchanged';
}

/** What a change makes of a stock, after the last sequence number of its source and product. */
export function judgeStockChange(
  { set, adjust = 0, expect, sequence }: StockChange, stock: number, lastSequence: number,
): { readonly status: StockStatus; readonly stock: number } {
  if (sequence !== undefined && sequence <= lastSequence) return { status: 'stale', stock };
  if (expect !== undefined && expect !== stock) return { status: 'conflict', stock };
  const to = set ?? stock + adjust;
  if (to < 0) return { status: 'insufficient', stock };
  if (to > STOCK_LIMIT) return { status: 'invalid', stock };
  return { status: to === stock ? 'unchanged' : 'ok', stock: to };
}

const PARSERS: ReadonlyMap<string, (value: unknown) => ParseResult<string | number>> = new Map<
  keyof StockChange, (value: unknown) => ParseResult<string | number>
>([
  ['sku', skuReference.parse],
  ['id', parseText],
  ['set', stockQuantity.parse],
  ['adjust', (value) => parseInteger(value, -STOCK_LIMIT, STOCK_LIMIT)],
  ['expect', stockQuantity.parse],
  ['sequence', (value) => parseInteger(value, 0, Number.MAX_SAFE_INTEGER)],
  ['reason', parseReason],
]);

/** The ways in which a change names its product. */
export type NamedProduct = Pick<StockChange, 'sku' | 'id'>;

/** A change as it was sent: in order, or with all that is wrong and the product that it names. */
export type SentChange =
  | { readonly change: StockChange }
  | { readonly issues: readonly Issue[]; readonly named?: NamedProduct };

/** There are thousands of them in a call. */
export function parseStockChange(value: unknown, hasSource: boolean): SentChange {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { issues: [{ pointer: '', code: 'type', detail: 'Must be an object.' }] };
  }
  const issues: Issue[] = [];
  const members: Record<string, unknown> = {};
  // Any object can be read by name: what it holds stays unknown.
  const record = value as Readonly<Record<string, unknown>>;
  for (const member of Object.keys(record)) {
    const parsed = PARSERS.get(member)?.(record[member]) ?? UNKNOWN;
    if ('value' in parsed) members[member] = parsed.value;
    else if (issues.length < ISSUES_PER_CHANGE_LIMIT) {
      issues.push({ pointer: `/${escapePointer(member)}`, ...parsed.error });
    }
  }
  // The parsers made its members.
  const change = members as StockChange;
  const issue = issues.length > 0 ? undefined : findContradiction(change, hasSource);
  if (issue) issues.push(issue);
  return issues.length > 0 ? { issues, named: change } : { change };
}

const UNKNOWN: ParseResult<never> = {
  error: {
    code: 'unknown',
    detail: `Is not a member of a change. It has: ${[...PARSERS.keys()].join(', ')}.`,
  },
};

function findContradiction(change: StockChange, hasSource: boolean): Issue | undefined {
  if ((change.sku === undefined) === (change.id === undefined)) {
    return { pointer: '', code: 'required', detail: 'Name the product by one of sku and id.' };
  }
  if ((change.set === undefined) === (change.adjust === undefined)) {
    return { pointer: '', code: 'required', detail: 'Say one of set and adjust.' };
  }
  if (change.sequence === undefined || hasSource) return undefined;
  const detail = 'Needs a source, of whose updates it is the count.';
  return { pointer: '/sequence', code: 'mismatch', detail };
}

function parseText(value: unknown): ParseResult<string> {
  if (typeof value === 'string') return { value };
  return { error: { code: 'type', detail: 'Must be a string.' } };
}

/** Why stock moves: 1..200 code points. */
export function parseReason(value: unknown): ParseResult<string> {
  return parseLine(value, REASON_LIMIT_CODE_POINTS);
}
