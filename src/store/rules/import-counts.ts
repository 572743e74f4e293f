/** How the mutations of an import count their rows. */
import type { ImportCounts } from '../../domain/catalogue/import.ts';
import { isFailure, type StockResult } from '../../domain/catalogue/stock-change.ts';
import type { EditEffect, ImportEffect } from '../catalogue-store.ts';

export function addCounts(some: ImportCounts, more: ImportCounts): ImportCounts {
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
