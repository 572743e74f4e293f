/**
 * Import records. Each mutation of an import writes the record in its own transaction, so counts
 * and positions are exact even if the server stops in the middle. The counts are of its rows.
 */
import type { ImportCounts, ImportRecord } from '../../../domain/catalogue/import.ts';
import { type ImportId, nextId, type SellerId } from '../../../domain/id.ts';
import type { WriteContext } from '../../write.ts';
import type { ChangeActor } from '../history.ts';
import type { Verdict } from '../review.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { isFailure, type StockResult } from '../../../domain/catalogue/stock-change.ts';
import type { EditEffect, ImportEffect } from '../../catalogue-store.ts';

/** The actor of a mutation, and the part of an import that it writes. */
export interface WriteActor
  extends Omit<WriteContext, 'idempotency'>, Pick<ChangeActor, 'checks'> {
  /** The changes that the mutation may make: `checks` for another thread. */
  readonly verdicts?: readonly Verdict[] | undefined;
}

/** What a mutation adds to a record. */
export type ImportProgress =
  Pick<ImportRecord, 'finishedAt' | 'counts' | 'firstPosition' | 'lastPosition'>;

/** Where an adapter keeps import records. */
export interface ImportRows {
  /** The newest id of a seller; 0 if there is none. */
  findLastId(sellerId: SellerId): number;
  insert(record: ImportRecord): void;
  findCounts(sellerId: SellerId, id: ImportId): ImportCounts | undefined;
  /** Keeps the first position that a record has, and a last position without a later one. */
  update(sellerId: SellerId, id: ImportId, progress: ImportProgress): void;
}

/**
 * Opens the record of a mutation's import, creating it in the first part. An import of a single
 * part that changes nothing has no record.
 */
export type OpenRecord = (actor: WriteActor, now: number) => {
  /** The actor of the mutation's changes. */
  readonly actor: ChangeActor;
  /** Adds the mutation's counts and positions, and returns the id of its import. */
  close(counts: ImportCounts): ImportId | undefined;
};

export function prepareOpenRecord(rows: ImportRows, positions: PositionAllocator): OpenRecord {
  return ({ import: part, ...actor }, now) => {
    if (!part) return { actor, close: () => undefined };
    const { sellerId, keyId, actorName } = actor;
    const { at, position: next } = positions.next(sellerId, now);
    // The cast: the origin of every ImportId.
    const importId = part.id ?? nextId(rows.findLastId(sellerId), at) as ImportId;
    return {
      actor: { ...actor, importId },
      close(counts) {
        const position = positions.of(sellerId);
        const [firstPosition, lastPosition] = position < next ? [] : [next, position];
        const finishedAt = part.isLast ? at : undefined;
        const progress = { finishedAt, firstPosition, lastPosition };
        if (part.id === undefined) {
          if (part.isLast && lastPosition === undefined) return undefined; // it changed nothing
          const { kind, address, fileName, mode, source, reverts } = part.record;
          rows.insert({
            sellerId, id: importId, kind, keyId, actor: actorName, address: address || undefined,
            fileName, mode, source, reverts, startedAt: at, ...progress,
            counts: addCounts(counts, part.counts),
          });
          return importId;
        }
        const before = rows.findCounts(sellerId, importId);
        if (!before) return importId; // removed with the history
        const total = addCounts(before, addCounts(counts, part.counts));
        rows.update(sellerId, importId, { ...progress, counts: total });
        return importId;
      },
    };
  };
}

function addCounts(some: ImportCounts, more: ImportCounts): ImportCounts {
  const sum: Record<string, number> = { ...some };
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** Effects that reject a row count as `failed`. */
export function countEffects(effects: readonly ImportEffect[]): ImportCounts {
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
  for (const effect of effects) {
    if (effect === 'created' || effect === 'updated' || effect === 'unchanged') counts[effect] += 1;
    else counts.failed += 1;
  }
  return counts;
}

/** Products that were deleted since count as `conflicts`, too. */
export function countEdits(effects: readonly EditEffect[]): ImportCounts {
  const counts = { updated: 0, deleted: 0, unchanged: 0, conflicts: 0 };
  for (const effect of effects) {
    if (effect === 'conflict' || effect === 'not_found') counts.conflicts += 1;
    else counts[effect] += 1;
  }
  return counts;
}

export function countResults(results: readonly StockResult[], zeroed: number): ImportCounts {
  const counts = { applied: 0, unchanged: 0, failed: 0 };
  for (const { status } of results) {
    if (isFailure(status)) counts.failed += 1;
    else counts[status === 'ok' ? 'applied' : 'unchanged'] += 1;
  }
  return zeroed > 0 ? { ...counts, zeroed } : counts;
}
