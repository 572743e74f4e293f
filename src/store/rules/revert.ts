/**
 * What a revert does to one product, from the changes of its version chain. Pure: an adapter reads
 * the chain, newest change first, and writes the result.
 *
 * Members that the reverted changes altered go back to their earlier value; all others keep the
 * current one. Stock goes back by what the reverted changes moved, so that other movements stay.
 */
import type { Change } from '../../domain/catalogue/change.ts';
import type { Currency } from '../../domain/catalogue/currency.ts';
import { isSameProduct, parseSnapshot } from '../../domain/catalogue/product.ts';
import {
  type NewProduct, type Product, SENT_FIELDS,
} from '../../domain/catalogue/product-fields.ts';
import { STOCK_LIMIT } from '../../domain/limits.ts';
import type { RevertConflict } from '../revert-store.ts';

type Snapshot = ReturnType<typeof parseSnapshot>;

/** `write` creates, updates or (without a product) deletes it. */
export type RevertPlan =
  | { readonly action: 'none' }
  | { readonly action: 'conflict'; readonly conflict: RevertConflict }
  | { readonly action: 'write'; readonly to: Snapshot | undefined };

export function conflictOf(conflict: RevertConflict): RevertPlan {
  return { action: 'conflict', conflict };
}

/** Follows the version chain of one product back to the first reverted change. */
export class RevertedChain {
  readonly #currency: Currency;
  #newest: Change | undefined;
  #first: Change | undefined;
  /** By how much the reverted changes moved the stock. */
  #revertedUnits = 0;
  readonly #revertedMembers = new Set<keyof NewProduct>();
  /** The oldest snapshot so far, and whether the change that has it is reverted. */
  #oldest: { readonly snapshot: Snapshot; readonly isReverted: boolean } | undefined;
  /** The last snapshot before the first reverted change, once it is not due any more. */
  #base: Snapshot | undefined;
  #isBaseDue = false;
  /** Other changes than the reverted ones so far, and those of them that are no movements. */
  #others = { all: 0, edits: 0 };
  /** Of these, the ones after the first reverted change, and after the newest one. */
  #sinceFirst = this.#others;
  #sinceNewest = this.#others;
  #firstReverted: Change | undefined;
  /** The newest reverted change, and its snapshot or the one before it. */
  #newestReverted: Change | undefined;
  #revertedTo: Snapshot | undefined;

  constructor(currency: Currency) {
    this.#currency = currency;
  }

  /**
   * Adds the next older change. `isReverted`: it counts with the selected ones (see
   * `SelectedChanges`).
   */
  add(change: Change, isReverted: boolean): void {
    this.#newest ??= change;
    this.#first = change;
    if (isReverted) {
      const { before, after } = change.movement;
      this.#revertedUnits += after - before;
      if (!this.#newestReverted) this.#sinceNewest = this.#others;
      this.#newestReverted ??= change;
      this.#firstReverted = change;
      this.#sinceFirst = this.#others;
    } else {
      const { all, edits } = this.#others;
      this.#others = { all: all + 1, edits: edits + (change.type === 'stock' ? 0 : 1) };
    }
    if (change.product !== undefined) this.#addSnapshot(change.product, isReverted);
    this.#isBaseDue ||= isReverted;
  }

  /** Whether `addBase` must be called: with the last snapshot before the first reverted change. */
  get needsBase(): boolean {
    return this.#oldest !== undefined && this.#first?.type !== 'created';
  }

  addBase(json: string): void {
    this.#addSnapshot(json, false);
  }

  /** `current`: undefined if the product was deleted. */
  plan(current: Product | undefined, isForced: boolean): RevertPlan {
    if (!this.#firstReverted) return { action: 'none' };
    const last = current ?? this.#findDeleted();
    if (!last) return conflictOf('history_pruned');
    const to = this.#firstReverted.type === 'created' ? undefined : this.#restore(last);
    if (to ? current && isSameProduct(current, to) : !current) return { action: 'none' };
    if (this.#sinceFirst.all > 0 && !isForced && !this.#isAsReverted(current)) {
      return conflictOf(this.#describe(current));
    }
    return { action: 'write', to };
  }

  #addSnapshot(json: string, isReverted: boolean): void {
    const snapshot = parseSnapshot(json, this.#currency);
    if (this.#oldest?.isReverted) {
      for (const member of listDifferences(snapshot, this.#oldest.snapshot)) {
        this.#revertedMembers.add(member);
      }
    }
    if (this.#isBaseDue) this.#base = snapshot;
    this.#isBaseDue = false;
    this.#oldest = { snapshot, isReverted };
    if (this.#newestReverted) this.#revertedTo ??= snapshot;
  }

  /** The state before the deletion, or, if that is to be reverted, after it: with a stock of 0. */
  #findDeleted(): Snapshot | undefined {
    const { product, movement } = this.#newest ?? {};
    if (product === undefined || !movement) return undefined;
    const isReverted = this.#newest === this.#newestReverted;
    const { before, after } = movement;
    return { ...parseSnapshot(product, this.#currency), stock: isReverted ? after : before };
  }

  #restore(last: Snapshot): Snapshot {
    const base = this.#base ?? last;
    const members: Record<string, unknown> = { createdAt: last.createdAt };
    for (const { member } of SENT_FIELDS) {
      members[member] = (this.#revertedMembers.has(member) ? base : last)[member];
    }
    const stock = Math.min(Math.max(last.stock - this.#revertedUnits, 0), STOCK_LIMIT);
    return { ...members as unknown as Snapshot, stock }; // all members of a snapshot
  }

  /** Whether the product is as the reverted changes left it: the others have been undone since. */
  #isAsReverted(current: Product | undefined): boolean {
    const { type, movement } = this.#newestReverted ?? {};
    if (this.#sinceFirst.all > this.#sinceNewest.all || !movement) return false;
    if (type === 'deleted' || !current) return type === 'deleted' && !current;
    return current.stock === movement.after && (this.#revertedTo === undefined
      || listDifferences(this.#revertedTo, current).length === 0);
  }

  #describe(current: Product | undefined): RevertConflict {
    if (this.#sinceFirst.edits === 0) return 'moved';
    return current ? 'changed' : 'deleted';
  }
}

/** The members in which two states of a product differ, except the stock. */
function listDifferences(one: NewProduct, other: NewProduct): readonly (keyof NewProduct)[] {
  return SENT_FIELDS.map(({ member }) => member).filter((member) =>
    member !== 'stock' && (one[member] ?? null) !== (other[member] ?? null));
}
