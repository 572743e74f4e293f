/** The products of a bulk edit: the ticked ones, or all that match a filter, as of now. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Product } from '../../../../domain/catalogue/product-fields.ts';
import type { ProductFilter } from '../../../../domain/catalogue/product-query.ts';
import { AppError } from '../../../../domain/error.ts';
import type { Store } from '../../../../store/store.ts';
import type { Actor } from '../../../../store/write.ts';
import { BULK_ATTEMPTS_LIMIT, BULK_RETRY_MS } from '../../limits.ts';
import type { Selection } from '../../products/product-selection.ts';

/** Who edits which catalogue. */
export interface BulkContext {
  readonly actor: Actor;
  readonly store: Store;
}

/**
 * Pages of products, in the order of their ids; none once `signal` is aborted.
 * @throws AppError as `Store.exportProducts`
 */
export async function* readSelected(
  context: BulkContext, selection: Selection, signal: AbortSignal,
): AsyncGenerator<readonly Product[], void, void> {
  if ('filter' in selection) {
    const found = await startExport(context, selection.filter, signal);
    if (found) yield* found.pages;
    return;
  }
  const { actor: { sellerId }, store } = context;
  const ids = selection.ids.toSorted((one, other) => one - other);
  const found = await store.findProducts(sellerId, ids);
  yield ids.flatMap((id) => found.get(id) ?? []);
}

/** Waits until the search has caught up with the last changes, which may be an import's. */
async function startExport(
  { actor: { sellerId }, store }: BulkContext, filter: ProductFilter, signal: AbortSignal,
): Promise<Awaited<ReturnType<Store['exportProducts']>> | undefined> {
  const { position } = await store.listProducts(sellerId, { after: undefined, limit: 1 });
  const query = { filter, sort: { by: 'id', isDescending: false } } as const;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.exportProducts(sellerId, query, position);
    } catch (error) {
      const isBusy = error instanceof AppError && error.code === 'unavailable';
      if (isBusy && signal.aborted) return undefined;
      if (!isBusy || attempt >= BULK_ATTEMPTS_LIMIT) throw error;
    }
    await wait(BULK_RETRY_MS, undefined, { ref: false });
  }
}
