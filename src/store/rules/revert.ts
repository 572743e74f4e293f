/**
 * What a revert does to one product, from the changes of its version chain. Pure: an adapter reads
 * the chain, newest change first, and writes the result.
 *
 * Members that the reverted changes altered go back to their earlier value; all others keep the
 * current one. Stock goes back by what the reverted changes moved, so that other movements stay.
 * Reverts count as a part of what they revert, and changes that a later revert of more than the
 * selected ones has undone do not count any more.
 */
import type { Change } from '../../domain/catalogue/change.ts';
import type { Currency } from '../../domain/catalogue/currency.ts';
import { isSameProduct, parseSnapshot } from '../../domain/catalogue/product.ts';
import {
  type NewProduct, type Product, SENT_FIELDS,
} from '../../domain/catalogue/product-fields.ts';
import { STOCK_LIMIT } from '../../domain/limits.ts';
import type { RevertConflict } from '../revert-store.ts';
import type { RevertedChanges } from '../../domain/catalogue/import.ts';
import type { ImportId } from '../../domain/id.ts';

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
   * `selectChanges`).
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

/** What an import reverts; undefined if it is no revert, or if its record is gone. */
type FindReverted = (importId: ImportId) => RevertedChanges | undefined;

/** Which changes of a product a revert takes back. */
export function selectChanges(selected: RevertedChanges, find: FindReverted) {
  /**
   * The reverts that changed the product and that no later one has undone, newest first.
   * `isCounted`: it counts with the selected changes.
   */
  const later: { readonly reverts: RevertedChanges; readonly isCounted: boolean }[] = [];
  /** Whether the newest change that counts is of the same revert: the rest is undone already. */
  let isRepeated: boolean | undefined;

  /** Also the changes of reverts of some of these changes, and of reverts of those. */
  function includes(some: RevertedChanges, change: Change): boolean {
    if (isSelected(some, change)) return true;
    let id = change.importId;
    while (id !== undefined) {
      const reverts = find(id);
      if (!reverts) return false;
      if (isWithin(reverts, some)) return true;
      id = reverts.importId;
    }
    return false;
  }

  /** Takes the next older change of the product, and returns whether it is to be taken back. */
  return (change: Change): boolean => {
    // A revert that counts itself is no reason to leave out what it has undone.
    const isUndone = later.find(({ reverts }) => includes(reverts, change))?.isCounted === false;
    const isCounted = !isUndone && includes(selected, change);
    const reverts = change.importId === undefined ? undefined : find(change.importId);
    if (reverts && !isUndone) later.push({ reverts, isCounted });
    // Its stock may have stopped at 0, so that the movements do not add up to nothing.
    if (isCounted) isRepeated ??= reverts !== undefined && isSame(reverts, selected);
    return isCounted && isRepeated !== true;
  };
}

function isSelected(
  { importId, after, upTo, keyId, source }: RevertedChanges, change: Change,
): boolean {
  return change.position > after && change.position <= upTo
    && (importId === undefined || change.importId === importId)
    && (keyId === undefined || change.keyId === keyId)
    && (source === undefined || change.movement.source === source);
}

/** Whether a revert is one of the same changes, or of some of them. */
function isWithin(
  reverts: RevertedChanges, { importId, after, upTo, keyId, source }: RevertedChanges,
): boolean {
  if (importId !== undefined) return reverts.importId === importId;
  return reverts.after >= after && reverts.upTo <= upTo
    && (keyId === undefined || reverts.keyId === keyId)
    && (source === undefined || reverts.source === source);
}

function isSame(one: RevertedChanges, other: RevertedChanges): boolean {
  return isWithin(one, other) && isWithin(other, one);
}
