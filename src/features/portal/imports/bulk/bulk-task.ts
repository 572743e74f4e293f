/**
 * The task of a bulk edit: changes the category of products, archives, restores or deletes them.
 * It covers ticked products, or all that match a filter when it starts, except those created after
 * the preview. A deletion covers only products that have not changed since the preview. Runs in
 * batches, all parts of one import record.
 */
import { ImportParts } from '../../../../api/ingest.ts';
import type { BulkMode, ImportCounts } from '../../../../domain/catalogue/import.ts';
import { isSameProduct } from '../../../../domain/catalogue/product.ts';
import type { Product } from '../../../../domain/catalogue/product-fields.ts';
import type { ImportId, ProductId } from '../../../../domain/id.ts';
import type { EditEffect, ProductEdit } from '../../../../store/catalogue-store.ts';
import { BULK_BATCH_PRODUCTS, PREVIEW_ROWS_SHOWN } from '../../limits.ts';
import type { Actor } from '../../../../store/write.ts';
import type { Selection } from '../../products/product-selection.ts';
import { type BulkContext, readSelected } from './bulk-selection.ts';

/** `category`: undefined until the seller has chosen it. */
type BulkChange =
  | { readonly mode: 'category' & BulkMode; readonly category: string | undefined }
  | { readonly mode: Exclude<BulkMode, 'edit' | 'category'> };

/** As plain data. */
export interface BulkOrder {
  readonly selection: Selection;
  readonly change: BulkChange;
}

interface BulkProgress {
  products: number;
  readonly counts: Record<'updated' | 'deleted' | 'unchanged' | 'conflicts', number>;
  /** The record; undefined in a dry run, and until the first batch is written. */
  importId: ImportId | undefined;
}

function startProgress(): BulkProgress {
  const counts = { updated: 0, deleted: 0, unchanged: 0, conflicts: 0 };
  return { products: 0, counts, importId: undefined };
}

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

/** What the pages show of a bulk edit: plain data. */
export interface BulkDescription extends BulkOrder {
  readonly kind: 'bulk';
  /** Categories that the seller may choose from. */
  readonly suggestions: readonly string[];
  readonly progress: BulkProgress;
  /** Undefined until the dry run has reached its end. */
  readonly preview: BulkPreview | undefined;
  /** Selected products, counted by the dry run. */
  readonly total: number;
}

/** Whether the dry run has a result, and the bulk edit would change something. */
export function canStartBulk({ preview }: Pick<BulkDescription, 'preview'>): boolean {
  return preview !== undefined && preview.products.length > 0;
}

type Latest = Pick<BulkDescription, 'progress' | 'preview' | 'total'>;

export class BulkTask {
  readonly kind = 'bulk';
  readonly order: BulkOrder;
  readonly suggestions: readonly string[];
  readonly #context: BulkContext;
  progress: BulkProgress;
  preview: BulkPreview | undefined;
  total: number;
  readonly diskBytes = 0;

  /** @param latest Of the latest run, if there was one. */
  constructor(
    context: BulkContext, order: BulkOrder, suggestions: readonly string[], latest?: Latest,
  ) {
    this.#context = context;
    this.order = order;
    this.suggestions = suggestions;
    this.progress = latest?.progress ?? startProgress();
    this.preview = latest?.preview;
    this.total = latest?.total ?? 0;
  }

