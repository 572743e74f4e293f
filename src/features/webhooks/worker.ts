/**
 * Finds due endpoints and sends to many of them concurrently. Of the processes that share a store,
 * only the one with a seller's lease sends; when it loses the lease, it aborts what it is sending.
 * Failing endpoints get at most half of the slots, so that dead or slow ones do not starve the
 * others.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT, WEBHOOK_POLL_INTERVAL_MS, WEBHOOK_STOP_TIMEOUT_MS,
  WEBHOOK_STORE_ERROR_PAUSE_MS,
} from './limits.ts';
import { HOUR_MS } from '../../domain/time.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { DeliveryMember, DueWebhook } from '../../store/webhook-store.ts';
import { type EndpointOptions, sendToEndpoint } from './endpoint.ts';

export class WebhookWorker {
  readonly #options: EndpointOptions;
  /** By endpoint. */
  readonly #inFlight =
    new Map<string, { readonly isFailing: boolean; readonly done: Promise<void> }>();
  readonly #polling: Promise<void>;
  /** Aborted to poll immediately. */
  #idle = new AbortController();
  #member: DeliveryMember | undefined;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#polling = this.#pollUntilStopped();
  }

  readMetrics() {
    return { inFlight: this.#inFlight.size, ...this.#member?.readMetrics() };
  }

  /** Call it after aborting `stop`. Waits up to 2 s; aborted attempts are repeated later. */
  async close(): Promise<void> {
    this.#wake();
    await this.#polling;
    const isDone = new AbortController();
    const all = Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    void all.then(() => isDone.abort());
    await pause(WEBHOOK_STOP_TIMEOUT_MS, isDone.signal);
    await this.#member?.leave();
  }

  #wake(): void {
    if (!this.#idle.signal.aborted) this.#idle.abort();
  }

  async #pollUntilStopped(): Promise<void> {
    const { stop } = this.#options;
    while (!stop.aborted) {
      this.#idle = new AbortController();
      const [delayMs] = await Promise.all([this.#poll(), pause(WEBHOOK_POLL_INTERVAL_MS, stop)]);
      await pause(delayMs, this.#idle.signal);
    }
  }

  /** Starts due deliveries. Returns when to poll again at the latest, in milliseconds from now. */
  async #poll(): Promise<number> {
    const { store, clock } = this.#options;
    try {
      this.#member ??= await store.joinDelivery(() => this.#wake());
      await this.#startAll(await this.#listDue(this.#member));
      const now = clock();
      return (await this.#member.findNextRetry(now) ?? Infinity) - now;
    } catch (error) {
      this.#reportError(error);
      return WEBHOOK_STORE_ERROR_PAUSE_MS;
    }
  }

  /** Lists as many due endpoints as there are free slots. */
  async #listDue(member: DeliveryMember): Promise<DueWebhook[]> {
    const { clock } = this.#options;
    const inFlightCount = this.#inFlight.size;
    const failing = [...this.#inFlight.values()].filter(({ isFailing }) => isFailing).length;
    const find = async (isFailing: boolean, slots: number): Promise<DueWebhook[]> => {
      if (slots <= 0) return [];
      // Only failing endpoints wait for their time; a wrong clock must not delay the others.
      const at = isFailing ? clock() : Number.MAX_SAFE_INTEGER;
      // Those in flight are still listed as due.
      const due = await member.listDueWebhooks({ at, isFailing, limit: slots + inFlightCount });
      return due.filter(({ webhook }) => !this.#inFlight.has(keyOf(webhook))).slice(0, slots);
    };
    const free = CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT - inFlightCount;
    const failingSlots = Math.floor(CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT / 2) - failing;
    const retries = await find(true, Math.min(free, failingSlots));
    return [...retries, ...await find(false, free - retries.length)];
  }

  async #startAll(due: readonly DueWebhook[]): Promise<void> {
    for (const { webhook, lease } of due) {
      const stop = AbortSignal.any([this.#options.stop, lease]);
      if (stop.aborted) continue;
      const delivery = { isFailing: webhook.failures > 0, done: this.#send(webhook, stop) };
      this.#inFlight.set(keyOf(webhook), delivery);
      await yieldToEventLoop(); // building a message takes a while
    }
  }

  async #send(webhook: Webhook, stop: AbortSignal): Promise<void> {
    try {
      await sendToEndpoint(webhook, { ...this.#options, stop });
    } catch (error) {
      this.#reportError(error);
      // The store failed, and would probably fail again immediately.
      await pause(WEBHOOK_STORE_ERROR_PAUSE_MS, stop);
    }
    this.#inFlight.delete(keyOf(webhook));
    this.#wake();
  }

  #reportError(error: unknown): void {
    if (!this.#options.stop.aborted) this.#options.report({ id: randomUUID(), error });
  }
}

/** Ends early if the signal aborts. Its timer does not keep the process alive. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  const limitedMs = Math.min(delayMs, HOUR_MS); // Node timers overflow after 24 days
  await setTimeout(limitedMs, undefined, { signal, ref: false }).catch(() => undefined);
}

function keyOf({ sellerId, id }: Webhook): string {
  return `${sellerId} ${id}`;
}
