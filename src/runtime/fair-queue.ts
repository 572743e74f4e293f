/**
 * A bounded queue for costly work, such as hashing passwords. Lanes take turns (round robin), so
 * the work of one lane delays that of another by one turn, however much of it waits. A client
 * that leaves gives up its place.
 */
import { addAbortListener } from 'node:events';

/** How much work there may be, running or waiting; `concurrent` of it runs. */
interface QueueLimits extends Readonly<Record<'concurrent' | 'total', number>> {
  readonly perLane: number;
  readonly perOwner: number;
  /** How much of a lane runs at the same time. Default: no other limit. */
  readonly concurrentPerLane?: number;
}

/** Whose work it is. */
export interface QueueClient {
  /** Takes turns with other lanes: such as a seller. */
  readonly lane: string;
  /** Shares the lane with others: such as an account. */
  readonly owner: string;
  /** Aborted when the client leaves. */
  readonly signal?: AbortSignal | undefined;
}

export class FairQueue {
  readonly #limits: QueueLimits;
  /** Who waits, by lane; the next turn first. No lane is empty. */
  readonly #lanes = new Map<string, Set<() => void>>();
  readonly #places = new Set<QueueClient>();
  /** The lanes of the work that runs. */
  readonly #running: string[] = [];

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when it is its turn. @throws The reason of the signal
   * @returns Undefined if there is no place left.
   */
  run<T>(client: QueueClient, work: () => Promise<T>): Promise<T> | undefined {
    const { total, perLane, perOwner } = this.#limits;
    const count = (key: 'lane' | 'owner'): number =>
      this.#places.values().filter((other) => other[key] === client[key]).toArray().length;
    const isFull = this.#places.size >= total || count('lane') >= perLane;
    return isFull || count('owner') >= perOwner ? undefined : this.#runInTurn({ ...client }, work);
  }

  async #runInTurn<T>(place: QueueClient, work: () => Promise<T>): Promise<T> {
    using turn = new DisposableStack();
    this.#places.add(place);
    turn.defer(() => this.#places.delete(place));
    if (this.#mayRun(place.lane)) this.#running.push(place.lane);
    else await this.#wait(place);
    turn.defer(() => {
      this.#running.splice(this.#running.indexOf(place.lane), 1);
      this.#startNext();
    });
    place.signal?.throwIfAborted();
    return await work();
  }

  /** Resolves when it is its turn, and it counts as running. */
  async #wait({ lane, signal }: QueueClient): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = this.#lanes.get(lane) ?? new Set();
    this.#lanes.set(lane, waiting.add(resolve));
    using _listener = signal && addAbortListener(signal, () => {
      if (waiting.delete(resolve) && waiting.size === 0) this.#lanes.delete(lane);
      reject(signal.reason);
    });
    await promise;
  }

  /** In the lane of which the least runs; among such ones, the lane whose turn it is. */
  #startNext(): void {
    const lanes = [...this.#lanes].sort(([one], [other]) =>
      this.#countRunning(one) - this.#countRunning(other));
    const [[lane, waiting] = ['', new Set<() => void>()]] = lanes;
    const [next] = waiting;
    if (!next || !this.#mayRun(lane)) return;
    waiting.delete(next);
    this.#lanes.delete(lane);
    if (waiting.size > 0) this.#lanes.set(lane, waiting);
    this.#running.push(lane);
    next();
  }

  /** Then nothing of the lane waits: it would have been started. */
  #mayRun(lane: string): boolean {
    const { concurrent, concurrentPerLane = concurrent } = this.#limits;
    return this.#running.length < concurrent && this.#countRunning(lane) < concurrentPerLane;
  }

  #countRunning(lane: string): number {
    return this.#running.filter((other) => other === lane).length;
  }
}
