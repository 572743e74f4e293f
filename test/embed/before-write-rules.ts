/** What shops with a `beforeWrite` hook do, on every engine. */
import assert from 'node:assert/strict';
import {
  ApiError, type ImportOptions, type ImportProduct, type Product, type SellerApi,
} from '../../src/client/index.ts';
import type { BeforeWrite, ProposedChange, ProposedStates } from '../../src/index.ts';

export const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 100, stock: 40 };

/** A change as the hook has seen it. */
export interface Seen extends ProposedStates {
  readonly change: ProposedChange;
}

/** A hook that notes what it sees; `decide` may reject. */
export function makeHook(decide: BeforeWrite = () => undefined) {
  const seen: Seen[] = [];
  let isOn = true;
  return {
    seen,
    /** What it has seen since the last call: type, SKU, price and stock before and after. */
    take(): readonly unknown[] {
      return seen.splice(0).map(({ change: { type, sku, isDryRun }, before, after }) => [
        type, sku, before && [before.price, before.stock], after && [after.price, after.stock],
        ...isDryRun ? ['dry run'] : [],
      ]);
    },
    set isOn(value: boolean) {
      isOn = value;
    },
    beforeWrite: ((change, states) => {
      seen.push({ change, ...states });
      return isOn ? decide(change, states) : undefined;
    }) satisfies BeforeWrite as BeforeWrite,
  };
}

export const noCutAbove20: BeforeWrite = (_, { before, after }) =>
  (before && after && after.price < before.price * 0.8 ? 'No cut above 20 %.' : undefined);

/** The lines of a report, and its summary. */
export async function readReport(report: Promise<AsyncIterable<object> & {
  summary(): Promise<object>;
}>) {
  const opened = await report;
  return { lines: await Array.fromAsync(opened), summary: await opened.summary() };
}

export function importRows(
  api: SellerApi, rows: readonly ImportProduct[], options?: ImportOptions,
) {
  const source = ReadableStream.from(rows);
  return readReport(api.products.import(source, { duplicates: 'last', ...options }));
}

/** Concurrent cuts, of which none may be above 20 % of the price that it replaces. */
export async function raceCuts(apis: readonly SellerApi[]): Promise<void> {
  const [first] = apis;
  assert.ok(first);
  for (let round = 0; round < 3; round += 1) {
    const sku = `RACE-${round}`;
    await first.products.create({ ...MUG, sku });
    // After a raise, the next price is a cut of more than it was before.
    const prices = [85, 130, 84, 125, 83, 140, 82, 150, 81, 120, 81, 160];
    const isSyncing = round === 2;
    const results = await Promise.allSettled(prices.flatMap((price, index): Promise<unknown>[] => {
      const api = apis[index % apis.length] ?? first;
      return [
        api.products.patch({ sku }, { price }),
        ...index < 4 ? [importRows(api, [{ sku, price: price - 1 }])] : [], // 4 may run
        ...isSyncing ? [api.stock.sync([{ sku, adjust: 1 }])] : [],
      ];
    }));
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      assert.ok(result.reason instanceof ApiError, String(result.reason));
      assert.equal(result.reason.code, 'write_rejected', String(result.reason));
    }
    const product: Product = await first.products.get({ sku });
    assert.equal(product.stock, MUG.stock + (isSyncing ? prices.length : 0));
    await assertPairwise(first, sku);
  }
}

async function assertPairwise(api: SellerApi, sku: string): Promise<void> {
  const changes = await Array.fromAsync(api.changes({ after: 0 }));
  const prices = changes.flatMap(({ sku: changed, data }) =>
    (changed === sku && 'price' in data ? data.price : []));
  assert.ok(prices.length > 1, String(prices));
  for (const [index, price] of prices.slice(1).entries()) {
    assert.ok(price >= (prices[index] ?? 0) * 0.8, `${sku}: ${prices.join(', ')}`);
  }
}
