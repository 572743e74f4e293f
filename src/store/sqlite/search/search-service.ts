/**
 * The work of the search thread: a request waits here until the projection has caught up to its
 * caller's position. Waiting requests take turns, one projection step each; between steps the
 * thread receives messages, so nobody waits for more than one step of another seller.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SEARCH_RETRY_AFTER_SECONDS } from '../../limits.ts';
import { searchQueueFull, temporarilyUnavailable } from '../../rules/search-rejections.ts';
import { SEARCH_WAIT_LIMIT_MS, SEARCHES_PER_SELLER_LIMIT } from './limits.ts';
import type { Seller } from '../../../domain/access/seller.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { formatCount } from '../../../domain/wording.ts';
import { findFileId, openBeside } from '../files/open-files.ts';
import { type Exports, openExports } from './exports.ts';
import { type CatalogueReader, ForeignProjectionError, openCatalogue } from './catalogue-reader.ts';
import type {
  FoundRows, PositionRequest, SearchFiles, SearchNotification, SearchRequest, SearchResults,
} from './protocol.ts';
import { ProductFinder } from './product-finder.ts';
import { isCaughtUp, Projection, type ProjectionState } from './projection.ts';
import { isDamage, openProjectionFile, replaceProjectionFile } from './projection-file.ts';

type Result = SearchResults[PositionRequest['kind']];

/** A request that waits for its next turn. */
interface WaitingRequest {
  readonly request: PositionRequest;
  readonly takeTurn: () => void;
}

interface OpenProjection {
  readonly db: DatabaseSync;
  /** Changes when the file is removed. */
  readonly fileId: string | undefined;
  readonly projection: Projection;
  readonly finder: ProductFinder;
}

