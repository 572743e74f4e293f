/** Parses requests that change the stock of many products. */
import { AppError, type Issue } from '../error.ts';
import {
  ISSUES_PER_RESPONSE_LIMIT, SOURCE_LIMIT_CODE_POINTS, STOCK_CHANGES_LIMIT, STOCK_SLICE_CHANGES,
} from '../limits.ts';
import {
  absentIfNull, booleanValidator, invalid, lineValidator, ObjectReader, type ParseResult,
} from '../validation.ts';
import {
  type ProductReference, stockReason, parseStockChange, type SentChange, type StockChange,
} from './stock-change.ts';
import { formatCount } from '../wording.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';

/** Where the stock numbers come from, and why they change. */
export interface StockOrigin {
  /** The system that numbers its updates: 1..64 code points. */
  readonly source: string | undefined;
  /** For changes without their own reason. */
  readonly reason: string | undefined;
}

/** Makes a request a complete count of the catalogue: products that it omits are set to 0. */
interface Stocktake {
  /** Maximum share of the products in stock that may be set to 0, in percent: 0 to 100. */
  readonly zeroLimitPercent: number;
}

export interface StockSync extends StockOrigin {
  /** The valid changes. */
  readonly changes: readonly StockChange[];
  /** Products named by invalid changes: a stocktake does not set them to 0. */
  readonly faulty?: readonly ProductReference[];
  /** Whether a failed change rejects the whole request. */
  readonly isAtomic: boolean;
  readonly completion: Stocktake | undefined;
}

export const ZERO_LIMIT_DEFAULT_PERCENT = 50;

/** Whether a stocktake would set too many of the products in stock to 0. */
export function isOverZeroLimit(missing: number, inStock: number, limitPercent: number): boolean {
  return missing * 100 > inStock * limitPercent;
}

export const stockSource = lineValidator(SOURCE_LIMIT_CODE_POINTS);

/** The members of a request; only `changes` is required. */
export const STOCK_SYNC_VALIDATORS = {
  changes: { schema: { type: 'array', maxItems: STOCK_CHANGES_LIMIT }, parse: parseChanges },
  atomic: { ...booleanValidator, description: 'Apply all changes or none.' },
  source: { ...absentIfNull(stockSource), description: 'The system that the numbers come from.' },
  reason: { ...absentIfNull(stockReason), description: 'The reason for the changes.' },
  complete: {
    ...booleanValidator,
    description: 'A stocktake: sets every product that is not named to 0. Rejected if a change '
      + 'does not name its product.',
  },
  zero_limit: {
    schema: { type: 'number', minimum: 0, maximum: 100, default: ZERO_LIMIT_DEFAULT_PERCENT },
    parse: parsePercent,
    description: 'Maximum share of products in stock that a stocktake may set to 0, in percent.',
  },
  force: { ...booleanValidator, description: 'Ignore `zero_limit`.' },
} as const;

/**
 * The changes as sent, and the mutation to apply.
 * @throws AppError `invalid_data` naming every error except those of single changes
 */
export async function parseStockSync(
  body: unknown,
): Promise<{ readonly entries: readonly SentChange[]; readonly sync: StockSync }> {
  const reader = new ObjectReader(body, {}, true);
  const {
    changes, atomic: isAtomic = false, source, reason, complete: isComplete = false,
    zero_limit: zeroLimitPercent, force: isForced = false,
  } = reader.readAll(STOCK_SYNC_VALIDATORS);
  reader.require('changes');
  reader.assertValid();
  const entries: SentChange[] = [];
  const valid: StockChange[] = [];
  const faulty: ProductReference[] = [];
  for (const change of changes ?? []) {
    if (entries.length > 0 && entries.length % STOCK_SLICE_CHANGES === 0) await yieldToEventLoop();
    const entry = parseStockChange(change, source !== undefined);
    entries.push(entry);
    if ('change' in entry) valid.push(entry.change);
    else faulty.push(...listReferences(entry.reference));
  }
  if (isComplete) assertNamed(entries);
  const zeroLimit = isForced ? 100 : zeroLimitPercent ?? ZERO_LIMIT_DEFAULT_PERCENT;
  const sync = {
    changes: valid,
    isAtomic, source, reason,
    completion: isComplete ? { zeroLimitPercent: zeroLimit } : undefined,
    faulty,
  };
  return { entries, sync };
}

/** A stocktake sets omitted products to 0, so each change must name its product. */
function assertNamed(entries: readonly SentChange[]): void {
  const issues: Issue[] = [];
  for (const [index, entry] of entries.entries()) {
    if ('change' in entry) continue;
    if (namesProduct(entry.reference)) continue;
    issues.push(...entry.issues.map((issue) =>
      ({ ...issue, pointer: `/changes/${index}${issue.pointer ?? ''}` })));
    if (issues.length >= ISSUES_PER_RESPONSE_LIMIT) break;
  }
  if (issues.length === 0) return;
  const detail = 'Every change of a stocktake must name its product, and one with an error not by '
    + 'its barcode, since all other products are set to 0. Nothing was changed.';
  throw new AppError('invalid_data', detail, {
    issues: issues.slice(0, ISSUES_PER_RESPONSE_LIMIT),
  });
}

/** Whether an invalid change says which product it means: a barcode may be that of any. */
export function namesProduct({ sku, id, barcode }: ProductReference = {}): boolean {
  return barcode === undefined && (sku ?? id) !== undefined;
}

/** What an invalid change names: one with both `sku` and `id` may mean either product. */
export function listReferences({ sku, id }: ProductReference = {}): ProductReference[] {
  return sku === undefined || id === undefined
    ? [{ ...(sku !== undefined && { sku }), ...(id !== undefined && { id }) }] : [{ sku }, { id }];
}

function parseChanges(value: unknown): ParseResult<readonly unknown[]> {
  if (!Array.isArray(value)) return invalid('type', 'Must be an array.');
  if (value.length <= STOCK_CHANGES_LIMIT) return { value };
  const most = formatCount(STOCK_CHANGES_LIMIT);
  return invalid('length', `Must have at most ${most} changes. Send more as application/x-ndjson.`);
}

function parsePercent(value: unknown): ParseResult<number> {
  if (typeof value !== 'number') return invalid('type', 'Must be a number.');
  if (value >= 0 && value <= 100) return { value };
  return invalid('range', 'Must be from 0 to 100, in percent.');
}
