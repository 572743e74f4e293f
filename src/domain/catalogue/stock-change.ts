/**
 * Parses and evaluates stock changes, of which a seller sends many in one request. A rejected
 * change leaves no trace, so it may be sent again.
 */
import type { Issue } from '../error.ts';
import type { ProductId } from '../id.ts';
import { ISSUES_PER_CHANGE_LIMIT, REASON_LIMIT_CODE_POINTS, STOCK_LIMIT } from '../limits.ts';
import {
  absentIfNull, escapePointer, integerValidator, invalid, lineValidator, stringValidator,
  type Validator,
} from '../validation.ts';
import { barcodeValidator, describeAmbiguous } from './barcode.ts';
import { describeIdOwner, explainUnknownSku } from './spreadsheet-sku.ts';
import { type Sku, skuValidator } from './product-fields.ts';
import { stockQuantity } from './product-definition.ts';

/**
 * Has exactly one of `set` and `adjust`, and one of `sku`, `id` and `barcode`. In a row of a file
 * with SKU and id, the SKU names the product, and the id must not be that of another one.
 */
export interface StockChange {
  readonly sku?: Sku;
  /** The id as sent. */
  readonly id?: string;
  /** The barcode as sent, with any number of leading zeros; archived products have theirs, too. */
  readonly barcode?: string;
  /** The new stock. */
  readonly set?: number;
  /** Added to the stock; negative to remove. */
  readonly adjust?: number;
  /** Applied only if this is the current stock. */
  readonly expect?: number;
  /** The source's sequence number for its updates; stale if not above the last one. */
  readonly sequence?: number;
  /** 1..200 code points. */
  readonly reason?: string;
}

/**
 * `ok`: the stock was changed. `unchanged`: it already had this value. `not_found`: you have no
 * such product. `conflict`: the stock differs from `expect`. `stale`: `sequence` is not above the
 * last one of its source. `insufficient`: there is less stock than the change would remove.
 * `invalid`: the change is invalid, for the reasons in `errors`.
 * `ambiguous`: several products have the barcode.
 */
export type StockStatus =
  | 'ok' | 'unchanged' | 'not_found' | 'conflict' | 'stale' | 'insufficient' | 'invalid'
  | 'ambiguous';

/** The outcome of a change; unknown members are undefined. */
export interface StockResult {
  readonly status: StockStatus;
  readonly id?: ProductId | undefined;
  readonly sku?: Sku | undefined;
  /** Those of the products that have the barcode of an `ambiguous` change. */
  readonly skus?: readonly Sku[] | undefined;
  /** The stock before and after; equal if nothing was changed. */
  readonly previous?: number | undefined;
  readonly stock?: number | undefined;
  /** Position of the product's last change. */
  readonly position?: number | undefined;
}

export function isFailure(status: StockStatus): boolean {
  return status !== 'ok' && status !== 'unchanged';
}

/** The product that a failed change names, and its stock. */
interface Failure
  extends Partial<Readonly<Record<'sku' | 'id' | 'barcode', string | null | undefined>>> {
  readonly status: StockStatus;
  readonly stock?: number | null | undefined;
}

/**
 * Why a change was not made, in a sentence; undefined if its errors say why. `expect` is what it
 * sent, if that is known.
 */
export function explainFailure(
  { status, sku, id, barcode, stock }: Failure, expect?: number,
): string | undefined {
  const name = sku ?? id ?? barcode;
  switch (status) {
    case 'not_found': {
      const hint = explainUnknownSku(sku ?? '');
      const kind = name === sku ? 'SKU' : name === id ? 'id' : 'barcode';
      const fault = `There is no product with the ${kind} ${name}.`;
      return hint === undefined ? fault : `${fault} ${hint}`;
    }
    case 'conflict': return `The stock of ${name} is ${stock}, not ${expect ?? 'as expected'}.`;
    case 'insufficient': return `The stock of ${name} is only ${stock}.`;
    case 'stale': return `A newer number for ${name} was applied before, by its sequence.`;
    default: return undefined;
  }
}

/** The effect of a change; `lastSequence` is the last one of the source for this product. */
export function evaluateStockChange(
  { set, adjust = 0, expect, sequence }: StockChange, stock: number, lastSequence: number,
): { readonly status: StockStatus; readonly stock: number } {
  if (sequence !== undefined && sequence <= lastSequence) return { status: 'stale', stock };
  if (expect !== undefined && expect !== stock) return { status: 'conflict', stock };
  const to = set ?? stock + adjust;
  if (to < 0) return { status: 'insufficient', stock };
  if (to > STOCK_LIMIT) return { status: 'invalid', stock };
  return { status: to === stock ? 'unchanged' : 'ok', stock: to };
}

