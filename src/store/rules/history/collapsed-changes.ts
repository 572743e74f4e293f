/**
 * The newest changes with each import as one entry, its last change. Imports without changes of
 * others in between are skipped without being read; within the rest, slices are read as in
 * `ledger.ts`, and a page ends early if it takes too many.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import { countChanges, type ImportRecord } from '../../../domain/catalogue/import.ts';
import type { ImportId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { CollapsedQuery, MovementPage } from '../../history-store.ts';
import { HISTORY_SCAN_LIMIT, LEDGER_STEPS_LIMIT } from '../../limits.ts';
import type { CollapsedQueries } from './queries.ts';

/** An entry of the page, and where the history continues after it. */
interface Entry {
  readonly change: Change;
  readonly next: number;
}

export async function listCollapsedChanges(
  queries: CollapsedQueries, sellerId: SellerId, { upTo, limit }: CollapsedQuery,
): Promise<MovementPage> {
  const { prunedTo, position } = await queries.findReach(sellerId);
  const entries: Entry[] = [];
  let end = Math.min(upTo, position);
  for (let step = 0; step < LEDGER_STEPS_LIMIT && end > prunedTo; step += 1) {
    if (step > 0) await yieldToEventLoop();
    const [last] = await queries.listChangesAt(sellerId, [end]);
    if (last?.importId !== undefined) {
      const imported = findEntry(last, await queries.findImports(sellerId, [last.importId]));
      // A page that begins within an import begins with that import.
      if (imported && (step === 0 || imported.isLast)) entries.push(imported);
      end = imported?.next ?? end;
    }
    const after = Math.max(prunedTo, end - HISTORY_SCAN_LIMIT);
    const changes = await queries
      .scanCollapsed(sellerId, { after, upTo: end }, limit + 1 - entries.length);
    const ids = changes.flatMap(({ importId }) => importId ?? []);
    const records = ids.length === 0 ? new Map() : await queries.findImports(sellerId, ids);
    entries.push(...changes.map((change) =>
      findEntry(change, records) ?? { change, next: change.position - 1 }));
    if (entries.length > limit) break;
    end = after;
  }
  const movements = entries.slice(0, limit).map(({ change }) => change);
  if (entries.length > limit) return { movements, next: entries[limit - 1]?.next, prunedTo };
  return { movements, next: end > prunedTo ? end : undefined, prunedTo };
}

/** The entry of a change that is part of an import; `next` skips what is only of it. */
function findEntry(
  change: Change, records: ReadonlyMap<ImportId, ImportRecord>,
): Entry & { readonly isLast: boolean } | undefined {
  const record = change.importId === undefined ? undefined : records.get(change.importId);
  const { firstPosition, lastPosition } = record ?? {};
  if (!record || firstPosition === undefined || lastPosition === undefined) return undefined;
  const isAlone = countChanges(record) === lastPosition - firstPosition + 1;
  const { position } = change;
  return {
    change, next: isAlone ? firstPosition - 1 : position - 1, isLast: position === lastPosition,
  };
}
