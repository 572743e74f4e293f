/**
 * The task of a bulk edit: changes the category of products, archives, restores or deletes them.
 * It covers ticked products, or all that match a filter when it starts, except those created after
 * the preview. A deletion covers only products that have not changed since the preview. Runs in
 * batches, all parts of one import record.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { makeImportParts } from '../../../../api/ingest.ts';
import type { BulkMode } from '../../../../domain/catalogue/import.ts';
import { isSameProduct } from '../../../../domain/catalogue/product.ts';
import type { Product } from '../../../../domain/catalogue/product-fields.ts';
import type { ProductFilter } from '../../../../domain/catalogue/product-query.ts';
import { AppError } from '../../../../domain/error.ts';
import type { ProductId, SellerId } from '../../../../domain/id.ts';
import { CATEGORY_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import { lineValidator } from '../../../../domain/validation.ts';
import type { EditEffect, ProductEdit } from '../../../../store/catalogue-store.ts';
import type { Store } from '../../../../store/store.ts';
import {
  BULK_ATTEMPTS_LIMIT, BULK_BATCH_PRODUCTS, BULK_RETRY_MS, PREVIEW_ROWS_SHOWN,
} from '../../limits.ts';
import type { Selection } from '../../products/product-selection.ts';
import { type Progress, readPosition, startProgress, type TaskRun } from '../job-kind.ts';

export const categoryValidator = lineValidator(CATEGORY_LIMIT_CODE_POINTS);

/** `category`: undefined until the seller has chosen it. */
type BulkChange =
  | { readonly mode: 'category' & BulkMode; readonly category: string | undefined }
  | { readonly mode: Exclude<BulkMode, 'edit' | 'category'> };

type BulkCounts = Record<'updated' | 'deleted' | 'unchanged' | 'conflicts', number>;

/** The result of the dry run. */
interface BulkPreview {
  /** The first ones that would change. */
  readonly products: readonly Pick<Product, 'id' | 'sku' | 'name' | 'category' | 'stock'>[];
  /** How many have the new category already and are not selected: they will share it. */
  readonly others: number;
  /** Products that were created later are left out. */
  readonly lastId: ProductId | undefined;
  /** Of the catalogue: a deletion leaves products alone that changed after it. */
  readonly position: number;
}

/** A bulk edit, as plain data. */
export interface BulkTask {
  readonly kind: 'bulk';
  readonly selection: Selection;
  readonly change: BulkChange;
  /** Categories that the seller may choose from. */
  readonly suggestions: readonly string[];
  readonly progress: Progress<BulkCounts>;
  /** Undefined until the dry run has reached its end. */
  preview: BulkPreview | undefined;
  /** Selected products, counted by the dry run. */
  total: number;
}

type BulkStart = Pick<BulkTask, 'selection' | 'change' | 'suggestions'>;

/** Whether the dry run has a result, and the bulk edit would change something. */
export function canStartBulk({ preview }: BulkTask): boolean {
  return preview !== undefined && preview.products.length > 0;
}

/** A task that was not previewed. */
export function restartBulk({ selection, change, suggestions }: BulkStart): BulkTask {
  const progress = startProgress({ updated: 0, deleted: 0, unchanged: 0, conflicts: 0 });
  return { kind: 'bulk', selection, change, suggestions, progress, preview: undefined, total: 0 };
}

/** Sets `preview`. */
export async function previewEdit(
  task: BulkTask, run: TaskRun, signal: AbortSignal,
): Promise<void> {
  const { selection, change, progress } = task;
  const products: Product[] = [];
  const patch = patchOf(change);
  const changed = patch ? 'updated' : 'deleted';
  let lastId: ProductId | undefined;
  const position = await readPosition(run);
  for await (const page of readSelected(run, selection, signal)) {
    for (const product of page) {
      const isSame = patch !== undefined && isSameProduct(product, { ...product, ...patch });
      progress.counts[isSame ? 'unchanged' : changed] += 1;
      if (!isSame && products.length < PREVIEW_ROWS_SHOWN) products.push(product);
      lastId = product.id;
    }
    progress.processed += page.length;
    if (signal.aborted) break;
  }
  if (signal.aborted) return;
  task.total = progress.processed;
  const others = await countOthers(task, run);
  task.preview = {
    products: products.map(({ id, sku, name, category, stock }) =>
      ({ id, sku, name, category, stock })),
    others, lastId, position,
  };
}

