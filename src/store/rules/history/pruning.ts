/**
 * Which changes pruning removes from the version chains of products. It keeps for each product its
 * last change and its last snapshot until the new start of the history. So the catalogue can be
 * derived now and at every kept position.
 */

/** A change of which only its place in a version chain matters. */
export interface Link {
  readonly position: number;
  /** Undefined for the first change of a product. */
  readonly previousPosition: number | undefined;
  readonly hasSnapshot: boolean;
}

interface PrunedChains {
  readonly removed: readonly number[];
  /** New previous positions, by position. */
  readonly relinked: ReadonlyMap<number, number>;
}

/**
 * `links`: the changes of a step, by position, and the last changes before it of their products.
 * A change is superseded once the next change of its product is being pruned too, unless it has the
 * product's last snapshot until then. That one becomes the previous change in the version chain,
 * replacing those in between, so a later step finds it: before a change without a snapshot comes
 * either a snapshot, or another change without one and then a snapshot.
 */
export function pruneChains(
  positions: readonly number[], links: ReadonlyMap<number, Link>,
): PrunedChains {
  const removed: number[] = [];
  const relinked = new Map<number, number>();
  for (const position of positions) {
    const link = links.get(position);
    const previous = link?.previousPosition === undefined ? undefined
      : links.get(link.previousPosition);
    if (!link || !previous) continue; // the first change of a product
    if (!link.hasSnapshot && previous.hasSnapshot) continue;
    removed.push(previous.position);
    const before = relinked.get(previous.position) ?? previous.previousPosition;
    relinked.delete(previous.position);
    if (before === undefined) continue;
    if (link.hasSnapshot) removed.push(before);
    else relinked.set(position, before);
  }
  return { removed, relinked };
}
