/**
 * Plans a revert: finds the products that the reverted changes touched, and for each the state to
 * restore. Reads in short slices and yields in between. The plan of a product is valid as long as
 * its last change is the one that the plan names.
 */
import type { ImportRecord, RevertedChanges } from '../../../domain/catalogue/import.ts';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import { AppError } from '../../../domain/error.ts';
import type { ImportId, ProductId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { RevertRequest } from '../../revert-store.ts';
import { assertReached } from '../../rules/history.ts';
import { conflictOf, RevertedChain, type RevertPlan } from '../../rules/revert.ts';
import { SelectedChanges } from '../../rules/selected-changes.ts';
import type { Reader } from '../engine/reader.ts';
import { HISTORY_SCAN_LIMIT } from '../limits.ts';
import type { ChainedChange } from './revert-queries.ts';
import type { TouchedProduct, TouchedProducts } from './touched-products.ts';

/** Changes that one slice reads one by one. */
const SLICE_CHANGES = 200;
/** Imports of which it is remembered what they revert. */
const KNOWN_IMPORTS = 10_000;

export interface PlannedProduct {
  readonly id: ProductId;
  /** Undefined if it was deleted. */
  readonly current: Product | undefined;
  /** Its last change; undefined if that was pruned. */
  readonly last: ChainedChange | undefined;
  readonly plan: RevertPlan;
  /** The change that this revert has made before, if it is a retry. */
  readonly done?: ChainedChange;
}

export class RevertPlanner {
  readonly #reader: Reader;
  readonly #sellerId: SellerId;
  readonly #isForced: boolean;
  readonly #reverts = new Map<ImportId, RevertedChanges | undefined>();
  #read = 0;
  #changes: RevertedChanges;
  /** The revert's own record, once it has one. */
  importId: ImportId | undefined;

  /** @throws AppError `not_found`, `history_pruned`, `invalid_query` */
  constructor(reader: Reader, sellerId: SellerId, { selection, isForced }: RevertRequest) {
    this.#reader = reader;
    this.#sellerId = sellerId;
    this.#isForced = isForced;
    const queries = reader.snapshot();
    const reach = queries.findReach(sellerId);
    this.#changes = 'importId' in selection
      ? describeImport(queries.findImport(sellerId, selection.importId), reach.position)
      : selection;
    assertReached(reach, Math.max(reach.prunedTo, this.#changes.upTo), 'up_to');
    if (this.#changes.after < reach.prunedTo) throw pruned(reach.prunedTo);
  }

  /** The changes to revert. */
  get changes(): RevertedChanges {
    return this.#changes;
  }

  /** Continues the revert of a record: of the same changes. Returns whether it was finished. */
  continue(importId: ImportId): boolean {
    const record = this.#reader.snapshot().findImport(this.#sellerId, importId);
    this.#changes = record?.reverts ?? this.#changes;
    return record?.finishedAt !== undefined;
  }

  /** The product that has this SKU now. */
  findHolder(sku: Sku): ProductId | undefined {
    return this.#reader.snapshot().findProduct(this.#sellerId, { sku })?.id;
  }

  /** Adds every product that the reverted changes touched. */
  async listTouched(touched: TouchedProducts): Promise<void> {
    const { after, upTo } = this.#changes;
    for (let start = after; start < upTo; start += HISTORY_SCAN_LIMIT) {
      await yieldToEventLoop();
      const end = Math.min(upTo, start + HISTORY_SCAN_LIMIT);
      const queries = this.#reader.snapshot();
      const range = { ...this.#changes, after: start, upTo: end };
      for (const one of queries.listTouched(this.#sellerId, range)) touched.add(one);
      // The history may have been pruned since the last slice.
      const { prunedTo } = queries.findReach(this.#sellerId);
      if (start < prunedTo) throw pruned(prunedTo);
    }
  }

  async plan({ id, first }: TouchedProduct): Promise<PlannedProduct> {
    const queries = this.#reader.snapshot();
    const current = queries.findProduct(this.#sellerId, { id });
    const newest = current?.position ?? queries.findLastDeletion(this.#sellerId, id)?.position;
    const last = newest === undefined ? undefined : await this.#findChange(newest);
    const lost = { id, current, last, plan: conflictOf('history_pruned') };
    const currency = current?.currency ?? queries.findSeller(this.#sellerId)?.currency;
    if (!last || !currency) return lost;
    const chain = new RevertedChain(currency);
    const selected = new SelectedChanges(this.#changes, (one) => this.#findReverted(one));
    let change: ChainedChange | undefined = last;
    for (; change; change = await this.#findChange(change.previousPosition)) {
      if (change.importId !== undefined && change.importId === this.importId) {
        return { ...lost, done: change };
      }
      chain.add(change, selected.add(change));
      if (change.position <= first) break;
    }
    if (change && chain.needsBase) {
      do change = await this.#findChange(change.previousPosition);
      while (change && change.product === undefined);
      if (change?.product !== undefined) chain.addBase(change.product);
    }
    if (!change) return lost;
    return { id, current, last, plan: chain.plan(current, this.#isForced) };
  }

  async #findChange(position: number | undefined): Promise<ChainedChange | undefined> {
    if (position === undefined) return undefined;
    this.#read += 1;
    if (this.#read % SLICE_CHANGES === 0) await yieldToEventLoop();
    return this.#reader.snapshot().findChainedChange(this.#sellerId, position);
  }

  /** What a revert reverts; undefined for any other import. */
  #findReverted(id: ImportId): RevertedChanges | undefined {
    if (!this.#reverts.has(id)) {
      if (this.#reverts.size >= KNOWN_IMPORTS) this.#reverts.clear();
      this.#reverts.set(id, this.#reader.snapshot().findImport(this.#sellerId, id)?.reverts);
    }
    return this.#reverts.get(id);
  }
}

/** The changes of an import until now. @throws AppError `not_found` */
function describeImport(record: ImportRecord | undefined, position: number): RevertedChanges {
  if (!record) throw new AppError('not_found', 'You have no import with this id.');
  const { id: importId, firstPosition, lastPosition } = record;
  if (firstPosition === undefined || lastPosition === undefined) {
    return { importId, after: position, upTo: position };
  }
  return { importId, after: firstPosition - 1, upTo: lastPosition };
}

function pruned(prunedTo: number): AppError {
  const detail = `The history begins after position ${prunedTo}: these changes were removed.`;
  const hint = 'Instead of reverting them, import an export from before, or restore a backup.';
  return new AppError('history_pruned', `${detail} ${hint}`);
}
