/**
 * The open exports. Each holds one snapshot of the projection, on its own connection, and reads a
 * page when its consumer requests one. Their number and duration are limited, because the
 * projection's write-ahead log only grows while a snapshot is open.
 */
import type { DatabaseSync } from 'node:sqlite';
import { EXPORT_TIME_LIMIT_MS } from '../../limits.ts';
import { assertExportRoom } from '../../rules/export-limits.ts';
import { EXPORT_PAGE_SIZE } from './limits.ts';
import type { SellerId } from '../../../domain/id.ts';
import { anchorOf, type KeysetAnchor } from '../../../domain/catalogue/product-query.ts';
import type { CatalogueReader } from './catalogue-reader.ts';
import {
  type ExportRequest, type FoundRows, type SearchResults, temporarilyUnavailable,
} from './protocol.ts';
import { decodeProduct } from '../../sql/product-rows.ts';
import { ProductFinder } from './product-finder.ts';
import { isCaughtUp, prepareFindState } from './projection.ts';
import { openSnapshotFile } from './projection-file.ts';

interface OpenExport {
  readonly request: ExportRequest;
  readonly db: DatabaseSync;
  readonly finder: ProductFinder;
  readonly ordinal: number;
  readonly timer: NodeJS.Timeout;
  after: KeysetAnchor | undefined;
}

export type Exports = ReturnType<typeof openExports>;

export function openExports(file: string, catalogue: CatalogueReader) {
  const exports = new Map<number, OpenExport>();
  let last = 0;

  function end(id: number): void {
    const open = exports.get(id);
    if (!open) return;
    exports.delete(id);
    clearTimeout(open.timer);
    open.db.close();
  }

  return {
    end,
    /**
     * Checks the limits for one more export, counting those in the queue.
     * @throws AppError `unavailable`
     */
    assertRoom(sellerId: SellerId, queued: readonly SellerId[]): void {
      const open = exports.values().map(({ request }) => request.sellerId);
      assertExportRoom(sellerId, [...queued, ...open]);
    },
    /** Starts an export of the projection's current state, at or after `request.position`. */
    start(request: ExportRequest): SearchResults['export'] {
      const db = openSnapshotFile(file);
      try {
        const state = prepareFindState(db, catalogue)(request.sellerId);
        const seller = catalogue.findSeller(request.sellerId);
        // Another process may have replaced the file.
        if (!seller || !isCaughtUp(state, request.position)) {
          throw temporarilyUnavailable('The search index is being rebuilt. Retry soon.');
        }
        const { ordinal, position } = state;
        const id = last += 1;
        const timer = setTimeout(end, EXPORT_TIME_LIMIT_MS, id);
        const finder = new ProductFinder(db);
        exports.set(id, { request, db, finder, ordinal, timer, after: undefined });
        return { export: id, currency: seller.currency, position };
      } catch (error) {
        db.close();
        throw error;
      }
    },
    readPage(id: number): FoundRows {
      const open = exports.get(id);
      if (!open) {
        throw temporarilyUnavailable('The export took too long and was ended. Start a new one.');
      }
      const { finder, ordinal, after, request: { filter, sort } } = open;
      const page = finder.find(ordinal, { filter, sort, after, limit: EXPORT_PAGE_SIZE });
      const lastRow = page.rows.at(-1);
      if (lastRow) open.after = anchorOf(decodeProduct({}, lastRow), sort);
      return page;
    },
    endAll(): void {
      for (const id of exports.keys()) end(id);
    },
  };
}
