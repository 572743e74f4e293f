/**
 * The work of the search's thread: what is asked waits here until the projection has come to the
 * position of its caller, and is answered then. Those that wait take turns, a step each; between
 * steps the thread takes messages, so nobody waits for more than a step of another seller's.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  SEARCH_RETRY_AFTER_SECONDS, SEARCH_WAIT_LIMIT_MS, SEARCHES_PER_SELLER_LIMIT,
} from './limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { CatalogueTotals } from '../../store.ts';
import {
  resultCodeOf, SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR,
  SQLITE_LOCKED, SQLITE_NOTADB, SQLITE_READONLY,
} from '../engine/disk-failure.ts';
import { Exports } from './exports.ts';
import { type CatalogueSeller, History } from './history.ts';
import type {
  CountedProducts, FoundPage, FoundRows, PositionRequest, SearchAnswer, SearchCall, SearchFailure,
  SearchFiles, SearchNote, StartedExport,
} from './messages.ts';
import { ProductFinder } from './product-finder.ts';
import {
  ForeignProjectionError, isCaughtUp, Projection, type ProjectionState,
} from './projection.ts';
import {
  isDamage, openProjectionFile, readInode, replaceProjectionFile,
} from './projection-file.ts';
import { temporarilyUnavailable, queueFull } from './search-errors.ts';
import { prepareCountLowStock } from './totals.ts';

type Answer = FoundPage | StartedExport | CatalogueTotals | CountedProducts;

interface Waiting {
  readonly id: number;
  readonly request: PositionRequest;
  /** Nobody waits for longer, whether for the projection or for those before him. */
  readonly deadline: number;
  /** Whether it has had a turn. */
  readonly hasBegun: boolean;
  /** Whether it has met a projection that was worth nothing: it is replaced once for each. */
  readonly hasReplaced: boolean;
}

interface Opened {
  readonly db: DatabaseSync;
  /** Of its file, as long as nobody removes that. */
  readonly inode: number | undefined;
  readonly projection: Projection;
  readonly finder: ProductFinder;
  readonly countLowStock: ReturnType<typeof prepareCountLowStock>;
}

/** What may pass; damage is among it, as the next search that meets it makes the file anew. */
const PASSING: ReadonlySet<number> = new Set([
  SQLITE_BUSY, SQLITE_LOCKED, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN,
  SQLITE_CORRUPT, SQLITE_NOTADB,
]);