export class SearchService {
  readonly #files: SearchFiles;
  readonly #catalogue: CatalogueReader;
  readonly #exports: Exports;
  #open: OpenProjection;
  /** Set when damage is found; the file is replaced before the next turn. */
  #mustRebuild = false;
  readonly #queue: WaitingRequest[] = [];
  #lastSeller: SellerId | undefined;
  /** Catches up while idle; undefined while paused or done. */
  #idleSteps: Iterator<void> | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(files: SearchFiles) {
    this.#files = files;
    this.#catalogue = openBeside(files.openFiles, () => openCatalogue(files.catalogue));
    this.#exports = openExports(files, this.#catalogue);
    this.#open = this.#prepare(openProjectionFile(files));
  }

  async handle(request: SearchRequest): Promise<Result | FoundRows | null> {
    if (request.kind === 'page') return this.#readPage(request.export);
    return request.kind === 'forget' ? this.#forget(request.sellerId) : this.#answer(request);
  }

  notify(message: SearchNotification): void {
    switch (message.kind) {
      case 'endExport':
        this.#exports.end(message.export);
        return;
      case 'catchUp':
        this.#idleSteps = this.#catchUpAll();
        this.#schedule();
        return;
      case 'pause':
        this.#idleSteps = undefined;
        return;
      case 'close':
        clearImmediate(this.#turn);
        this.#exports.endAll();
        this.#open.db.close();
        this.#catalogue.close();
    }
  }

  async #answer(request: PositionRequest): Promise<Result> {
    this.#assertRoom(request);
    const deadline = performance.now() + SEARCH_WAIT_LIMIT_MS;
    await this.#waitForTurn(request);
    if (performance.now() >= deadline) throw searchQueueFull();
    for (let isRetried = false; ;) {
      try {
        const result = this.#run(request, deadline);
        if (result !== undefined) return result;
      } catch (error) {
        this.#noteDamage(error);
        if (!this.#mustRebuild || isRetried) throw error;
        isRetried = true;
      }
      await this.#waitForTurn(request);
    }
  }

  /** @throws AppError `unavailable` if the seller has too many requests in the queue */
  #assertRoom({ sellerId }: PositionRequest): void {
    const own = this.#queue.filter(({ request }) => request.sellerId === sellerId);
    if (own.length >= SEARCHES_PER_SELLER_LIMIT) throw searchQueueFull();
  }

  #waitForTurn(request: PositionRequest): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push({ request, takeTurn: resolve });
      this.#schedule();
    });
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#replaceUseless();
      const next = this.#takeNext();
      if (next) next.takeTurn();
      else this.#catchUpWhenIdle();
      if (this.#queue.length > 0 || this.#idleSteps) this.#schedule();
    });
  }

  /** The first request of a seller other than the last one, if any: sellers take turns. */
  #takeNext(): WaitingRequest | undefined {
    const other = this.#queue.findIndex(({ request }) => request.sellerId !== this.#lastSeller);
    const [next] = this.#queue.splice(Math.max(other, 0), 1);
    this.#lastSeller = next?.request.sellerId;
    return next;
  }

  /** On damage, the export ends, and the file is rebuilt for the next one. */
  #readPage(id: number): FoundRows {
    try {
      return this.#exports.readPage(id);
    } catch (error) {
      this.#noteDamage(error);
      if (this.#mustRebuild) this.#exports.end(id);
      throw error;
    }
  }

  /** One step at a time. Merges the whole text index, which has the deleted words until then. */
  async #forget(sellerId: SellerId): Promise<null> {
    try {
      const { db, projection } = this.#open;
      while (projection.forget(sellerId)) await nextTurn();
      while (projection.merge()) await nextTurn();
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      return null;
    } catch (error) {
      this.#noteDamage(error);
      throw error;
    }
  }

  /** The result; undefined after a step towards it. */
  #run(request: PositionRequest, deadline: number): Result | undefined {
    const seller = this.#catalogue.findSeller(request.sellerId);
    if (!seller) throw new AppError('not_found', 'There is no such seller.');
    const { db, projection } = this.#open;
    let state: ProjectionState | undefined;
    db.exec('BEGIN');
    try {
      state = projection.find(seller.id);
      if (isCaughtUp(state, request.position)) return this.#read(request, seller, state);
    } finally {
      if (db.isTransaction) db.exec('COMMIT');
    }
    if (performance.now() >= deadline) throw describeLag(seller, state);
    projection.step(seller);
    return undefined;
  }

  #read(request: PositionRequest, { currency }: Seller, state: ProjectionState): Result {
    const { ordinal, position, products, units, valueMinor } = state;
    const { finder } = this.#open;
    switch (request.kind) {
      case 'export':
        return this.#exports.start(request);
      case 'totals':
        return request.archived === 'any' ? {
          products: state.allProducts, units: state.allUnits, valueMinor: state.allValueMinor,
          position,
        } : { products, units, valueMinor, position };
      case 'count':
        return finder.count(ordinal, request.filter, products);
      case 'lowStock':
        return finder.countLowStock(ordinal, request.stockMax, request.limit);
      case 'categories':
        return finder.listCategories(ordinal, request);
      case 'lookup':
        return { results: finder.lookUp(ordinal, request.filters), currency, position };
      case 'search':
        return { ...finder.find(ordinal, request.query), currency, position };
    }
  }

  /** A persistent error is reported to the next request. */
  #catchUpWhenIdle(): void {
    try {
      if (this.#idleSteps?.next().done) this.#idleSteps = undefined;
    } catch (error) {
      this.#idleSteps = undefined;
      this.#noteDamage(error);
    }
  }

  /** One step at a time for every lagging seller, then for merging the text index. */
  *#catchUpAll(): Generator<void, void, void> {
    let seller: Seller | undefined;
    while ((seller = this.#catalogue.findNextSeller(seller?.id))) {
      const { id, position } = seller;
      for (; !isCaughtUp(this.#open.projection.find(id), position); yield) {
        this.#open.projection.step(seller);
      }
      yield;
    }
    while (this.#open.projection.merge()) yield;
  }

  #noteDamage(error: unknown): void {
    this.#mustRebuild ||= error instanceof ForeignProjectionError || isDamage(error);
  }

  /**
   * Also reopens a file that was removed; another process may have recreated it. If this fails, the
   * thread ends, and the next one retries.
   */
  #replaceUseless(): void {
    if (!this.#mustRebuild && findFileId(this.#files.search) === this.#open.fileId) return;
    this.#open.db.close();
    const open = this.#mustRebuild ? replaceProjectionFile : openProjectionFile;
    this.#open = this.#prepare(open(this.#files));
    this.#mustRebuild = false;
  }

  #prepare(db: DatabaseSync): OpenProjection {
    return {
      db, fileId: findFileId(this.#files.search),
      projection: new Projection(db, this.#catalogue), finder: new ProductFinder(db),
    };
  }
}

function describeLag(seller: Seller, state: ProjectionState | undefined): AppError {
  const progress = state?.builtTo === undefined
    ? `has reached ${formatCount(state?.position ?? 0)} of ${formatCount(seller.position)} changes`
    : `is being built, and has read ${formatCount(state.rows)} products`;
  return temporarilyUnavailable(
    `The search ${progress}. Retry in ${SEARCH_RETRY_AFTER_SECONDS} seconds.`,
  );
}
