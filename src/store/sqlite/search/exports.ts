/**
 * The exports under way: each holds one snapshot of the projection, on a connection of its own, and
 * reads it a page at a time as its consumer asks. There are few of them, and each ends in time: as
 * long as a snapshot is held, the log of the projection only grows.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  EXPORT_PAGE_SIZE, EXPORT_TIME_LIMIT_MS, CONCURRENT_EXPORTS_LIMIT,
  CONCURRENT_EXPORTS_PER_SELLER_LIMIT,
} from './limits.ts';
import type { SellerId } from '../../../domain/id.ts';
import { anchorOf, type KeysetAnchor } from '../../../domain/catalogue/product-query.ts';
import type { History } from './history.ts';
import {
  type ExportRequest, type FoundRows, type StartedExport, temporarilyUnavailable,
} from './messages.ts';
import { decodeProduct } from '../catalogue/products.ts';
import { ProductFinder } from './product-finder.ts';
import { isCaughtUp, prepareFindStanding } from './projection.ts';
import { openSnapshotFile } from './projection-file.ts';

interface Export {
  readonly sellerId: SellerId;
  readonly db: DatabaseSync;
  readonly timer: NodeJS.Timeout;
  readPage(): FoundRows;
}

export class Exports {
  readonly #file: string;
  readonly #history: History;
  readonly #open = new Map<number, Export>();
  #last = 0;

  constructor(file: string, history: History) {
    this.#file = file;
    this.#history = history;
  }

  /**
   * Asserts that a seller may have one more, beside those that are open and those that wait.
   * @throws AppError `unavailable`
   */
  assertRoom(sellerId: SellerId, waiting: readonly SellerId[]): void {
    const all = [...[...this.#open.values()].map((open) => open.sellerId), ...waiting];
    const own = all.filter((id) => id === sellerId).length;
    if (all.length < CONCURRENT_EXPORTS_LIMIT && own < CONCURRENT_EXPORTS_PER_SELLER_LIMIT) return;
    const count = own < CONCURRENT_EXPORTS_PER_SELLER_LIMIT
      ? `This server already has ${all.length}` : `You already have ${own}`;
    throw temporarilyUnavailable(
      `${count} exports running, the maximum. Retry when one has finished.`,
    );
  }

  /** Begins an export of what the projection holds now, which has come to `request.position`. */
  start(request: ExportRequest): StartedExport {
    const db = openSnapshotFile(this.#file);
    try {
      const standing = prepareFindStanding(db, this.#history)(request.sellerId);
      const seller = this.#history.findSeller(request.sellerId);
      // Another process may have replaced the file.
      if (!seller || !isCaughtUp(standing, request.position)) {
        throw temporarilyUnavailable('The search is being built anew. Try again soon.');
      }
      const id = this.#last += 1;
      const timer = setTimeout(() => this.end(id), EXPORT_TIME_LIMIT_MS);
      const readPage = prepareReadPage(db, standing.ordinal, request);
      this.#open.set(id, { sellerId: request.sellerId, db, timer, readPage });
      return { export: id, currency: seller.currency, position: standing.position };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  readPage(id: number): FoundRows {
    const open = this.#open.get(id);
    if (open) return open.readPage();
    throw temporarilyUnavailable('The export took too long and was ended. Start it again.');
  }

  end(id: number): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    clearTimeout(open.timer);
    open.db.close();
  }

  endAll(): void {
    for (const id of this.#open.keys()) this.end(id);
  }
}

function prepareReadPage(
  db: DatabaseSync, ordinal: number, { filter, sort }: ExportRequest,
): () => FoundRows {
  const finder = new ProductFinder(db);
  let after: KeysetAnchor | undefined;
  return () => {
    const page = finder.find(ordinal, { filter, sort, after, limit: EXPORT_PAGE_SIZE });
    const last = page.rows.at(-1);
    if (last) after = anchorOf(decodeProduct({}, last), sort);
    return page;
  };
}
