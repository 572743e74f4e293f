/** The results of stock changes, as responses have them. */
import { formatProductId, type SellerId } from '../../domain/id.ts';
import {
  isFailure, type SentChange, type StockResult,
} from '../../domain/catalogue/stock-change.ts';
import { STOCK_TOO_LARGE } from '../../domain/catalogue/stock-sync.ts';

/** How many changes were applied, had no effect, and failed. */
export interface StockCounts {
  applied: number;
  unchanged: number;
  failed: number;
}

/** A change and its result; without a result, it was invalid. */
export interface EvaluatedChange {
  readonly sent: SentChange;
  readonly result: StockResult | undefined;
}

/** Pairs changes with their results: each valid change has one, in order. */
export function joinResults(
  sent: readonly SentChange[], results: readonly StockResult[],
): EvaluatedChange[] {
  let count = 0;
  return sent.map((one) => {
    if ('issues' in one) return { sent: one, result: undefined };
    count += 1;
    return { sent: one, result: results[count - 1] };
  });
}

export function countResult(counts: StockCounts, { result }: EvaluatedChange): void {
  if (result === undefined || isFailure(result.status)) counts.failed += 1;
  else if (result.status === 'ok') counts.applied += 1;
  else counts.unchanged += 1;
}

/** The members of a result as JSON, without braces. Concatenated: responses have thousands. */
export function formatResult(sellerId: SellerId, { sent, result }: EvaluatedChange): string {
  const named = 'change' in sent ? sent.change : sent.named;
  const { status, id, previous, stock, position } = result ?? INVALID;
  const shownId = id === undefined ? named?.id : formatProductId(sellerId, id);
  const errors = 'issues' in sent ? sent.issues : [STOCK_TOO_LARGE];
  return `"sku":${JSON.stringify(result?.sku ?? named?.sku ?? null)}`
    + `,"id":${JSON.stringify(shownId ?? null)},"status":"${status}"`
    + `,"previous":${previous ?? null},"stock":${stock ?? null},"position":${position ?? null}`
    + (status === 'invalid' ? `,"errors":${JSON.stringify(errors)}` : '');
}

const INVALID: StockResult = { status: 'invalid' };
