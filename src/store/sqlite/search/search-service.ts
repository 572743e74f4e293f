/**
 * The work of the search thread: a request waits here until the projection has caught up to the
 * position of its caller. Waiting requests take turns, one step of the projection each; between
 * steps the thread receives messages, so nobody waits for more than one step of another seller.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  SEARCH_RETRY_AFTER_SECONDS, SEARCH_WAIT_LIMIT_MS, SEARCHES_PER_SELLER_LIMIT,
} from './limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { Exports } from './exports.ts';
import { type CatalogueSeller, CatalogueReader } from './catalogue-reader.ts';
import {
  type FoundRows, type PositionRequest, queueFull, type SearchFiles, type SearchNotification,
  type SearchRequest, type SearchResults, temporarilyUnavailable,
} from './protocol.ts';
import { ProductFinder } from './product-finder.ts';
import {
  ForeignProjectionError, isCaughtUp, Projection, type ProjectionState,
} from './projection.ts';
import {
  isDamage, openProjectionFile, readInode, replaceProjectionFile,
} from './projection-file.ts';

type Result = SearchResults[PositionRequest['kind']];

interface QueuedRequest {
  readonly request: PositionRequest;
  readonly settle: PromiseWithResolvers<Result>;
  /** Applies to the wait for the projection and for the requests before it. */
  readonly deadline: number;
  /** Whether it has had a turn. */
  hasStarted: boolean;
  /** Whether it has met a projection that was useless: each request causes at most one rebuild. */
  hasRebuilt: boolean;
}

interface OpenProjection {
  readonly db: DatabaseSync;
  /** Changes when somebody removes the file. */
  readonly inode: number | undefined;
  readonly projection: Projection;
  readonly finder: ProductFinder;
}

