/** Pages of the history, newest first: their keys are positions. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { CollapsedQuery, MovementFilter, MovementPage } from '../../../store/history-store.ts';
import { type ListPage, type PageStart, readListPage } from '../forms/paging.ts';
import { PORTAL_PAGE_ROWS } from '../limits.ts';
import type { Portal } from '../route.ts';

export type HistoryPage = ListPage<Change> & Pick<MovementPage, 'prunedTo'>;

/** What a page reads of the store: positions, direction, and the number of rows. */
type HistoryQuery = Omit<CollapsedQuery, 'since' | 'until'>;

interface History {
  readonly scope: string;
  readonly start: PageStart<number> | undefined;
  /** The newest position of the list. */
  readonly upTo: number;
}

/** @param list Reads changes or movements of the store. */
export function readHistoryPage(
  portal: Portal, { scope, start: requestedStart, upTo }: History,
  list: (query: HistoryQuery) => Promise<MovementPage>,
): Promise<HistoryPage> {
  return readListPage<Change, number, Pick<MovementPage, 'prunedTo'>>(portal, {
    scope, start: requestedStart, keyOf: ({ position }) => position,
    async read(start) {
      const isDescending = !start?.isBackward;
      const { movements: rows, next: position, prunedTo } = await list({
        after: isDescending ? 0 : start.key,
        upTo: start && isDescending ? Math.min(start.key - 1, upTo) : upTo,
        isDescending, isContinued: start !== undefined, limit: PORTAL_PAGE_ROWS,
      });
      // A store continues a descending list at a position, and an ascending one after it.
      const next = position === undefined || !isDescending ? position : position + 1;
      return { rows, next, prunedTo };
    },
  });
}

/** Stock movements, or changes of the types in the filter. */
export function readMovementPage(
  portal: Portal, sellerId: SellerId, history: History, filter: MovementFilter,
): Promise<HistoryPage> {
  return readHistoryPage(portal, history, (query) =>
    portal.store.listMovements(sellerId, { ...query, filter }));
}
