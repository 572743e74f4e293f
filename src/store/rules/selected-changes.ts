/**
 * Which changes of a product a revert takes back. Reverts count as a part of what they revert, and
 * changes that a later revert of more than the selected ones has undone do not count any more.
 */
import type { Change } from '../../domain/catalogue/change.ts';
import type { RevertedChanges } from '../../domain/catalogue/import.ts';
import type { ImportId } from '../../domain/id.ts';

/** What an import reverts; undefined if it is no revert, or if its record is gone. */
type FindReverted = (importId: ImportId) => RevertedChanges | undefined;

/** A revert that changed the product. `isCounted`: it counts with the selected changes. */
interface LaterRevert {
  readonly reverts: RevertedChanges;
  readonly isCounted: boolean;
}

export class SelectedChanges {
  readonly #selected: RevertedChanges;
  readonly #find: FindReverted;
  /** Those that no later one has undone, newest first. */
  readonly #later: LaterRevert[] = [];
  /** Whether the newest change that counts is of the same revert: the rest is undone already. */
  #isRepeated: boolean | undefined;

  constructor(selected: RevertedChanges, find: FindReverted) {
    this.#selected = selected;
    this.#find = find;
  }

  /** Adds the next older change of the product, and returns whether it is to be taken back. */
  add(change: Change): boolean {
    // A revert that counts itself is no reason to leave out what it has undone.
    const isUndone = this.#later.find(({ reverts }) => this.#includes(reverts, change))
      ?.isCounted === false;
    const isCounted = !isUndone && this.#includes(this.#selected, change);
    const reverts = change.importId === undefined ? undefined : this.#find(change.importId);
    if (reverts && !isUndone) this.#later.push({ reverts, isCounted });
    // Its stock may have stopped at 0, so that the movements do not add up to nothing.
    if (isCounted) this.#isRepeated ??= reverts !== undefined && isSame(reverts, this.#selected);
    return isCounted && this.#isRepeated !== true;
  }

  /** Also the changes of reverts of some of the selected changes, and of reverts of those. */
  #includes(selected: RevertedChanges, change: Change): boolean {
    if (isSelected(selected, change)) return true;
    let id = change.importId;
    while (id !== undefined) {
      const reverts = this.#find(id);
      if (!reverts) return false;
      if (isWithin(reverts, selected)) return true;
      id = reverts.importId;
    }
    return false;
  }
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
