/**
 * Finds the endpoints that are due and sends to many of them concurrently. Of all processes that
 * share a store, the one that holds the delivery lock does this; the others stand by in case it
 * ends. Failing endpoints get at most half of the slots, so dead or slow ones, however many, do not
 * starve the others.
 */
import { randomUUID } from 'node:crypto';
import {
  CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT, WEBHOOK_LOCK_INTERVAL_MS, WEBHOOK_POLL_INTERVAL_MS,
  WEBHOOK_STANDBY_INTERVAL_MS, WEBHOOK_STOP_TIMEOUT_MS, WEBHOOK_STORE_ERROR_PAUSE_MS,
} from './limits.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import type { ErrorReporter } from '../../http/response/problem.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { type EndpointOptions, sendToEndpoint } from './endpoint.ts';

interface WorkerOptions extends EndpointOptions {
  /** Receives errors of the store. */
  readonly report: ErrorReporter;
}

interface InFlightDelivery {
  readonly isFailing: boolean;
  readonly done: Promise<void>;
}

/** The longest delay of a timer: Node's own maximum is 24 days. */
const TIMER_LIMIT_MS = 60 * 60 * 1000;

export class WebhookWorker {
  readonly #options: WorkerOptions;
  /** Undefined while not subscribed to commits. */
  #unsubscribe: (() => void) | undefined;
  #subscribedAt = -Infinity;
  /** By endpoint. */
  readonly #inFlight = new Map<string, InFlightDelivery>();
  #releaseLock: (() => void) | undefined;
  #nextLockAt = -Infinity;
  #lastPollAt = -Infinity;
  #poll: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#schedulePoll(0);
  }

  /** Endpoints that are being sent to. */
  inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** Polls after every commit from now on. Call it before the first endpoint is created. */
  subscribe(): void {
    if (this.#options.stop.aborted || this.#unsubscribe) return;
    this.#subscribedAt = performance.now();
    this.#unsubscribe = this.#options.store.subscribeToCommits(() => this.#schedulePoll(0));
    this.#schedulePoll(0); // for commits between the last poll and this subscription
  }

  /** Waits up to 2 s for the aborted attempts. Whichever process polls next repeats them. */
  async close(): Promise<void> {
    this.#endSubscription();
    clearTimeout(this.#timer);
    await this.#poll; // which starts no more
    const all = Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, WEBHOOK_STOP_TIMEOUT_MS);
    await Promise.race([all, timeout.promise]);
    clearTimeout(timer);
    this.#releaseLock?.();
    this.#releaseLock = undefined;
  }

  /** Polls after a delay, or later if the last poll was just now. */
  #schedulePoll(delayMs: number): void {
    const now = performance.now();
    const at = Math.max(now + delayMs, this.#lastPollAt + WEBHOOK_POLL_INTERVAL_MS);
    if (at >= this.#timerAt || this.#options.stop.aborted) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const wake = (): void => {
      this.#timerAt = Infinity;
      if (this.#poll) this.#schedulePoll(WEBHOOK_POLL_INTERVAL_MS);
      else this.#poll = this.#dispatchDue().finally(() => { this.#poll = undefined; });
    };
    this.#timer = setTimeout(wake, Math.min(at - now, TIMER_LIMIT_MS)).unref();
  }

  async #dispatchDue(): Promise<void> {
    this.#lastPollAt = performance.now();
    try {
      if (!await this.#options.store.hasWebhooks()) return this.#standBy();
      this.subscribe();
      await this.#startAll(await this.#listDue());
      const now = this.#options.clock();
      const retryAt = await this.#options.store.findNextRetry(now);
      if (retryAt !== undefined) this.#schedulePoll(retryAt - now);
    } catch (error) {
      this.#reportError(error);
      this.#schedulePoll(WEBHOOK_STORE_ERROR_PAUSE_MS);
    }
  }

  /** A subscription costs some work all the time, so it ends where there is no endpoint. */
  #standBy(): void {
    const isNew = performance.now() < this.#subscribedAt + WEBHOOK_STANDBY_INTERVAL_MS;
    if (!isNew) this.#endSubscription();
    this.#schedulePoll(WEBHOOK_STANDBY_INTERVAL_MS);
  }

  #endSubscription(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  async #startAll(due: readonly Webhook[]): Promise<void> {
    if (due.length === 0 || !await this.#acquireLock()) return;
    for (const webhook of due) {
      if (this.#options.stop.aborted) return;
      const done = this.#run(webhook);
      this.#inFlight.set(keyOf(webhook), { isFailing: webhook.failures > 0, done });
      await yieldToEventLoop(); // building a message takes a while: let requests run between
    }
  }

  /** As many as there are free slots. */
  async #listDue(): Promise<Webhook[]> {
    const { store, clock } = this.#options;
    const taken = this.#inFlight.size;
    const failing = [...this.#inFlight.values()].filter(({ isFailing }) => isFailing).length;
    const find = async (isFailing: boolean, slots: number): Promise<Webhook[]> => {
      if (slots <= 0) return [];
      // Only failing endpoints wait for a time; a wrong clock must not delay the others.
      const at = isFailing ? clock() : Number.MAX_SAFE_INTEGER;
      // Those in flight are still listed as due.
      const found = await store.listDueWebhooks({ at, isFailing, limit: slots + taken });
      return found.filter((webhook) => !this.#inFlight.has(keyOf(webhook))).slice(0, slots);
    };
    const free = CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT - taken;
    const failingSlots = Math.floor(CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT / 2) - failing;
    const retries = await find(true, Math.min(free, failingSlots));
    return [...retries, ...await find(false, free - retries.length)];
  }

  /** Whether this process is the one that delivers. */
  async #acquireLock(): Promise<boolean> {
    if (this.#releaseLock) return true;
    const delayMs = this.#nextLockAt - performance.now();
    if (delayMs <= 0) {
      this.#releaseLock = await this.#options.store.acquireDeliveryLock();
      if (this.#releaseLock) return true;
      this.#nextLockAt = performance.now() + WEBHOOK_LOCK_INTERVAL_MS;
    }
    this.#schedulePoll(Math.max(delayMs, 0) || WEBHOOK_LOCK_INTERVAL_MS);
    return false;
  }

  async #run(webhook: Webhook): Promise<void> {
    const finish = (): void => {
      this.#inFlight.delete(keyOf(webhook));
      this.#schedulePoll(0);
    };
    try {
      await sendToEndpoint(webhook, this.#options);
      finish();
    } catch (error) {
      // The store failed, and would fail again at once.
      this.#reportError(error);
      setTimeout(finish, WEBHOOK_STORE_ERROR_PAUSE_MS).unref();
    }
  }

  #reportError(error: unknown): void {
    if (!this.#options.stop.aborted) this.#options.report({ id: randomUUID(), error });
  }
}

function keyOf({ sellerId, id }: Webhook): string {
  return `${sellerId} ${id}`;
}