  /** The same task, to be previewed again. */
  restart(): BulkTask {
    return new BulkTask(this.#context, this.order, this.suggestions);
  }

  withCategory(category: string): BulkTask {
    const { selection } = this.order;
    const order = { selection, change: { mode: 'category', category } } as const;
    return new BulkTask(this.#context, order, this.suggestions);
  }

  /** For the next run, by this account: the same task without progress. */
  begin(actor: Actor): BulkTask {
    const { order, suggestions, preview, total } = this;
    const latest = { progress: startProgress(), preview, total };
    return new BulkTask({ ...this.#context, actor }, order, suggestions, latest);
  }

  get description(): BulkDescription {
    const { kind, order, suggestions, progress, preview, total } = this;
    return { kind, ...order, suggestions, progress, preview, total };
  }

  /** Whether a dry run makes sense. */
  get isUsable(): boolean {
    const { change } = this.order;
    return change.mode !== 'category' || change.category !== undefined;
  }

  get canStart(): boolean {
    return canStartBulk(this.description);
  }

  /** Sets `preview`. */
  async dryRun(signal: AbortSignal): Promise<void> {
    const { change } = this.order;
    const { progress } = this;
    const products: Product[] = [];
    const changed = change.mode === 'delete' ? 'deleted' : 'updated';
    let lastId: ProductId | undefined;
    const position = await this.#readPosition();
    for await (const page of readSelected(this.#context, this.order.selection, signal)) {
      for (const product of page) {
        const isSame = hasValues(product, patchOf(change));
        progress.counts[isSame ? 'unchanged' : changed] += 1;
        if (!isSame && products.length < PREVIEW_ROWS_SHOWN) products.push(product);
        lastId = product.id;
      }
      progress.products += page.length;
      if (signal.aborted) break;
    }
    if (signal.aborted) return;
    this.total = progress.products;
    const others = await this.#countOthers();
    this.preview = {
      products: products.map(({ id, sku, name, category, stock }) =>
        ({ id, sku, name, category, stock })),
      others, lastId, position,
    };
  }

  /** Returns whether it reached the end. */
  async write(signal: AbortSignal): Promise<boolean> {
    const { actor, store } = this.#context;
    const { address } = actor;
    const { progress, order: { change } } = this;
    const edits = await this.#listEdits(signal);
    if (signal.aborted) return false;
    const parts = new ImportParts({ kind: 'bulk', mode: change.mode, address });
    for (let start = 0; start < edits.length; start += BULK_BATCH_PRODUCTS) {
      if (signal.aborted) return false;
      const batch = edits.slice(start, start + BULK_BATCH_PRODUCTS);
      const isLast = start + batch.length === edits.length;
      const { effects } = await parts.write({}, isLast, (part) =>
        store.editProducts({ ...actor, import: part }, batch, undefined));
      progress.importId = parts.id;
      for (const effect of effects) progress.counts[countOf(effect)] += 1;
      progress.products += batch.length;
    }
    return true;
  }

  /** After the node that wrote it has stopped. @param counts Of the record, if known. */
  recover(counts: ImportCounts = {}): void {
    const { progress } = this;
    Object.assign(progress.counts, counts);
    progress.products = Object.values(progress.counts).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Small objects, since there may be a million. A deletion expects what the list has, and counts
   * what changed after the preview as conflicts: it may match now only, and nobody confirmed it.
   */
  async #listEdits(signal: AbortSignal): Promise<readonly ProductEdit[]> {
    const { selection, change } = this.order;
    const patch = patchOf(change);
    const category = 'filter' in selection ? selection.filter.category : undefined;
    const expected = category === undefined ? {} : { category };
    const { lastId = 0, position: confirmed = 0 } = this.preview ?? {};
    const edits: ProductEdit[] = [];
    for await (const page of readSelected(this.#context, this.order.selection, signal)) {
      for (const { id, position } of page) {
        if (id > lastId) continue;
        if (patch) edits.push({ id, expected, patch });
        else if (position <= confirmed) edits.push({ id, expected: { position }, patch });
        else this.#leaveAlone();
      }
      if (signal.aborted) break;
    }
    return edits;
  }

  #leaveAlone(): void {
    this.progress.counts.conflicts += 1;
    this.progress.products += 1;
  }

  /** Of the catalogue, before its products are read. */
  async #readPosition(): Promise<number> {
    const { actor: { sellerId }, store } = this.#context;
    return (await store.listProducts(sellerId, { after: undefined, limit: 1 })).position;
  }

  /** Products with the new category that are not selected. */
  async #countOthers(): Promise<number> {
    const { actor: { sellerId }, store } = this.#context;
    const { change } = this.order;
    if (change.mode !== 'category' || change.category === undefined) return 0;
    const position = await this.#readPosition();
    const { category } = change;
    const [first] = await store.listCategories(sellerId, { from: category, limit: 1 }, position);
    const all = first?.category === category ? first.products + first.archived : 0;
    return Math.max(0, all - this.progress.counts.unchanged);
  }
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

function hasValues(product: Product, patch: ProductEdit['patch']): boolean {
  return patch !== undefined && isSameProduct(product, { ...product, ...patch });
}

function countOf(effect: EditEffect): keyof BulkProgress['counts'] {
  return effect === 'conflict' || effect === 'not_found' ? 'conflicts' : effect;
}
