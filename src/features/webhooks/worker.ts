/**
 * Finds the endpoints that wait for something, and sends to many of them at once. One process of
 * all that share a store does that; the others stand by, in case that it ends. Endpoints that fail
 * have at most half of the places, so however many are dead or slow, the others go on.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  WEBHOOK_LOCK_INTERVAL_MS, WEBHOOK_POLL_INTERVAL_MS, WEBHOOK_STORE_ERROR_PAUSE_MS,
  CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT, WEBHOOK_STANDBY_INTERVAL_MS, WEBHOOK_STOP_TIMEOUT_MS,
} from './limits.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import type { ErrorReport } from '../../http/response/problem.ts';
import { type EndpointOptions, sendToEndpoint } from './endpoint.ts';

interface WorkerOptions extends EndpointOptions {
  /** Told of what the store could not do. */
  readonly report: (entry: ErrorReport) => void;
}

interface InFlightRequests {
  readonly isFailing: boolean;
  readonly over: Promise<void>;
}

/** The longest that a timer of Node is asked to wait. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;

export class WebhookWorker {
  readonly #options: WorkerOptions;
  /** Undefined while commits are not watched. */
  #unwatch: (() => void) | undefined;
  #watchedAt = -Infinity;
  /** Endpoints to which something is under way, by name. */
  readonly #inFlight = new Map<string, InFlightRequests>();
  #release: (() => void) | undefined;
  #claimAt = -Infinity;
  #lookedAt = -Infinity;
  #look: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#schedulePoll(0);
  }

  /** Endpoints to which something is under way. */
  inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** Looks after every commit from now on: call it when there is about to be an endpoint. */
  watch(): void {
    if (this.#options.stop.aborted || this.#unwatch) return;
    this.#watchedAt = performance.now();
    this.#unwatch = this.#options.store.subscribeToCommits(() => this.#schedulePoll(0));
    this.#schedulePoll(0); // for what was committed after the last look, and before this
  }

  /** Ends what is under way, which is begun again by whoever comes next; within 2 s. */
  async close(): Promise<void> {
    this.#endWatch();
    clearTimeout(this.#timer);
    await this.#look; // which starts no more
    const all = Promise.all([...this.#inFlight.values()].map(({ over }) => over));
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, WEBHOOK_STOP_TIMEOUT_MS);
    await Promise.race([all, late.promise]);
    clearTimeout(timer);
    this.#release?.();
    this.#release = undefined;
  }

  /** Looks for endpoints in so long, or later where the last look was only just. */
  #schedulePoll(waitMs: number): void {
    const now = performance.now();
    const at = Math.max(now + waitMs, this.#lookedAt + WEBHOOK_POLL_INTERVAL_MS);
    if (at >= this.#timerAt || this.#options.stop.aborted) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const wake = (): void => {
      this.#timerAt = Infinity;
      if (this.#look) this.#schedulePoll(WEBHOOK_POLL_INTERVAL_MS);
      else this.#look = this.#dispatchDue().finally(() => { this.#look = undefined; });
    };
    this.#timer = setTimeout(wake, Math.min(at - now, LONGEST_WAIT_MS)).unref();
  }

  async #dispatchDue(): Promise<void> {
    this.#lookedAt = performance.now();
    try {
      if (!await this.#options.store.hasWebhooks()) return this.#standBy();
      this.watch();
      await this.#startAll(await this.#listDue());
      const now = this.#options.clock();
      const retryAt = await this.#options.store.findNextRetry(now);
      if (retryAt !== undefined) this.#schedulePoll(retryAt - now);
    } catch (error) {
      this.#note(error);
      this.#schedulePoll(WEBHOOK_STORE_ERROR_PAUSE_MS);
    }
  }

  /** To watch commits takes some work all the time: it is not done for nobody. */
  #standBy(): void {
    const isNew = performance.now() < this.#watchedAt + WEBHOOK_STANDBY_INTERVAL_MS;
    if (!isNew) this.#endWatch();
    this.#schedulePoll(WEBHOOK_STANDBY_INTERVAL_MS);
  }

  #endWatch(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  async #startAll(due: readonly Webhook[]): Promise<void> {
    if (due.length === 0 || !await this.#claim()) return;
    for (const webhook of due) {
      if (this.#options.stop.aborted) return;
      this.#start(webhook);
      await setImmediate(); // to build a message takes a while: requests come between
    }
  }

  /** As many as there are places for. */
  async #listDue(): Promise<Webhook[]> {
    const { store, clock } = this.#options;
    const taken = this.#inFlight.size;
    const failing = [...this.#inFlight.values()].filter(({ isFailing }) => isFailing).length;
    const find = async (isFailing: boolean, places: number): Promise<Webhook[]> => {
      if (places <= 0) return [];
      // Only those that fail wait for a time, whatever the clock does to the others.
      const at = isFailing ? clock() : Number.MAX_SAFE_INTEGER;
      // Those that are under way count as waiting, too.
      const found = await store.listDueWebhooks({ at, isFailing, limit: places + taken });
      return found.filter((webhook) => !this.#inFlight.has(nameOf(webhook))).slice(0, places);
    };
    const free = CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT - taken;
    const again = await find(
      true, Math.min(free, Math.floor(CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT / 2) - failing),
    );
    return [...again, ...await find(false, free - again.length)];
  }

  /** Whether it is this process that delivers. */
  async #claim(): Promise<boolean> {
    if (this.#release) return true;
    const waitMs = this.#claimAt - performance.now();
    if (waitMs <= 0) {
      this.#release = await this.#options.store.acquireDeliveryLock();
      if (this.#release) return true;
      this.#claimAt = performance.now() + WEBHOOK_LOCK_INTERVAL_MS;
    }
    this.#schedulePoll(Math.max(waitMs, 0) || WEBHOOK_LOCK_INTERVAL_MS);
    return false;
  }

  #start(webhook: Webhook): void {
    const over = this.#run(webhook);
    this.#inFlight.set(nameOf(webhook), { isFailing: webhook.failures > 0, over });
  }

  async #run(webhook: Webhook): Promise<void> {
    const finish = (): void => {
      this.#inFlight.delete(nameOf(webhook));
      this.#schedulePoll(0);
    };
    try {
      await sendToEndpoint(webhook, this.#options);
      finish();
    } catch (error) {
      // The store is at fault, and will be again if it is asked at once.
      this.#note(error);
      setTimeout(finish, WEBHOOK_STORE_ERROR_PAUSE_MS).unref();
    }
  }

  #note(error: unknown): void {
    if (!this.#options.stop.aborted) this.#options.report({ id: randomUUID(), error });
  }
}

function nameOf({ sellerId, id }: Webhook): string {
  return `${sellerId} ${id}`;
}
