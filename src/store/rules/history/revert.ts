/**
 * Runs a revert in batches of one mutation each. A product that changes between its plan and its
 * mutation is planned again. A retry recognises the products that it has written by the import id
 * of their changes, so it needs no record of its batches.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { ImportCounts } from '../../../domain/catalogue/import.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ImportId, ProductId } from '../../../domain/id.ts';
import type { Revert, RevertedProduct, RevertRequest, RevertStatus } from '../../revert-store.ts';
import type { WriteContext } from '../../write.ts';
import {
  REVERT_ATTEMPTS_LIMIT, REVERT_BATCH_PRODUCTS, REVERT_SKU_CHAIN_LIMIT,
} from '../../limits.ts';
import { openTouchedProducts, type TouchedProduct } from '../../temporary/touched-products.ts';
import { reviewOf } from '../mutations/mutation-review.ts';
import type { RunMutation } from '../mutations/registry.ts';
import type { RestoredProduct } from '../mutations/revert-mutations.ts';
import { conflictOf } from '../revert.ts';
import type { HistoryQueries } from './queries.ts';
import { openRevertPlanner, type PlannedProduct, type RevertPlanner } from './revert-planner.ts';

interface RevertOptions {
  readonly queries: HistoryQueries;
  readonly run: RunMutation;
  readonly write: WriteContext;
  readonly request: RevertRequest;
}

/** What is known of products, and of the SKUs that they get back, before a batch is written. */
interface Plans {
  readonly products: Map<ProductId, PlannedProduct>;
  /** The products that have these SKUs now. */
  readonly holders: Map<Sku, ProductId | undefined>;
}

/** @throws AppError as `RevertStore.startRevert` */
export async function startRevert(options: RevertOptions): Promise<Revert> {
  const { queries, write: { sellerId }, request } = options;
  const run = new RevertRun(options, await openRevertPlanner(queries, sellerId, request));
  try {
    await run.start();
    return run;
  } catch (error) {
    run[Symbol.dispose]();
    throw error;
  }
}

class RevertRun implements Revert {
  readonly #options: RevertOptions;
  readonly #planner: RevertPlanner;
  readonly #touched = openTouchedProducts();
  /** Of the products that the mutations do not see. */
  readonly #counts = { unchanged: 0, conflicts: 0 };
  isReplay = false;

  constructor(options: RevertOptions, planner: RevertPlanner) {
    this.#options = options;
    this.#planner = planner;
  }

  get importId(): ImportId | undefined {
    return this.#planner.importId;
  }

  async start(): Promise<void> {
    if (!this.#options.request.isDryRun) {
      const { importId, isReplay } = await this.#write([], { part: 0, counts: this.#counts });
      this.#planner.importId = importId;
      if (isReplay && importId !== undefined) {
        this.isReplay = await this.#planner.continue(importId);
      }
    }
    await this.#planner.listTouched(this.#touched);
  }

