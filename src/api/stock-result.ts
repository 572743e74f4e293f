/** What became of changes of stock, as it is answered. */
import type { SellerId } from '../domain/id.ts';
import { formatProductId } from '../domain/id.ts';
import { isFailure, type StockResult } from '../domain/stock-change.ts';
import { type SentChange, TOO_MUCH } from '../domain/stock-sync.ts';

/** How many changes did something, and how many did not do what was asked for. */
export interface StockCounts {
  applied: number;
  unchanged: number;
  failed: number;
}

/** A change beside what became of it; without a result, it was faulty. */
export interface JudgedChange {
  readonly sent: SentChange;
  readonly result: StockResult | undefined;
}

/** Those that were in order had a result each, in their order. */
export function joinResults(
  sent: readonly SentChange[], results: readonly StockResult[],
): JudgedChange[] {
  let judged = 0;
  return sent.map((one) => {
    if ('issues' in one) return { sent: one, result: undefined };
    judged += 1;
    return { sent: one, result: results[judged - 1] };
  });
}

export function countResult(counts: StockCounts, { result }: JudgedChange): void {
  if (result === undefined || isFailure(result.status)) counts.failed += 1;
  else if (result.status === 'ok') counts.applied += 1;
  else counts.unchanged += 1;
}

/** The members of a result, as JSON without its braces: there are thousands in an answer. */
export function formatResult(sellerId: SellerId, { sent, result }: JudgedChange): string {
  if ('issues' in sent || result === undefined) {
    const errors = JSON.stringify('issues' in sent ? sent.issues : []);
    return `"sku":null,"id":null,"status":"invalid","previous":null,"stock":null,"position":null`
      + `,"errors":${errors}`;
  }
  const { status, id, sku, previous, stock, position } = result;
  const shownId = id === undefined ? sent.change.id : formatProductId(sellerId, id);
  return `"sku":${JSON.stringify(sku ?? null)},"id":${JSON.stringify(shownId ?? null)}`
    + `,"status":"${status}","previous":${previous ?? null},"stock":${stock ?? null}`
    + `,"position":${position ?? null}`
    + (status === 'invalid' ? `,"errors":${JSON.stringify([TOO_MUCH])}` : '');
}
