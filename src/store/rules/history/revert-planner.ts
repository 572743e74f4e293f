/**
 * Plans a revert: finds the products that the reverted changes touched, and for each the state to
 * restore. Reads many products together, in short slices. The plan of a product is valid as long as
 * its last change is the one that the plan names.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ImportRecord, RevertedChanges } from '../../../domain/catalogue/import.ts';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import { AppError } from '../../../domain/error.ts';
import type { ImportId, ProductId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { HISTORY_SCAN_LIMIT } from '../../limits.ts';
import type { RevertRequest } from '../../revert-store.ts';
import type { TouchedProduct, TouchedProducts } from '../../temporary/touched-products.ts';
import { assertReached, type ChainedChange } from '../history.ts';
import { conflictOf, RevertedChain, type RevertPlan, selectChanges } from '../revert.ts';
import { followChains } from './chains.ts';
import type { HistoryQueries } from './queries.ts';

/** Changes that one query of chains reads. */
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
  readonly ownChange?: ChainedChange | undefined;
}

/** The version chain of a product while it is read back to its first reverted change. */
interface ReadChain {
  readonly touched: TouchedProduct;
  readonly current: Product | undefined;
  readonly reverted: RevertedChain;
  readonly isSelected: ReturnType<typeof selectChanges>;
  /** Where to continue; undefined at the end. */
  next: number | undefined;
  last?: ChainedChange;
  ownChange?: ChainedChange;
  /** Position of the first reverted change, once the chain is read until there. */
  first?: number;
}

/** @throws AppError `not_found`, `history_pruned`, `invalid_query` */
export async function openRevertPlanner(
  queries: HistoryQueries, sellerId: SellerId, { selection, isForced }: RevertRequest,
): Promise<RevertPlanner> {
  const record = 'importId' in selection
    ? (await queries.findImports(sellerId, [selection.importId])).get(selection.importId)
    : undefined;
  const reach = await queries.findReach(sellerId);
  const changes = 'importId' in selection ? describeImport(record, reach.position) : selection;
  assertReached(reach, Math.max(reach.prunedTo, changes.upTo), 'up_to');
  if (changes.after < reach.prunedTo) throw pruned(reach.prunedTo);
  const seller = await queries.findSeller(sellerId);
  if (!seller) throw new AppError('not_found', 'There is no such seller.');
  return new RevertPlanner({ queries, sellerId, isForced, currency: seller.currency }, changes);
}

interface PlannerContext {
  readonly queries: HistoryQueries;
  readonly sellerId: SellerId;
  readonly isForced: boolean;
  readonly currency: Currency;
}

export class RevertPlanner {
  readonly #context: PlannerContext;
  readonly #reverts = new Map<ImportId, RevertedChanges | undefined>();
  #changes: RevertedChanges;
  /** The revert's own record, once it has one. */
  importId: ImportId | undefined;

  constructor(context: PlannerContext, changes: RevertedChanges) {
    this.#context = context;
    this.#changes = changes;
  }

  /** The changes to revert. */
  get changes(): RevertedChanges {
    return this.#changes;
  }

  /** Continues the revert of a record: of the same changes. Returns whether it was finished. */
  async continue(importId: ImportId): Promise<boolean> {
    const { queries, sellerId } = this.#context;
    const record = (await queries.findImports(sellerId, [importId])).get(importId);
    this.#changes = record?.reverts ?? this.#changes;
    return record?.finishedAt !== undefined;
  }

  /** The products that have these SKUs now. */
  async findHolders(skus: readonly Sku[]): Promise<ReadonlyMap<Sku, Product>> {
    if (skus.length === 0) return new Map();
    return this.#context.queries.findProductsBySku(this.#context.sellerId, skus);
  }

