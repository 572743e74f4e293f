/**
 * The changes with each import as one entry, its last change, in both directions. Imports without
 * changes of others in between are skipped without being read; within the rest, slices are read as
 * in `ledger.ts`, and a page ends early if it takes too many.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import { countChanges, type ImportRecord } from '../../../domain/catalogue/import.ts';
import type { ImportId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { CollapsedQuery, MovementPage } from '../../history-store.ts';
import { HISTORY_SCAN_LIMIT, LEDGER_STEPS_LIMIT } from '../../limits.ts';
import type { HistoryQueries, KeptSpan, Span } from './queries.ts';

/** An entry of the page, and where the history continues after it. */
interface Entry {
  readonly change: Change;
  readonly next: number;
}

/** @param span The part of the history that has the page. */
export async function listCollapsedChanges(
  queries: HistoryQueries, sellerId: SellerId, query: CollapsedQuery,
  { after: start, upTo: end, prunedTo }: KeptSpan,
): Promise<MovementPage> {
  const { isDescending, isContinued, limit } = query;
  const entries: Entry[] = [];
  let [after, upTo] = [start, end];
  for (let step = 0; step < LEDGER_STEPS_LIMIT && after < upTo; step += 1) {
    if (step > 0) await yieldToEventLoop();
    const edge = await findImported(queries, sellerId, isDescending ? upTo : after + 1);
    if (edge && isDescending) {
      // A first page that begins within an import begins with that import.
      if (edge.isLast || (step === 0 && !isContinued)) entries.push(edge);
      upTo = edge.next;
    } else if (edge?.isAlone) after = Math.max(after, edge.last - 1);
    const part = nextPart({ after, upTo }, isDescending);
    const missing = limit + 1 - entries.length;
    entries.push(...await scanPart(queries, sellerId, part, isDescending, missing));
    if (entries.length > limit) break;
    if (isDescending) upTo = part.after;
    else after = part.upTo;
  }
  const rest = after >= upTo ? undefined : isDescending ? upTo : after;
  return { ...cutPage(entries, limit, rest), prunedTo };
}

/** @param rest Where the history continues after the entries; undefined if they are all. */
function cutPage(entries: readonly Entry[], limit: number, rest: number | undefined) {
  const movements = entries.slice(0, limit).map(({ change }) => change);
  return { movements, next: entries.length > limit ? entries[limit - 1]?.next : rest };
}

/** The part of a span that one query scans. */
export function nextPart({ after, upTo }: Span, isDescending: boolean): Span {
  return isDescending ? { after: Math.max(after, upTo - HISTORY_SCAN_LIMIT), upTo }
    : { after, upTo: Math.min(upTo, after + HISTORY_SCAN_LIMIT) };
}

/** Up to `limit` entries of a part. */
async function scanPart(
  queries: HistoryQueries, sellerId: SellerId, part: Span, isDescending: boolean, limit: number,
): Promise<readonly Entry[]> {
  const changes = await queries.scanCollapsed(sellerId, part, isDescending, limit);
  if (!isDescending) return changes.map((change) => ({ change, next: change.position }));
  const ids = changes.flatMap(({ importId }) => importId ?? []);
  const records = ids.length === 0 ? new Map() : await queries.findImports(sellerId, ids);
  return changes.map((change) =>
    ({ change, next: describe(change, records)?.next ?? change.position - 1 }));
}

interface Imported extends Entry {
  /** Position of the import's last change, and whether this is it. */
  readonly last: number;
  readonly isLast: boolean;
  /** Whether no change of others is in between: then `next` skips the import. */
  readonly isAlone: boolean;
}

/** The change at a position if it is part of an import. */
async function findImported(
  queries: HistoryQueries, sellerId: SellerId, position: number,
): Promise<Imported | undefined> {
  const [change] = await queries.listChangesAt(sellerId, [position]);
  return change?.importId === undefined ? undefined
    : describe(change, await queries.findImports(sellerId, [change.importId]));
}

function describe(
  change: Change, records: ReadonlyMap<ImportId, ImportRecord>,
): Imported | undefined {
  const record = change.importId === undefined ? undefined : records.get(change.importId);
  const { firstPosition, lastPosition: last } = record ?? {};
  if (!record || firstPosition === undefined || last === undefined) return undefined;
  const isAlone = countChanges(record) === last - firstPosition + 1;
  const { position } = change;
  return {
    change, next: isAlone ? firstPosition - 1 : position - 1, last, isLast: position === last,
    isAlone,
  };
}