export class SearchService {
  readonly #file: string;
  readonly #send: (answer: SearchAnswer) => void;
  readonly #history: History;
  readonly #exports: Exports;
  #opened: Opened;
  readonly #waiting: Waiting[] = [];
  #lastSeller: SellerId | undefined;
  /** The last seller that was caught up unasked; undefined where nothing is done unasked. */
  #caughtUp: number | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(files: SearchFiles, send: (answer: SearchAnswer) => void) {
    this.#file = files.search;
    this.#send = send;
    this.#history = new History(files.catalogue);
    this.#exports = new Exports(files.search, this.#history);
    this.#opened = this.#prepare(openProjectionFile(files.search));
  }

  call(call: SearchCall): void {
    try {
      if (call.kind === 'page') {
        this.#send({ id: call.id, value: this.#readPage(call.export) });
        return;
      }
      this.#assertRoom(call);
      const deadline = performance.now() + SEARCH_WAIT_LIMIT_MS;
      this.#waiting.push({
        id: call.id, request: call, deadline, hasBegun: false, hasReplaced: false,
      });
      this.#schedule();
    } catch (error) {
      this.#send({ id: call.id, failure: describeFailure(error) });
    }
  }

  note(note: SearchNote): void {
    switch (note.kind) {
      case 'leave':
        this.#exports.end(note.export);
        return;
      case 'work':
        this.#caughtUp = 0;
        this.#schedule();
        return;
      case 'pause':
        this.#caughtUp = undefined;
        return;
      case 'close':
        clearImmediate(this.#turn);
        this.#exports.endAll();
        this.#opened.db.close();
        this.#history.close();
    }
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      const next = this.#takeNext();
      if (next) this.#serve(next);
      else if (this.#caughtUp !== undefined) this.#catchUpWhenIdle(this.#caughtUp);
      if (this.#waiting.length > 0 || this.#caughtUp !== undefined) this.#schedule();
    });
  }

  #serve(waiting: Waiting): void {
    try {
      const value = this.#answer(waiting);
      if (value) this.#send({ id: waiting.id, value });
      else this.#waiting.push({ ...waiting, hasBegun: true });
    } catch (error) {
      if (needsRebuild(error) && !waiting.hasReplaced) {
        this.#replace();
        this.#waiting.push({ ...waiting, hasReplaced: true });
      } else {
        this.#send({ id: waiting.id, failure: describeFailure(error) });
      }
    }
  }

  /** @throws AppError `unavailable` where the seller has as much under way as anybody may */
  #assertRoom({ kind, sellerId }: PositionRequest): void {
    const waiting = this.#waiting.map(({ request }) => request);
    if (kind === 'export') {
      const exports = waiting.filter((request) => request.kind === 'export');
      this.#exports.assertRoom(sellerId, exports.map((request) => request.sellerId));
    }
    const own = waiting.filter((request) => request.sellerId === sellerId);
    if (own.length >= SEARCHES_PER_SELLER_LIMIT) throw queueFull();
  }

  /** The first that waits of another seller than the last one: sellers take turns. */
  #takeNext(): Waiting | undefined {
    const other = this.#waiting.findIndex(({ request }) => request.sellerId !== this.#lastSeller);
    const [next] = this.#waiting.splice(Math.max(other, 0), 1);
    this.#lastSeller = next?.request.sellerId;
    return next;
  }

  /** Damage that an export comes upon ends it, and the file is made anew for the next one. */
  #readPage(id: number): FoundRows {
    try {
      return this.#exports.readPage(id);
    } catch (error) {
      if (needsRebuild(error)) {
        this.#exports.end(id);
        this.#replace();
      }
      throw error;
    }
  }

  /** What is answered; undefined after a step towards it. */
  #answer({ request, deadline, hasBegun }: Waiting): Answer | undefined {
    if (!hasBegun && performance.now() >= deadline) throw queueFull();
    if (readInode(this.#file) !== this.#opened.inode) this.#reopen();
    const seller = this.#history.findSeller(request.sellerId);
    if (!seller) throw new AppError('not_found', 'There is no such seller.');
    const { db, projection } = this.#opened;
    let standing: ProjectionState | undefined;
    db.exec('BEGIN');
    try {
      standing = projection.find(seller.id);
      if (isCaughtUp(standing, request.position)) return this.#read(request, seller, standing);
    } finally {
      if (db.isTransaction) db.exec('COMMIT');
    }
    if (performance.now() >= deadline) throw describeDelay(seller, standing);
    projection.step(seller);
    return undefined;
  }

  #read(
    request: PositionRequest, { currency }: CatalogueSeller, standing: ProjectionState,
  ): Answer {
    const { ordinal, position, totals } = standing;
    const { finder, countLowStock } = this.#opened;
    switch (request.kind) {
      case 'export':
        return this.#exports.start(request);
      case 'totals':
        return totals;
      case 'lowStock':
        return { products: countLowStock(ordinal, request.stockMax, request.limit) };
      case 'search':
        return { ...finder.find(ordinal, request.query), currency, position };
    }
  }

  /** One step: for the first seller that is behind, past one that is not, or of tidying up. */
  #catchUpWhenIdle(caughtUp: number): void {
    const { projection } = this.#opened;
    try {
      const seller = this.#history.nextSeller(caughtUp);
      if (!seller) {
        if (!projection.merge()) this.#caughtUp = undefined;
      } else if (isCaughtUp(projection.find(seller.id), seller.position)) {
        this.#caughtUp = seller.id;
      } else {
        projection.step(seller);
      }
    } catch (error) {
      // Whoever asks next is told of what does not pass.
      this.#caughtUp = undefined;
      if (needsRebuild(error)) this.#replace();
    }
  }

  /** Where this fails the thread ends, and the next one tries again. */
  #replace(): void {
    this.#opened.db.close();
    this.#opened = this.#prepare(replaceProjectionFile(this.#file));
  }

  /** Somebody has removed the file, and another process may have made it anew. */
  #reopen(): void {
    this.#opened.db.close();
    this.#opened = this.#prepare(openProjectionFile(this.#file));
  }

  #prepare(db: DatabaseSync): Opened {
    return {
      db, inode: readInode(this.#file), projection: new Projection(db, this.#history),
      finder: new ProductFinder(db), countLowStock: prepareCountLowStock(db),
    };
  }
}

function needsRebuild(error: unknown): boolean {
  return error instanceof ForeignProjectionError || isDamage(error);
}

function describeDelay(seller: CatalogueSeller, standing: ProjectionState | undefined): AppError {
  const format = (count: number): string => count.toLocaleString('en');
  const progress = standing?.builtTo === undefined
    ? `has come to ${format(standing?.position ?? 0)} of ${format(seller.position)} changes`
    : `is being built, and has read ${format(standing.rows)} products`;
  const detail = `The search ${progress}. Try again in ${SEARCH_RETRY_AFTER_SECONDS} seconds.`;
  return temporarilyUnavailable(detail);
}

function describeFailure(error: unknown): SearchFailure {
  if (error instanceof AppError) {
    const { code, publicDetail: detail, retryAfterSeconds } = error;
    return { code, detail, retryAfterSeconds };
  }
  const cause = error instanceof Error ? error.stack : String(error);
  if (!PASSING.has(resultCodeOf(error))) {
    return { code: 'internal', detail: 'The search has failed.', cause };
  }
  const detail = 'The search cannot use its file now. Try again soon.';
  const retryAfterSeconds = SEARCH_RETRY_AFTER_SECONDS;
  return { code: 'unavailable', detail, retryAfterSeconds, cause };
}
