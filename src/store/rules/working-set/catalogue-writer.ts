/**
 * The queue of all writes to catalogues. The mutations that wait for the same seller are written
 * together, in the order in which they came; several transactions are in flight at a time, each for
 * other sellers.
 */
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import {
  CONCURRENT_WRITES_LIMIT, WRITE_BATCH_LIMIT, WRITE_BATCH_ROWS_LIMIT, WRITE_QUEUE_LIMIT,
} from '../../limits.ts';
import { CommitMetrics, countBatch } from '../commit-metrics.ts';
import type { IdempotencyScope } from '../idempotency.ts';
import {
  type CatalogueCall, type CatalogueMutationName, isOfStock, needsNoRows,
} from './named-rows.ts';
import type { CatalogueMutations } from '../mutations/catalogue-mutations.ts';
import type { Outcome } from './decision.ts';

type Input<Name extends CatalogueMutationName> = Parameters<CatalogueMutations[Name]>[0];
type Output<Name extends CatalogueMutationName> = Awaited<ReturnType<CatalogueMutations[Name]>>;

/** The calls of each seller, in order. */
export type CallsBySeller = ReadonlyMap<SellerId, readonly CatalogueCall[]>;

/** One part per seller, or per call if there is only one seller. */
export function divide(calls: CallsBySeller): readonly CallsBySeller[] {
  if (calls.size > 1) return [...calls].map((entry) => new Map([entry]));
  return [...calls].flatMap(([id, sellerCalls]) =>
    sellerCalls.map((call) => new Map([[id, [call]]])));
}

/** Where an adapter runs transactions. */
interface Transactions {
  /** Whether an optimistic commit will probably succeed. */
  isRemembered(sellerId: SellerId): boolean;
  /** Sellers with the same place may share a transaction. */
  findPlace(sellerId: SellerId): number;
  /** Undefined if the sellers have to be locked. */
  commitOptimistically(calls: CallsBySeller): Promise<readonly Outcome[] | undefined>;
  /** @throws AppError if nothing was committed, or if the outcome is unknown */
  commitWithLock(calls: CallsBySeller): Promise<readonly Outcome[]>;
}

/** A mutation that waits. */
interface Pending {
  readonly call: CatalogueCall;
  /** Rows that it writes. */
  readonly rows: number;
  settle(outcome: Outcome): void;
}

/** The mutations of one transaction. */
interface Batch {
  isOptimistic: boolean;
  readonly bySeller: Map<SellerId, readonly Pending[]>;
}

export class CatalogueWriter {
  readonly #transactions: Transactions;
  /** By seller, the longest waiting first. */
  readonly #queues = new Map<SellerId, Pending[]>();
  readonly #busy = new Set<SellerId>();
  readonly #metrics = new CommitMetrics();
  #waiting = 0;
  #inFlight = 0;
  #isScheduled = false;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  readMetrics() {
    return { ...this.#metrics.read(), waitingChanges: this.#waiting };
  }

  /**
   * Runs a mutation of so many rows, or finds its recorded outcome. Resolves when it is durable.
   */
  run<Name extends CatalogueMutationName>(
    name: Name, input: Input<Name>, idempotency?: IdempotencyScope, rows = 1,
  ): Promise<Output<Name>> {
    const rejection = this.#findRejection();
    if (rejection) return Promise.reject(rejection);
    return new Promise((resolve, reject) => {
      const { sellerId } = input.actor;
      const queue = this.#queues.get(sellerId) ?? [];
      this.#queues.set(sellerId, queue);
      queue.push({
        call: { name, input, idempotency }, rows,
        settle: (outcome) => {
          this.#waiting -= 1;
          // The cast: the mutation called `name` produced this value.
          if (outcome.isDone) resolve(outcome.value as Output<Name>);
          else reject(outcome.error);
        },
      });
      this.#waiting += 1;
      this.#schedule();
    });
  }

  /** Rejects new mutations; resolves once those that wait are written. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    if (this.#waiting === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  #findRejection(): AppError | undefined {
    if (this.#closed) return new AppError('unavailable', 'This server is stopping. Try again.');
    if (this.#waiting < WRITE_QUEUE_LIMIT) return undefined;
    const detail = 'Too many changes are waiting for the database. Try again soon.';
    return new AppError('unavailable', detail, { retryAfterSeconds: 1 });
  }

  /** Collects the mutations of one event-loop iteration. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#inFlight < CONCURRENT_WRITES_LIMIT) {
        const batch = this.#take();
        if (batch.bySeller.size === 0) return;
        this.#inFlight += 1;
        void this.#run(batch);
      }
    });
  }

  /** The next transaction: of sellers that all have to be locked, or none. */
  #take(): Batch {
    const batch: Batch = { isOptimistic: false, bySeller: new Map() };
    let place: number | undefined;
    let rows = 0;
    let count = 0;
    for (const [sellerId, queue] of this.#queues) {
      if (this.#busy.has(sellerId)) continue;
      const next = queue.slice(0, countNext(queue));
      const isOptimistic = this.#transactions.isRemembered(sellerId)
        && next.every(({ call }) => needsNoRows(call));
      const itsPlace = this.#transactions.findPlace(sellerId);
      if (batch.bySeller.size > 0
        && (isOptimistic !== batch.isOptimistic || itsPlace !== place)) continue;
      place = itsPlace;
      batch.isOptimistic = isOptimistic;
      batch.bySeller.set(sellerId, next);
      this.#busy.add(sellerId);
      queue.splice(0, next.length);
      this.#queues.delete(sellerId); // and set again, behind the others
      if (queue.length > 0) this.#queues.set(sellerId, queue);
      rows += next.reduce((sum, pending) => sum + pending.rows, 0);
      count += next.length;
      if (rows >= WRITE_BATCH_ROWS_LIMIT || count >= WRITE_BATCH_LIMIT) break;
    }
    return batch;
  }

  async #run({ isOptimistic, bySeller }: Batch): Promise<void> {
    const all = [...bySeller.values()].flat();
    const calls = new Map(bySeller.entries().map(([id, pending]) =>
      [id, pending.map(({ call }) => call)] as const));
    const startedAt = performance.now();
    try {
      settle(all, (isOptimistic ? await this.#transactions.commitOptimistically(calls) : undefined)
        ?? await this.#transactions.commitWithLock(calls));
      this.#metrics.note(startedAt, []);
    } catch (error) {
      this.#metrics.note(startedAt, error instanceof AppError ? [error.code] : []);
      settle(all, all.map(() => ({ isDone: false, error })));
    } finally {
      this.#inFlight -= 1;
      for (const id of bySeller.keys()) this.#busy.delete(id);
      if (this.#waiting === 0) this.#closed?.resolve();
      this.#schedule();
    }
  }
}

/** How many mutations one transaction can have: all of stock levels, or none. */
function countNext(queue: readonly Pending[]): number {
  const [first] = queue;
  return countBatch(queue, ({ call }) =>
    first !== undefined && isOfStock(call) !== isOfStock(first.call));
}

function settle(pending: readonly Pending[], outcomes: readonly Outcome[]): void {
  pending.forEach((mutation, index) => mutation.settle(outcomes[index]
    ?? { isDone: false, error: new Error('The mutation has no outcome.') }));
}
