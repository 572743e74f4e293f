/**
 * Runs a revert in batches of one mutation each. A product that changes between its plan and its
 * mutation is planned again. A retry recognises the products that it has written by the import id
 * of their changes, so it needs no record of its batches.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { ImportCounts } from '../../../domain/catalogue/import.ts';
import type { ImportId, ProductId } from '../../../domain/id.ts';
import type {
  Revert, RevertedProduct, RevertRequest, RevertStatus,
} from '../../revert-store.ts';
import { conflictOf } from '../../rules/revert.ts';
import type { WriteContext } from '../../write.ts';
import type { RestoredProduct } from '../catalogue/revert-mutations.ts';
import type { Reader } from '../engine/reader.ts';
import type { Writer } from '../engine/writer.ts';
import { REVERT_ATTEMPTS_LIMIT, REVERT_BATCH_PRODUCTS, REVERT_SKU_CHAIN_LIMIT } from '../limits.ts';
import { type PlannedProduct, RevertPlanner } from './revert-planner.ts';
import { type TouchedProduct, TouchedProducts } from './touched-products.ts';

interface RevertOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly write: WriteContext;
  readonly request: RevertRequest;
}

/** @throws AppError as `RevertStore.startRevert` */
export async function startRevert(options: RevertOptions): Promise<Revert> {
  const run = new RevertRun(options);
  try {
    await run.start();
    return run;
  } catch (error) {
    run.close();
    throw error;
  }
}

class RevertRun implements Revert {
  readonly #options: RevertOptions;
  readonly #planner: RevertPlanner;
  readonly #touched = new TouchedProducts();
  /** Of the products that the mutations do not see. */
  readonly #counts = { unchanged: 0, conflicts: 0 };
  isReplay = false;

  constructor(options: RevertOptions) {
    const { reader, write: { sellerId }, request } = options;
    this.#options = options;
    this.#planner = new RevertPlanner(reader, sellerId, request);
  }

  get importId(): ImportId | undefined {
    return this.#planner.importId;
  }

  async start(): Promise<void> {
    if (!this.#options.request.isDryRun) {
      const { importId, isReplay } = await this.#write([], { part: 0, counts: this.#counts });
      this.#planner.importId = importId;
      if (isReplay && importId !== undefined) this.isReplay = this.#planner.continue(importId);
    }
    await this.#planner.listTouched(this.#touched);
  }

  async next(): Promise<readonly RevertedProduct[]> {
    const planned = new Map<ProductId, PlannedProduct>();
    for (const one of this.#touched.take(REVERT_BATCH_PRODUCTS)) await this.#plan(one, planned);
    const results = new Map<ProductId, RevertedProduct>();
    for (let attempt = 1; planned.size > results.size; attempt += 1) {
      const left = [...planned.values()].filter(({ id }) => !results.has(id));
      const positions = await this.#writePlanned(left);
      for (const one of left) {
        const position = positions.get(one.id);
        const isMoved = position === null && attempt < REVERT_ATTEMPTS_LIMIT;
        if (!isMoved) results.set(one.id, this.#settle(one, position));
      }
      for (const { id } of left) {
        const touched = results.has(id) ? undefined : this.#touched.find(id);
        if (touched) await this.#plan(touched, planned);
      }
    }
    return [...planned.keys()].flatMap((id) => results.get(id) ?? []);
  }

  async finish(): Promise<number> {
    const { reader, write: { sellerId }, request } = this.#options;
    if (request.isDryRun) return reader.snapshot().findReach(sellerId).position;
    return (await this.#write([], { part: 1, counts: this.#counts })).position;
  }

  close(): void {
    this.#touched.close();
  }

  /**
   * Plans a product, and before it the one that has its SKU now, if that is to be restored, too.
   */
  async #plan(
    touched: TouchedProduct, planned: Map<ProductId, PlannedProduct>, depth = 0,
  ): Promise<void> {
    const { id } = touched;
    if (this.#touched.find(id)?.state === 'planned' && planned.has(id)) return;
    this.#touched.set(id, 'planning');
    let one = await this.#planner.plan(touched);
    const to = one.plan.action === 'write' ? one.plan.to : undefined;
    if (to && to.sku !== one.current?.sku) {
      const holder = this.#planner.findHolder(to.sku);
      let other = holder === undefined ? undefined : this.#touched.find(holder);
      if (other?.state === 'pending' && depth < REVERT_SKU_CHAIN_LIMIT) {
        await this.#plan(other, planned, depth + 1);
        other = this.#touched.find(other.id);
      }
      const isFree = holder === undefined || (other?.state === 'planned' && other.sku !== to.sku);
      if (!isFree || !this.#touched.claim(id, to.sku)) {
        one = { ...one, plan: conflictOf('sku_taken') };
      }
    }
    if (this.isReplay && one.plan.action === 'write') one = { ...one, plan: conflictOf('changed') };
    planned.set(id, one);
    const { sku } = (one.plan.action === 'write' ? one.plan.to : one.current) ?? {};
    this.#touched.set(id, 'planned', sku);
  }

  /** Positions of the changes, null for a product that was not written; none in a dry run. */
  async #writePlanned(
    planned: readonly PlannedProduct[],
  ): Promise<ReadonlyMap<ProductId, number | null | undefined>> {
    const products = planned.flatMap(({ id, last, plan, done }): RestoredProduct[] =>
      (plan.action === 'write' && last && !done
        ? [{ id, position: last.position, to: plan.to }] : []));
    if (products.length === 0 || this.#options.request.isDryRun) return new Map();
    const { positions } = await this.#write(products, {});
    for (const { id } of planned) this.#touched.set(id, 'written');
    return new Map(products.map(({ id }, index) => [id, positions[index]]));
  }

  #write(
    products: readonly RestoredProduct[],
    { part, counts = {} }: { readonly part?: 0 | 1; readonly counts?: ImportCounts },
  ) {
    const { writer, write, request: { selection, isForced } } = this.#options;
    const { sellerId, keyId, actorName, address, idempotency } = write;
    const record = { kind: 'revert', address, reverts: this.#planner.changes } as const;
    const imported = { id: this.importId, record, counts, isLast: part === 1 };
    const actor = { sellerId, keyId, actorName, import: imported };
    const scope = idempotency && part !== undefined
      ? { sellerId, key: idempotency.key, part } : undefined;
    const input = { actor, selection, isForced, generated: { products } };
    return writer.run('revertProducts', input, scope, products.length);
  }

  #settle(one: PlannedProduct, written: number | null | undefined): RevertedProduct {
    const { id, current, last, plan, done } = one;
    const result = { id, sku: (current ?? last)?.sku, position: (current ?? last)?.position };
    if (done) {
      return { ...result, sku: done.sku, status: describeChange(done), position: done.position };
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

/** What a revert did by one of its changes. */
function describeChange({ type }: Change): RevertStatus {
  if (type === 'created') return 'recreated';
  return type === 'deleted' ? 'deleted' : 'restored';
}