/** Whether the id of a change is that of another product than its SKU: the one of the result. */
export function isMismatch({ status, id, previous }: StockResult): boolean {
  return status === 'invalid' && id !== undefined && previous === undefined;
}

/** The error of a change whose new stock would be too large. */
export const STOCK_TOO_LARGE: Issue = {
  pointer: '/adjust', code: 'range', detail: 'Would raise the stock above 1,000,000,000.',
};

/** The error of a change that is invalid, or ambiguous, only for the product that it names. */
export function describeInvalid(result: StockResult): Issue {
  if (result.status === 'ambiguous') return describeAmbiguous(result.skus ?? []);
  return isMismatch(result) ? describeIdOwner(result.sku ?? '') : STOCK_TOO_LARGE;
}

/** Why the stock changed. */
export const stockReason = lineValidator(REASON_LIMIT_CODE_POINTS);
/** The source's sequence number for its updates. */
export const stockSequence = integerValidator(0, Number.MAX_SAFE_INTEGER);
export const stockDelta = integerValidator(-STOCK_LIMIT, STOCK_LIMIT);

/** The members of a change, each optional on its own. */
export const STOCK_CHANGE_VALIDATORS = {
  sku: skuValidator,
  id: stringValidator,
  barcode: {
    ...barcodeValidator,
    description: 'The barcode of exactly one product, with any number of leading zeros.',
  },
  set: { ...stockQuantity, description: 'The new stock.' },
  adjust: { ...stockDelta, description: 'Added to the stock; negative to remove.' },
  expect: { ...stockQuantity, description: 'Apply only if this is the current stock.' },
  sequence: {
    ...stockSequence,
    description: 'Apply only if this is above the last one of the source.',
  },
  reason: { ...absentIfNull(stockReason), description: 'Overrides the reason of the request.' },
} as const satisfies { readonly [Member in keyof Required<StockChange>]: Validator<unknown> };

const VALIDATORS: ReadonlyMap<string, Validator<unknown>> =
  new Map(Object.entries(STOCK_CHANGE_VALIDATORS));

/** How a change identifies its product. */
export type ProductReference = Pick<StockChange, 'sku' | 'id' | 'barcode'>;

/**
 * A valid change, and how it was sent to name its product, if that differs; or the errors of an
 * invalid one, and the product that it names.
 */
export type SentChange =
  | { readonly change: StockChange; readonly reference?: ProductReference }
  | { readonly issues: readonly Issue[]; readonly reference?: ProductReference };

/** Optimised for thousands of changes per request. `hasSource`: whether `sequence` is allowed. */
export function parseStockChange(value: unknown, hasSource: boolean): SentChange {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { issues: [{ pointer: '', code: 'type', detail: 'Must be an object.' }] };
  }
  const issues: Issue[] = [];
  const members: Record<string, unknown> = {};
  // The cast: any object can be read by name, and its values stay unknown.
  const record = value as Readonly<Record<string, unknown>>;
  for (const member of Object.keys(record)) {
    const parsed = VALIDATORS.get(member)?.parse(record[member]) ?? UNKNOWN;
    if ('value' in parsed) members[member] = parsed.value;
    else if (issues.length < ISSUES_PER_CHANGE_LIMIT) {
      issues.push({ pointer: `/${escapePointer(member)}`, ...parsed.error });
    }
  }
  // The cast: the validators returned its members.
  const change = members as StockChange;
  const issue = issues.length > 0 ? undefined : findContradiction(change, hasSource);
  if (issue) issues.push(issue);
  return issues.length > 0 ? { issues, reference: change } : { change };
}

const UNKNOWN = invalid(
  'unknown', `Is not a member of a change. It has: ${[...VALIDATORS.keys()].join(', ')}.`,
);

function findContradiction(change: StockChange, hasSource: boolean): Issue | undefined {
  const { sku, id, barcode } = change;
  if (Number(sku !== undefined) + Number(id !== undefined) + Number(barcode !== undefined) !== 1) {
    const detail = 'Name the product by one of sku, id and barcode.';
    return { pointer: '', code: 'required', detail };
  }
  if ((change.set === undefined) === (change.adjust === undefined)) {
    return { pointer: '', code: 'required', detail: 'Send either set or adjust.' };
  }
  if (change.sequence === undefined || hasSource) return undefined;
  const detail = 'Requires a source, whose updates it numbers.';
  return { pointer: '/sequence', code: 'mismatch', detail };
}
