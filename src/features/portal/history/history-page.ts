/** Pages of the history, newest first: their keys are positions. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { MovementFilter, MovementPage } from '../../../store/history-store.ts';
import { type ListPage, type PageStart, readListPage } from '../forms/paging.ts';
import { PORTAL_PAGE_ROWS } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';

export type HistoryPage = ListPage<Change> & Pick<MovementPage, 'prunedTo'>;

interface History {
  readonly scope: string;
  readonly start: PageStart<number> | undefined;
  /** The newest position of the list. */
  readonly upTo: number;
  /** Without types: of stock movements. */
  readonly filter: MovementFilter;
  /** Whether each import is one row. */
  readonly isCollapsed?: boolean;
}

export function readHistoryPage(
  { account: { sellerId } }: PageRequest, portal: Portal,
  { scope, start: requestedStart, upTo, filter, isCollapsed }: History,
): Promise<HistoryPage> {
  const { store } = portal;
  return readListPage<Change, number, Pick<MovementPage, 'prunedTo'>>(portal, {
    scope, start: requestedStart, keyOf: ({ position }) => position,
    async read(start) {
      const isDescending = !start?.isBackward;
      const query = {
        after: isDescending ? 0 : start.key,
        upTo: start && isDescending ? Math.min(start.key - 1, upTo) : upTo,
        isDescending, isContinued: start !== undefined, limit: PORTAL_PAGE_ROWS,
      };
      const { movements: rows, next: position, prunedTo } = await (isCollapsed
        ? store.listCollapsedChanges(sellerId, { ...query, ...filter })
        : store.listMovements(sellerId, { ...query, filter }));
      // A store continues a descending list at a position, and an ascending one after it.
      const next = position === undefined || !isDescending ? position : position + 1;
      return { rows, next, prunedTo };
    },
  });
}