  /** Adds every product that the reverted changes touched. */
  async listTouched(touched: TouchedProducts): Promise<void> {
    const { queries, sellerId } = this.#context;
    const { after, upTo } = this.#changes;
    for (let start = after; start < upTo; start += HISTORY_SCAN_LIMIT) {
      await yieldToEventLoop();
      const end = Math.min(upTo, start + HISTORY_SCAN_LIMIT);
      const range = { ...this.#changes, after: start, upTo: end };
      for (const touchedProduct of await queries.listTouched(sellerId, range)) {
        touched.add(touchedProduct);
      }
      // The history may have been pruned since the last slice.
      const { prunedTo } = await queries.findReach(sellerId);
      if (start < prunedTo) throw pruned(prunedTo);
    }
  }

  async plan(touched: readonly TouchedProduct[]): Promise<ReadonlyMap<ProductId, PlannedProduct>> {
    const chains = await this.#openChains(touched);
    await this.#readChains(chains);
    const bases = await this.#findBases(chains);
    return new Map(chains.map((chain) => {
      const { touched: { id }, current, last, ownChange, first, reverted } = chain;
      const base = first === undefined ? undefined : bases.get(first)?.product;
      if (base !== undefined) reverted.addBase(base);
      const isLost = first === undefined || (base === undefined && reverted.needsBase);
      const plan = ownChange || isLost ? conflictOf('history_pruned')
        : reverted.plan(current, this.#context.isForced);
      return [id, { id, current, last, plan, ownChange }] as const;
    }));
  }

  async #openChains(touched: readonly TouchedProduct[]): Promise<readonly ReadChain[]> {
    const { queries, sellerId, currency } = this.#context;
    const ids = touched.map(({ id }) => id);
    const products = await queries.findProducts(sellerId, ids);
    // Read after the products: what is deleted in between is found here.
    const missing = ids.filter((id) => !products.has(id));
    const deletions = missing.length === 0 ? undefined
      : await queries.findLastDeletions(sellerId, missing);
    return touched.map((touchedProduct) => {
      const { id } = touchedProduct;
      const current = products.get(id);
      return {
        touched: touchedProduct, current, next: current?.position ?? deletions?.get(id),
        reverted: new RevertedChain(currency),
        isSelected: selectChanges(this.#changes, (id) => this.#reverts.get(id)),
      };
    });
  }

  /** Reads each chain back to the first change that is to be reverted. */
  async #readChains(chains: readonly ReadChain[]): Promise<void> {
    const { queries, sellerId } = this.#context;
    for (let open = chains; ;) {
      open = open.filter(({ next }) => next !== undefined);
      if (open.length === 0) return;
      const starts = open.map(({ next = 0, touched: { first } }) => ({ from: next, first }));
      const parts = await queries.listChains(sellerId, starts, SLICE_CHANGES);
      await this.#findReverts(parts.flat());
      for (const [index, chain] of open.slice(0, parts.length).entries()) {
        chain.next = undefined;
        for (const change of parts[index] ?? []) if (!this.#add(chain, change)) break;
      }
      await yieldToEventLoop();
    }
  }

  /** Returns whether the chain continues. */
  #add(chain: ReadChain, change: ChainedChange): boolean {
    chain.last ??= change;
    const isEnd = change.position <= chain.touched.first;
    chain.next = undefined;
    if (change.importId !== undefined && change.importId === this.importId) {
      chain.ownChange = change;
      return false;
    }
    chain.reverted.add(change, chain.isSelected(change));
    if (isEnd) chain.first = change.position;
    else chain.next = change.previousPosition;
    return !isEnd;
  }

  /** The last snapshots before the first reverted changes of chains that need them. */
  #findBases(chains: readonly ReadChain[]) {
    const { queries, sellerId } = this.#context;
    const starts = chains.flatMap(({ first, reverted }) =>
      (first !== undefined && reverted.needsBase ? [first] : []));
    return followChains(starts, {
      follow: (from) => queries.findSnapshots(sellerId, from, SLICE_CHANGES),
    });
  }

  /** Reads what the imports of changes revert (undefined for most), and what those revert. */
  async #findReverts(changes: readonly Change[]): Promise<void> {
    const { queries, sellerId } = this.#context;
    if (this.#reverts.size >= KNOWN_IMPORTS) this.#reverts.clear();
    let ids = changes.flatMap(({ importId }) => importId ?? []);
    for (;;) {
      ids = [...new Set(ids)].filter((id) => !this.#reverts.has(id));
      if (ids.length === 0) return;
      const records = await queries.findImports(sellerId, ids);
      for (const id of ids) this.#reverts.set(id, records.get(id)?.reverts);
      ids = ids.flatMap((id) => this.#reverts.get(id)?.importId ?? []);
    }
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
