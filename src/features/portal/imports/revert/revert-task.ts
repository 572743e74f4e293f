/**
 * The revert of an import, and its dry run, which keeps the first products of each kind for the
 * preview.
 */
import {
  countChanges, type ImportCounts, type ImportRecord,
} from '../../../../domain/catalogue/import.ts';
import type { ImportId, SellerId } from '../../../../domain/id.ts';
import type {
  RevertedProduct, RevertSelection, RevertStatus,
} from '../../../../store/revert-store.ts';
import type { Store } from '../../../../store/store.ts';
import type { Actor } from '../../../../store/write.ts';
import { readKeyNames } from '../../keys/key-names.ts';
import { PREVIEW_ROWS_SHOWN } from '../../limits.ts';
import { nameOf, pathOf } from '../../records/import-record.ts';

/** The form field of `isForced`. */
export const FORCE_FIELD = 'force';

interface RevertProgress {
  products: number;
  readonly counts: Record<RevertStatus, number>;
  /** The record of the revert; undefined in a dry run, and until it has started. */
  importId: ImportId | undefined;
}

function startProgress(): RevertProgress {
  const counts = { restored: 0, deleted: 0, recreated: 0, unchanged: 0, conflict: 0 };
  return { products: 0, counts, importId: undefined };
}

/** A product that would be left alone. */
interface Conflict extends RevertedProduct {
  /** Who changed it since, and when; undefined if that is not why. */
  readonly since: { readonly by: string; readonly at: number } | undefined;
}

/** The first products of each kind. */
interface RevertPreview {
  readonly changes: readonly RevertedProduct[];
  readonly conflicts: readonly Conflict[];
}

/** What is reverted: an import, or the changes of a key. Plain data. */
export interface RevertSubject {
  readonly sellerId: SellerId;
  readonly selection: RevertSelection;
  /** Such as `Import shop.csv`. */
  readonly name: string;
  /** The path of its page. */
  readonly path: string;
  /** How many changes it made, if known; else 0. */
  readonly total: number;
}

export function subjectOf(record: ImportRecord): RevertSubject {
  const { sellerId, id: importId } = record;
  return {
    sellerId, selection: { importId }, name: nameOf(record), path: pathOf(record),
    total: countChanges(record),
  };
}

/** What the pages show of a revert: plain data. */
export interface RevertDescription {
  readonly kind: 'revert';
  readonly subject: RevertSubject;
  /** Whether products that changed since are reverted, too. */
  readonly isForced: boolean;
  /** Of the current or latest run. */
  readonly progress: RevertProgress;
  /** Undefined until the dry run has reached its end. */
  readonly preview: RevertPreview | undefined;
  /** Products to revert: estimated from the record, then counted by the dry run. */
  readonly total: number;
}

/** Whether the dry run has a result, and the revert would change something. */
export function canStartRevert({ preview, progress }: RevertDescription): boolean {
  const { restored, deleted, recreated } = progress.counts;
  return preview !== undefined && restored + deleted + recreated > 0;
}

/** Who reverts what. */
interface RevertOrder {
  readonly actor: Actor;
  readonly subject: RevertSubject;
  readonly store: Store;
}

export class RevertTask {
  readonly kind = 'revert';
  readonly order: RevertOrder;
  readonly isForced: boolean;
  progress: RevertProgress;
  preview: RevertPreview | undefined;
  total: number;
  readonly isUsable = true;
  readonly diskBytes = 0;

  /** @param latest Of the latest run, if there was one. */
  constructor(
    order: RevertOrder, isForced = false,
    latest?: Pick<RevertDescription, 'progress' | 'preview' | 'total'>,
  ) {
    this.order = order;
    this.isForced = isForced;
    this.progress = latest?.progress ?? startProgress();
    this.preview = latest?.preview;
    this.total = latest?.total ?? order.subject.total;
  }

  withForce(isForced: boolean): RevertTask {
    return new RevertTask(this.order, isForced);
  }

  /** For the next run, by this account: the same task without progress. */
  begin(actor: Actor): RevertTask {
    const { isForced, preview, total } = this;
    const order = { ...this.order, actor };
    return new RevertTask(order, isForced, { progress: startProgress(), preview, total });
  }

  get description(): RevertDescription {
    const { kind, order: { subject }, isForced, progress, preview, total } = this;
    return { kind, subject, isForced, progress, preview, total };
  }

  get canStart(): boolean {
    return canStartRevert(this.description);
  }

  /** Sets `preview`, unless the changes cannot be reverted. */
  async dryRun(signal: AbortSignal): Promise<void> {
    const { actor: { sellerId }, store } = this.order;
    const changes: RevertedProduct[] = [];
    const conflicts: Conflict[] = [];
    for await (const products of this.#run(true)) {
      for (const product of products) {
        const { status, position } = product;
        if (status === 'conflict' && conflicts.length < PREVIEW_ROWS_SHOWN) {
          const since = CHANGED_SINCE.has(product.conflict)
            ? await findAuthor(store, sellerId, position) : undefined;
          conflicts.push({ ...product, since });
        } else if (!KEPT.has(status) && changes.length < PREVIEW_ROWS_SHOWN) {
          changes.push(product);
        }
      }
      if (signal.aborted) return;
    }
    this.total = this.progress.products;
    this.preview = { changes, conflicts };
  }

  /** Returns whether it reached the end. */
  async write(signal: AbortSignal): Promise<boolean> {
    for await (const _ of this.#run(false)) if (signal.aborted) return false;
    return true;
  }

  /** After the node that reverted has stopped. @param counts Of the revert's record, if known. */
  recover(counts: ImportCounts = {}): void {
    const { progress } = this;
    Object.assign(progress.counts, counts);
    progress.products = Object.values(progress.counts).reduce((sum, count) => sum + count, 0);
  }

  async *#run(isDryRun: boolean): AsyncGenerator<readonly RevertedProduct[], void, void> {
    const { actor, subject: { selection }, store } = this.order;
    const { progress, isForced } = this;
    const revert = await store.startRevert(actor, { selection, isForced, isDryRun });
    try {
      progress.importId = revert.importId;
      for (;;) {
        const products = await revert.next();
        if (products.length === 0) break;
        for (const { status } of products) progress.counts[status] += 1;
        progress.products += products.length;
        yield products;
      }
      await revert.finish();
    } finally {
      revert.close();
    }
  }
}

const KEPT: ReadonlySet<RevertStatus> = new Set(['conflict', 'unchanged']);

const CHANGED_SINCE: ReadonlySet<RevertedProduct['conflict']> =
  new Set(['moved', 'changed', 'deleted'] as const);

/** Who made the change at a position, and when. */
async function findAuthor(
  store: Store, sellerId: SellerId, position: number | undefined,
): Promise<Conflict['since']> {
  if (position === undefined) return undefined;
  const { changes: [change] } = await store.listChanges(sellerId, {
    after: position - 1, limit: 1,
  });
  if (!change) return undefined;
  const { keyId, actor, at } = change;
  const names = await readKeyNames(store, sellerId, [keyId]);
  return { by: actor ?? names.get(keyId) ?? '', at };
}