/** Returns whether it reached the end. */
export async function writeEdit(
  task: BulkTask, run: TaskRun, signal: AbortSignal,
): Promise<boolean> {
  const { importer, store } = run;
  const { progress, change } = task;
  const edits = await listEdits(task, run, signal);
  if (signal.aborted) return false;
  const parts = makeImportParts({ kind: 'bulk', mode: change.mode, address: importer.address });
  for (let start = 0; start < edits.length; start += BULK_BATCH_PRODUCTS) {
    if (signal.aborted) return false;
    const batch = edits.slice(start, start + BULK_BATCH_PRODUCTS);
    const isLast = start + batch.length === edits.length;
    const { effects } = await parts.write({}, isLast, (part) =>
      store.editProducts({ ...importer, import: part }, batch, undefined));
    progress.importId = parts.id;
    for (const effect of effects) progress.counts[countOf(effect)] += 1;
    progress.processed += batch.length;
  }
  return true;
}

/**
 * Small objects, since there may be a million. A deletion expects what the list has, and counts
 * what changed after the preview as conflicts: it may match now only, and nobody confirmed it.
 */
async function listEdits(
  { selection, change, preview, progress }: BulkTask, run: TaskRun, signal: AbortSignal,
): Promise<readonly ProductEdit[]> {
  const patch = patchOf(change);
  const category = 'filter' in selection ? selection.filter.category : undefined;
  const expected = category === undefined ? {} : { category };
  const { lastId = 0, position: confirmed = 0 } = preview ?? {};
  const edits: ProductEdit[] = [];
  for await (const page of readSelected(run, selection, signal)) {
    for (const { id, position } of page) {
      if (id > lastId) continue;
      if (patch) edits.push({ id, expected, patch });
      else if (position <= confirmed) edits.push({ id, expected: { position }, patch });
      else {
        progress.counts.conflicts += 1;
        progress.processed += 1;
      }
    }
    if (signal.aborted) break;
  }
  return edits;
}

/** Products with the new category that are not selected. */
async function countOthers({ change, progress }: BulkTask, run: TaskRun): Promise<number> {
  if (change.mode !== 'category' || change.category === undefined) return 0;
  const { importer: { sellerId }, store } = run;
  const position = await readPosition(run);
  const all = await countInCategory(store, sellerId, change.category, position);
  return Math.max(0, all - progress.counts.unchanged);
}

/** Undefined for a deletion. */
function patchOf(change: BulkChange): ProductEdit['patch'] {
  switch (change.mode) {
    case 'category': return { category: change.category ?? '' };
    case 'archive': return { archived: true };
    case 'restore': return { archived: null };
    case 'delete': return undefined;
  }
}

function countOf(effect: EditEffect): keyof BulkCounts {
  return effect === 'conflict' || effect === 'not_found' ? 'conflicts' : effect;
}

/**
 * Pages of products, in the order of their ids; none once `signal` is aborted.
 * @throws AppError as `Store.exportProducts`
 */
async function* readSelected(
  run: TaskRun, selection: Selection, signal: AbortSignal,
): AsyncGenerator<readonly Product[], void, void> {
  if ('filter' in selection) {
    const productExport = await startExport(run, selection.filter, signal);
    if (productExport) yield* productExport.pages;
    return;
  }
  const { importer: { sellerId }, store } = run;
  const ids = selection.ids.toSorted((one, other) => one - other);
  const products = await store.findProducts(sellerId, ids);
  yield ids.flatMap((id) => products.get(id) ?? []);
}

/** Waits until the search has caught up with the last changes, which may be an import's. */
async function startExport(
  { importer, store }: TaskRun, filter: ProductFilter, signal: AbortSignal,
): Promise<Awaited<ReturnType<Store['exportProducts']>> | undefined> {
  const position = await readPosition({ importer, store });
  const query = { filter, sort: { by: 'id', isDescending: false } } as const;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.exportProducts(importer.sellerId, query, position);
    } catch (error) {
      const isBusy = error instanceof AppError && error.code === 'unavailable';
      if (isBusy && signal.aborted) return undefined;
      if (!isBusy || attempt >= BULK_ATTEMPTS_LIMIT) throw error;
    }
    await wait(BULK_RETRY_MS, undefined, { ref: false });
  }
}

/** Products of this category, archived ones included. */
export async function countInCategory(
  store: Store, sellerId: SellerId, category: string, position: number,
): Promise<number> {
  const [first] = await store.listCategories(sellerId, { from: category, limit: 1 }, position);
  return first?.category === category ? first.products + first.archived : 0;
}
