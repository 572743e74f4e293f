/** Imports and reverts for the tests of reverts. */
import assert from 'node:assert/strict';
import type { ProductRow } from '../../../src/domain/catalogue/product.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { ImportId } from '../../../src/domain/id.ts';
import type { ImportMode } from '../../../src/store/catalogue-store.ts';
import type { RevertedProduct, RevertRequest, RevertSelection } from
  '../../../src/store/revert-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor, WriteContext } from '../../../src/store/write.ts';
import { makeSync } from './stock.ts';

export const A = 'A' as Sku; // legal ones
export const B = 'B' as Sku;

/** Imports rows in one part, and returns the id of the import, which may have broken off. */
export async function importRows(
  store: Store, actor: Actor, rows: readonly ProductRow[], mode: ImportMode = 'upsert',
  isLast = true,
): Promise<ImportId> {
  const part = { id: undefined, record: { kind: 'products' as const }, counts: {}, isLast };
  const { importId } = await store.importProducts({ ...actor, import: part }, rows, mode);
  assert.ok(importId);
  return importId;
}

/** Sells units of a product. */
export async function sell(store: Store, actor: Actor, sku: Sku, units: number): Promise<void> {
  await store.syncStock(actor, makeSync([{ sku, adjust: -units }]), false);
}

interface Reverted {
  readonly lines: readonly RevertedProduct[];
  /** The status of each product, or the reason of its conflict: `A restored`, `B (moved)`. */
  readonly statuses: readonly string[];
  readonly importId: ImportId | undefined;
  readonly isReplay: boolean;
  readonly position: number;
}

/** Runs a revert to its end. */
export async function revert(
  store: Store, write: WriteContext, selection: RevertSelection,
  options: Partial<Omit<RevertRequest, 'selection'>> = {},
): Promise<Reverted> {
  const request = { selection, isForced: false, isDryRun: false, ...options };
  using run = await store.startRevert(write, request);
  const lines: RevertedProduct[] = [];
  for (let batch = await run.next(); batch.length > 0; batch = await run.next()) {
    lines.push(...batch);
  }
  const position = await run.finish();
  const { importId, isReplay } = run;
  const statuses = lines.map(({ sku, status, conflict }) =>
    `${sku} ${conflict ? `(${conflict})` : status}`);
  return { lines, statuses, importId, isReplay, position };
}
