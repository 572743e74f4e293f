/**
 * The open exports. Each holds one snapshot of the projection, on its own connection, and reads a
 * page when its consumer requests one. Their number and duration are limited, because the
 * projection's write-ahead log only grows while a snapshot is open.
 */
import { EXPORT_TIME_LIMIT_MS } from '../../limits.ts';
import { limitExports } from '../../rules/export-limits.ts';
import { temporarilyUnavailable } from '../../rules/search-rejections.ts';
import { EXPORT_PAGE_SIZE } from './limits.ts';
import { anchorOf, type KeysetAnchor } from '../../../domain/catalogue/product-query.ts';
import type { CatalogueReader } from './catalogue-reader.ts';
import type { ExportRequest, FoundRows, SearchResults } from './protocol.ts';
import { decodeProduct } from '../../sql/product-rows.ts';
import { ProductFinder } from './product-finder.ts';
import { isCaughtUp, prepareFindState } from './projection.ts';
import { openSnapshotFile, type OpenedBy } from './projection-file.ts';

interface OpenExport {
  readonly request: ExportRequest;
  readonly finder: ProductFinder;
  readonly ordinal: number;
  /** The slot, the snapshot and the timer. */
  readonly resources: DisposableStack;
  after: KeysetAnchor | undefined;
}

export type Exports = ReturnType<typeof openExports>;

export function openExports(files: OpenedBy, catalogue: CatalogueReader) {
  const exports = new Map<number, OpenExport>();
  const limiter = limitExports();
  let last = 0;

  function end(id: number): void {
    const open = exports.get(id);
    if (!open) return;
    exports.delete(id);
    open.resources.dispose();
  }

  return {
    end,
    /**
     * Starts an export of the projection's current state, at or after `request.position`.
     * @throws AppError `unavailable` over the limits
     */
    start(request: ExportRequest): SearchResults['export'] {
      using undo = new DisposableStack();
      undo.defer(limiter.acquire(request.sellerId));
      const db = undo.adopt(openSnapshotFile(files), (opened) => opened.close());
      const state = prepareFindState(db, catalogue)(request.sellerId);
      const seller = catalogue.findSeller(request.sellerId);
      // Another process may have replaced the file.
      if (!seller || !isCaughtUp(state, request.position)) {
        throw temporarilyUnavailable('The search index is being rebuilt. Retry soon.');
      }
      const { ordinal, position } = state;
      const id = last += 1;
      const finder = new ProductFinder(db);
      undo.adopt(setTimeout(end, EXPORT_TIME_LIMIT_MS, id), clearTimeout);
      exports.set(id, { request, finder, ordinal, resources: undo.move(), after: undefined });
      return { export: id, currency: seller.currency, position };
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
