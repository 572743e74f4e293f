/** Pages of the history, newest first: their keys are positions. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { MovementFilter, MovementPage } from '../../../store/history-store.ts';
import { type ListPage, type PageStart, readListPage, type ReadRows } from '../forms/paging.ts';
import { PORTAL_PAGE_ROWS } from '../limits.ts';
import type { Portal } from '../route.ts';

export interface HistoryPage extends ListPage<Change> {
  /** The history begins after this position: 0 if nothing was pruned. */
  readonly prunedTo: number;
}

/** What a page reads of the store: positions, direction, and the number of rows. */
interface HistoryQuery {
  /** Exclusive. */
  readonly after: number;
  /** Inclusive. */
  readonly upTo: number;
  readonly isDescending: boolean;
  readonly isContinued: boolean;
  readonly limit: number;
}

interface History {
  readonly scope: string;
  readonly start: PageStart<number> | undefined;
  /** The newest position of the list. */
  readonly upTo: number;
}

/** @param list Reads changes or movements of the store. */
export async function readHistoryPage(
  portal: Portal, { scope, start: requestedStart, upTo }: History,
  list: (query: HistoryQuery) => Promise<MovementPage>,
): Promise<HistoryPage> {
  let prunedTo = 0;
  const page = await readListPage<Change, number>(portal, {
    scope, start: requestedStart, keyOf: ({ position }) => position,
    async read(start): Promise<ReadRows<Change, number>> {
      const isDescending = !start?.isBackward;
      const movementPage = await list({
        after: isDescending ? 0 : start.key,
        upTo: start && isDescending ? Math.min(start.key - 1, upTo) : upTo,
        isDescending, isContinued: start !== undefined, limit: PORTAL_PAGE_ROWS,
      });
      ({ prunedTo } = movementPage);
      // A store continues a descending list at a position, and an ascending one after it.
      const next = movementPage.next === undefined || !isDescending ? movementPage.next
        : movementPage.next + 1;
      return { rows: movementPage.movements, next };
    },
  });
  return { ...page, prunedTo };
}

/** Stock movements, or changes of the types in the filter. */
export function readMovementPage(
  portal: Portal, sellerId: SellerId, history: History, filter: MovementFilter,
): Promise<HistoryPage> {
  return readHistoryPage(portal, history, (query) =>
    portal.store.listMovements(sellerId, { ...query, filter }));
}