export class SearchService {
  readonly #file: string;
  readonly #catalogue: CatalogueReader;
  readonly #exports: Exports;
  #open: OpenProjection;
  readonly #queue: QueuedRequest[] = [];
  #lastSeller: SellerId | undefined;
  /** The last seller that was caught up while idle; undefined while that is paused. */
  #caughtUpTo: number | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(files: SearchFiles) {
    this.#file = files.search;
    this.#catalogue = new CatalogueReader(files.catalogue);
    this.#exports = new Exports(files.search, this.#catalogue);
    this.#open = this.#prepare(openProjectionFile(files.search));
  }

  async handle(request: SearchRequest): Promise<Result | FoundRows> {
    if (request.kind === 'page') return this.#readPage(request.export);
    this.#assertRoom(request);
    const settle = Promise.withResolvers<Result>();
    const deadline = performance.now() + SEARCH_WAIT_LIMIT_MS;
    this.#queue.push({ request, settle, deadline, hasStarted: false, hasRebuilt: false });
    this.#schedule();
    return settle.promise;
  }

  notify(message: SearchNotification): void {
    switch (message.kind) {
      case 'endExport':
        this.#exports.end(message.export);
        return;
      case 'catchUp':
        this.#caughtUpTo = 0;
        this.#schedule();
        return;
      case 'pause':
        this.#caughtUpTo = undefined;
        return;
      case 'close':
        clearImmediate(this.#turn);
        this.#exports.endAll();
        this.#open.db.close();
        this.#catalogue.close();
    }
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      const next = this.#takeNext();
      if (next) this.#serve(next);
      else if (this.#caughtUpTo !== undefined) this.#catchUpWhenIdle(this.#caughtUpTo);
      if (this.#queue.length > 0 || this.#caughtUpTo !== undefined) this.#schedule();
    });
  }

  #serve(queued: QueuedRequest): void {
    try {
      const result = this.#run(queued);
      if (result !== undefined) {
        queued.settle.resolve(result);
        return;
      }
      queued.hasStarted = true;
    } catch (error) {
      if (!needsRebuild(error) || queued.hasRebuilt) {
        queued.settle.reject(error);
        return;
      }
      this.#rebuild();
      queued.hasRebuilt = true;
    }
    this.#queue.push(queued);
  }

  /** @throws AppError `unavailable` if the seller has too many requests in the queue */
  #assertRoom({ kind, sellerId }: PositionRequest): void {
    const queued = this.#queue.map(({ request }) => request);
    if (kind === 'export') {
      const exports = queued.filter((request) => request.kind === 'export');
      this.#exports.assertRoom(sellerId, exports.map((request) => request.sellerId));
    }
    const own = queued.filter((request) => request.sellerId === sellerId);
    if (own.length >= SEARCHES_PER_SELLER_LIMIT) throw queueFull();
  }

  /** The first request of another seller than the last one, if any: sellers take turns. */
  #takeNext(): QueuedRequest | undefined {
    const other = this.#queue.findIndex(({ request }) => request.sellerId !== this.#lastSeller);
    const [next] = this.#queue.splice(Math.max(other, 0), 1);
    this.#lastSeller = next?.request.sellerId;
    return next;
  }

  /** If it meets damage, the export ends, and the file is rebuilt for the next one. */
  #readPage(id: number): FoundRows {
    try {
      return this.#exports.readPage(id);
    } catch (error) {
      if (needsRebuild(error)) {
        this.#exports.end(id);
        this.#rebuild();
      }
      throw error;
    }
  }

  /** The result; undefined after a step towards it. */
  #run({ request, deadline, hasStarted }: QueuedRequest): Result | undefined {
    if (!hasStarted && performance.now() >= deadline) throw queueFull();
    if (readInode(this.#file) !== this.#open.inode) this.#reopen();
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

  #read(
    request: PositionRequest, { currency }: CatalogueSeller, state: ProjectionState,
  ): Result {
    const { ordinal, position, totals } = state;
    const { finder } = this.#open;
    switch (request.kind) {
      case 'export':
        return this.#exports.start(request);
      case 'totals':
        return totals;
      case 'lowStock':
        return finder.countLowStock(ordinal, request.stockMax, request.limit);
      case 'search':
        return { ...finder.find(ordinal, request.query), currency, position };
    }
  }

  /** One step: for the first seller that lags behind, or of merging the text index. */
  #catchUpWhenIdle(caughtUpTo: number): void {
    const { projection } = this.#open;
    try {
      const seller = this.#catalogue.nextSeller(caughtUpTo);
      if (!seller) {
        if (!projection.merge()) this.#caughtUpTo = undefined;
      } else if (isCaughtUp(projection.find(seller.id), seller.position)) {
        this.#caughtUpTo = seller.id;
      } else {
        projection.step(seller);
      }
    } catch (error) {
      // An error that persists is reported to the next request.
      this.#caughtUpTo = undefined;
      if (needsRebuild(error)) this.#rebuild();
    }
  }

  /** If this fails, the thread ends, and the next one retries. */
  #rebuild(): void {
    this.#open.db.close();
    this.#open = this.#prepare(replaceProjectionFile(this.#file));
  }

  /** Somebody has removed the file, and another process may have created it again. */
  #reopen(): void {
    this.#open.db.close();
    this.#open = this.#prepare(openProjectionFile(this.#file));
  }

  #prepare(db: DatabaseSync): OpenProjection {
    return {
      db, inode: readInode(this.#file), projection: new Projection(db, this.#catalogue),
      finder: new ProductFinder(db),
    };
  }
}

function needsRebuild(error: unknown): boolean {
  return error instanceof ForeignProjectionError || isDamage(error);
}

function describeLag(seller: CatalogueSeller, state: ProjectionState | undefined): AppError {
  const format = (count: number): string => count.toLocaleString('en');
  const progress = state?.builtTo === undefined
    ? `has reached ${format(state?.position ?? 0)} of ${format(seller.position)} changes`
    : `is being built, and has read ${format(state.rows)} products`;
  return temporarilyUnavailable(
    `The search ${progress}. Retry in ${SEARCH_RETRY_AFTER_SECONDS} seconds.`,
  );
}
