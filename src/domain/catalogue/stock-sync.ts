/** A request that changes the stock of many products: its members, parsed and validated. */
import { AppError, type Issue } from '../error.ts';
import {
  ISSUES_PER_RESPONSE_LIMIT, SOURCE_LIMIT_CODE_POINTS, STOCK_CHANGES_LIMIT, STOCK_SLICE_CHANGES,
} from '../limits.ts';
import {
  booleanValidator, invalid, lineValidator, ObjectReader, type ParseResult,
} from '../validation.ts';
import {
  type ProductReference, stockReason, parseStockChange, type SentChange, type StockChange,
} from './stock-change.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';

/** Where the numbers come from, and why they change. */
export interface StockOrigin {
  /** The system that counts its updates, 1..64 code points. */
  readonly source: string | undefined;
  /** For changes that have none of their own. */
  readonly reason: string | undefined;
}

/** Makes a request the complete count of a catalogue: products that it omits are set to 0. */
interface Stocktake {
  /** The most products that may be set to 0, in percent of those in stock: 0 to 100. */
  readonly zeroLimitPercent: number;
}

export interface StockSync extends StockOrigin {
  /** The valid ones of the changes that were sent. */
  readonly changes: readonly StockChange[];
  /** Products that invalid changes name: a stocktake does not set them to 0. */
  readonly faulty?: readonly ProductReference[];
  /** Whether all changes are applied, or none. */
  readonly isAtomic: boolean;
  readonly completion: Stocktake | undefined;
}

const ZERO_LIMIT_DEFAULT_PERCENT = 50;

/** The system that the numbers come from. */
export const stockSource = lineValidator(SOURCE_LIMIT_CODE_POINTS);

/** The members of a request; all but `changes` may be left out. */
export const STOCK_SYNC_VALIDATORS = {
  changes: { schema: { type: 'array', maxItems: STOCK_CHANGES_LIMIT }, parse: parseChanges },
  atomic: { ...booleanValidator, description: 'Make all changes or none.' },
  source: { ...stockSource, description: 'The system that the numbers come from.' },
  reason: { ...stockReason, description: 'Why.' },
  complete: {
    ...booleanValidator,
    description: 'A stocktake: every product that is not named is set to 0. Rejected if a change '
      + 'does not name its product.',
  },
  zero_limit: {
    schema: { type: 'number', minimum: 0, maximum: 100, default: ZERO_LIMIT_DEFAULT_PERCENT },
    parse: parsePercent,
    description: 'The most that a stocktake may set to 0, in percent of the products in stock.',
  },
  force: { ...booleanValidator, description: 'Ignore `zero_limit`.' },
} as const;

/**
 * The changes as sent, and the mutation that they make.
 * @throws AppError `invalid_data` naming every error except those of single changes
 */
export async function parseStockSync(
  body: unknown,
): Promise<{ readonly sent: readonly SentChange[]; readonly sync: StockSync }> {
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
  const zeroLimit = isForced ? 100 : zeroLimitPercent ?? ZERO_LIMIT_DEFAULT_PERCENT;
  const sync = {
    changes: sent.flatMap((one) => ('change' in one ? one.change : [])),
    isAtomic, source, reason,
    completion: isComplete ? { zeroLimitPercent: zeroLimit } : undefined,
    faulty: sent.flatMap((one) => ('issues' in one ? listReferences(one.named) : [])),
  };
  return { sent, sync };
}

/** A stocktake sets to 0 what it omits, so each change must name its product. */
function assertNamed(sent: readonly SentChange[]): void {
  const issues: Issue[] = [];
  for (const [index, one] of sent.entries()) {
    if ('change' in one || one.named?.sku !== undefined || one.named?.id !== undefined) continue;
    issues.push(...one.issues.map((issue) =>
      ({ ...issue, pointer: `/changes/${index}${issue.pointer ?? ''}` })));
    if (issues.length >= ISSUES_PER_RESPONSE_LIMIT) break;
  }
  if (issues.length === 0) return;
  const what = 'Every change of a stocktake must identify its product, since all others are set '
    + 'to 0. Nothing was changed.';
  throw new AppError('invalid_data', what, { issues: issues.slice(0, ISSUES_PER_RESPONSE_LIMIT) });
}

/** A change that names a product in both ways may mean either. */
function listReferences({ sku, id }: ProductReference = {}): ProductReference[] {
  return sku === undefined || id === undefined
    ? [{ ...(sku !== undefined && { sku }), ...(id !== undefined && { id }) }] : [{ sku }, { id }];
}

function parseChanges(value: unknown): ParseResult<readonly unknown[]> {
  if (!Array.isArray(value)) return invalid('type', 'Must be an array.');
  if (value.length <= STOCK_CHANGES_LIMIT) return { value };
  const most = STOCK_CHANGES_LIMIT.toLocaleString('en');
  return invalid(
    'length', `Must have at most ${most} changes. More can be sent as application/x-ndjson.`,
  );
}

function parsePercent(value: unknown): ParseResult<number> {
  if (typeof value !== 'number') return invalid('type', 'Must be a number.');
  if (value >= 0 && value <= 100) return { value };
  return invalid('range', 'Must be from 0 to 100, in percent.');
}
