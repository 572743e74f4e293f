/** A call that changes the stock of many products. */
import { AppError, type Issue } from '../error.ts';
import {
  ISSUES_PER_RESPONSE_LIMIT, SOURCE_LIMIT_CODE_POINTS, STOCK_CHANGES_LIMIT, STOCK_SLICE_CHANGES,
} from '../limits.ts';
import { booleanValidator, lineValidator, ObjectReader, type ParseResult } from '../validation.ts';
import {
  type ProductReference, stockReason, parseStockChange, type SentChange, type StockChange,
} from './stock-change.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';

/** Where the numbers come from, and why they move. */
export interface StockOrigin {
  /** The system that counts its updates, 1..64 code points. */
  readonly source: string | undefined;
  /** For changes that give none of their own. */
  readonly reason: string | undefined;
}

/** What makes of a call the count of the whole catalogue: what it does not name is sold out. */
interface Stocktake {
  /** The most that may be set to nothing, in percent of the products in stock: 0 to 100. */
  readonly zeroLimitPercent: number;
}

export interface StockSync extends StockOrigin {
  readonly changes: readonly StockChange[];
  /** What faulty changes name: they are not made, and are no reason to set a product to nothing. */
  readonly faulty?: readonly ProductReference[];
  /** Whether all of it is made or nothing. */
  readonly isAtomic: boolean;
  readonly completion: Stocktake | undefined;
}

/** A call in which single changes may be faulty. */
export type SentSync = Omit<StockSync, 'changes' | 'faulty'>
  & { readonly changes: readonly SentChange[] };

const ZERO_LIMIT_DEFAULT_PERCENT = 50;

/** The system that the numbers come from. */
export const stockSource = lineValidator(SOURCE_LIMIT_CODE_POINTS);

/** The members of a request; all but `changes` may be left out. */
export const STOCK_SYNC_VALIDATORS = {
  changes: { schema: { type: 'array', maxItems: STOCK_CHANGES_LIMIT }, parse: parseChanges },
  atomic: booleanValidator,
  source: stockSource,
  reason: stockReason,
  complete: booleanValidator,
  zero_limit: {
    schema: { type: 'number', minimum: 0, maximum: 100, default: ZERO_LIMIT_DEFAULT_PERCENT },
    parse: parsePercent,
  },
  force: booleanValidator,
} as const;

/** @throws AppError `invalid_data` naming what is wrong beside the single changes */
export async function parseStockSync(body: unknown): Promise<SentSync> {
  const reader = new ObjectReader(body, {}, true);
  const {
    changes, atomic: isAtomic = false, source, reason, complete: isComplete = false,
    zero_limit: zeroLimitPercent, force: isForced = false,
  } = reader.readAll(STOCK_SYNC_VALIDATORS);
  reader.require('changes');
  reader.assertValid();
  const sent: SentChange[] = [];
  for (const change of changes ?? []) {
    sent.push(parseStockChange(change, source !== undefined));
    if (sent.length % STOCK_SLICE_CHANGES === 0) await yieldToEventLoop();
  }
  if (isComplete) assertNamed(sent);
  return {
    changes: sent,
    isAtomic, source, reason,
    completion: isComplete
      ? { zeroLimitPercent: isForced ? 100 : zeroLimitPercent ?? ZERO_LIMIT_DEFAULT_PERCENT }
      : undefined,
  };
}

/** A full count sets to nothing what it does not name: so it has to be known what it names. */
function assertNamed(sent: readonly SentChange[]): void {
  const issues: Issue[] = [];
  for (const [index, one] of sent.entries()) {
    if ('change' in one || one.named?.sku !== undefined || one.named?.id !== undefined) continue;
    const place = `/changes/${index}`;
    for (const issue of one.issues) {
      issues.push({ ...issue, pointer: `${place}${issue.pointer ?? ''}` });
    }
    if (issues.length >= ISSUES_PER_RESPONSE_LIMIT) break;
  }
  if (issues.length === 0) return;
  const what = 'A full count has to name each product so that it can be read: what it does not '
    + 'name is set to 0. Nothing was changed.';
  throw new AppError('invalid_data', what, { issues: issues.slice(0, ISSUES_PER_RESPONSE_LIMIT) });
}

/** The call as far as it can be made. */
export function selectValidChanges(sent: SentSync): StockSync {
  return {
    ...sent,
    changes: sent.changes.flatMap((one) => ('change' in one ? one.change : [])),
    faulty: sent.changes.flatMap((one) => ('issues' in one ? listReferences(one.named) : [])),
  };
}

/** One that names a product in both ways may mean either; one that names none is faulty still. */
function listReferences({ sku, id }: ProductReference = {}): ProductReference[] {
  return sku === undefined || id === undefined
    ? [{ ...(sku !== undefined && { sku }), ...(id !== undefined && { id }) }] : [{ sku }, { id }];
}

/** The error for a call of all or nothing, or of too much; `members` is what its answer tells. */
export function syncRejected(detail: string, members: string): AppError {
  return new AppError('sync_refused', `${detail} Nothing was changed.`, { members });
}

/** What is wrong with a change whose new stock would be too large. */
export const STOCK_TOO_LARGE: Issue = {
  pointer: '/adjust', code: 'range', detail: 'Would take the stock beyond 1,000,000,000.',
};

function parseChanges(value: unknown): ParseResult<readonly unknown[]> {
  if (!Array.isArray(value)) return { error: { code: 'type', detail: 'Must be an array.' } };
  if (value.length <= STOCK_CHANGES_LIMIT) return { value };
  const most = STOCK_CHANGES_LIMIT.toLocaleString('en');
  const detail = `Must have at most ${most} changes. More can be sent as application/x-ndjson.`;
  return { error: { code: 'length', detail } };
}

function parsePercent(value: unknown): ParseResult<number> {
  if (typeof value !== 'number') return { error: { code: 'type', detail: 'Must be a number.' } };
  if (value >= 0 && value <= 100) return { value };
  return { error: { code: 'range', detail: 'Must be from 0 to 100, in percent.' } };
}