  async next(): Promise<readonly RevertedProduct[]> {
    const planned = new Map<ProductId, PlannedProduct>();
    await this.#plan(this.#touched.take(REVERT_BATCH_PRODUCTS), planned);
    const results = new Map<ProductId, RevertedProduct>();
    for (let attempt = 1; planned.size > results.size; attempt += 1) {
      const remaining = [...planned.values()].filter(({ id }) => !results.has(id));
      const positions = await this.#writePlanned(remaining);
      for (const product of remaining) {
        const position = positions.get(product.id);
        const isMoved = position === null && attempt < REVERT_ATTEMPTS_LIMIT;
        if (!isMoved) results.set(product.id, this.#settle(product, position));
      }
      const moved = remaining.filter(({ id }) => !results.has(id));
      await this.#plan(moved.flatMap(({ id }) => this.#touched.find(id) ?? []), planned);
    }
    return [...planned.keys()].flatMap((id) => results.get(id) ?? []);
  }

  async finish(): Promise<number> {
    const { queries, write: { sellerId }, request } = this.#options;
    if (request.isDryRun) return (await queries.findReach(sellerId)).position;
    return (await this.#write([], { part: 1, counts: this.#counts })).position;
  }

  [Symbol.dispose](): void {
    this.#touched.close();
  }

  /** Plans products, and those that have their SKUs now, if they are to be restored, too. */
  async #plan(
    batch: readonly TouchedProduct[], planned: Map<ProductId, PlannedProduct>,
  ): Promise<void> {
    const plans: Plans = { products: new Map(), holders: new Map() };
    let round = batch;
    for (let depth = 0; depth <= REVERT_SKU_CHAIN_LIMIT && round.length > 0; depth += 1) {
      const products = await this.#planner.plan(round);
      for (const [id, product] of products) plans.products.set(id, product);
      const newSkus = [...products.values()].flatMap((product) => findNewSku(product) ?? []);
      const skus = [...new Set(newSkus)].filter((sku) => !plans.holders.has(sku));
      const holders = await this.#planner.findHolders(skus);
      for (const sku of skus) plans.holders.set(sku, holders.get(sku)?.id);
      const ids = new Set([...holders.values()].map(({ id }) => id));
      round = [...ids].flatMap((id) => {
        const touched = plans.products.has(id) ? undefined : this.#touched.find(id);
        return touched?.state === 'pending' ? touched : [];
      });
    }
    for (const { id } of batch) this.#arrange(id, plans, planned);
  }

  /** Finds out whether a product can get its SKU: after the one that has it now, if that can. */
  #arrange(id: ProductId, plans: Plans, planned: Map<ProductId, PlannedProduct>, depth = 0): void {
    let product = plans.products.get(id);
    if (!product || (this.#touched.find(id)?.state === 'planned' && planned.has(id))) return;
    this.#touched.set(id, 'planning');
    const newSku = findNewSku(product);
    if (newSku !== undefined) {
      const isFree = this.#freeSku(newSku, plans, planned, depth);
      if (!isFree || !this.#touched.claim(id, newSku)) {
        product = { ...product, plan: conflictOf('sku_taken') };
      }
    }
    if (this.isReplay && product.plan.action === 'write') {
      product = { ...product, plan: conflictOf('changed') };
    }
    planned.set(id, product);
    const { sku } = (product.plan.action === 'write' ? product.plan.to : product.current) ?? {};
    this.#touched.set(id, 'planned', sku);
  }

  /** Arranges the product that has the SKU now, if it is to be restored, too. */
  #freeSku(
    sku: Sku, plans: Plans, planned: Map<ProductId, PlannedProduct>, depth: number,
  ): boolean {
    const holder = plans.holders.get(sku);
    if (holder === undefined) return true;
    if (this.#touched.find(holder)?.state === 'pending' && depth < REVERT_SKU_CHAIN_LIMIT) {
      this.#arrange(holder, plans, planned, depth + 1);
    }
    const other = this.#touched.find(holder);
    return other?.state === 'planned' && other.sku !== sku;
  }

  /** Positions of the changes, null for a product that was not written; none in a dry run. */
  async #writePlanned(
    planned: readonly PlannedProduct[],
  ): Promise<ReadonlyMap<ProductId, number | null | undefined>> {
    const products = planned.flatMap(({ id, last, plan, ownChange }): RestoredProduct[] =>
      (plan.action === 'write' && last && !ownChange
        ? [{ id, position: last.position, to: plan.to }] : []));
    if (products.length === 0) return new Map();
    if (this.#options.request.isDryRun) {
      const { queries, write: actor } = this.#options;
      const input = { actor, generated: { products } };
      await reviewOf(actor)?.tryMutation(queries, 'revertProducts', input);
      return new Map();
    }
    const { positions } = await this.#write(products, {});
    for (const { id } of planned) this.#touched.set(id, 'written');
    return new Map(products.map(({ id }, index) => [id, positions[index]]));
  }

  #write(
    products: readonly RestoredProduct[],
    { part, counts = {} }: { readonly part?: 0 | 1; readonly counts?: ImportCounts },
  ) {
    const { run, write, request: { selection, isForced } } = this.#options;
    const { sellerId, keyId, actorName, address, idempotency, review } = write;
    const record = { kind: 'revert', address, reverts: this.#planner.changes } as const;
    const imported = { id: this.importId, record, counts, isLast: part === 1 };
    const actor = { sellerId, keyId, actorName, review, import: imported };
    const input = { actor, selection, isForced, generated: { products } };
    return run('revertProducts', input, idempotency && part !== undefined
      ? { key: idempotency.key, part } : undefined);
  }

  #settle(product: PlannedProduct, written: number | null | undefined): RevertedProduct {
    const { id, current, last, plan, ownChange } = product;
    const result = { id, sku: (current ?? last)?.sku, position: (current ?? last)?.position };
    if (ownChange) {
      return {
        ...result, sku: ownChange.sku, status: describeChange(ownChange),
        position: ownChange.position,
      };
    }
    if (plan.action === 'none') {
      this.#counts.unchanged += 1;
      return { ...result, status: 'unchanged' };
    }
    if (plan.action === 'conflict' || written === null) {
      this.#counts.conflicts += 1;
      const conflict = plan.action === 'conflict' ? plan.conflict : 'changed';
      return { ...result, status: 'conflict', conflict };
    }
    const status = !plan.to ? 'deleted' : current ? 'restored' : 'recreated';
    const { sku } = plan.to ?? result;
    const position = written ?? result.position;
    return { ...result, sku, status, position, before: current, after: plan.to };
  }
}

/** The SKU that a product is to get back; undefined if it has it. */
function findNewSku({ plan, current }: PlannedProduct): Sku | undefined {
  const to = plan.action === 'write' ? plan.to : undefined;
  return to?.sku === current?.sku ? undefined : to?.sku;
}

/** What a revert did by one of its changes. */
function describeChange({ type }: Change): RevertStatus {
  if (type === 'created') return 'recreated';
  return type === 'deleted' ? 'deleted' : 'restored';
}
