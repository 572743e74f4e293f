/** A store with a running webhook worker, for tests of delivery. */
import type { TestContext } from 'node:test';
import { inspect } from 'node:util';
import type { NewWebhook, Webhook } from '../../../src/domain/webhooks/webhook.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { startWebhooks, type Webhooks } from '../../../src/features/webhooks/webhooks.ts';
import { makeClock } from '../../support/clock.ts';
import { makeFolder } from '../../support/folder.ts';
import { HELD_MS } from '../../support/held-timers.ts';
import { makeActor, makeNewProduct } from '../../store/contract/fixture.ts';
import { makeNewWebhook } from '../../store/contract/webhooks.ts';
import { openStore } from '../../store/sqlite/open.ts';

export interface Sending {
  readonly clock: ReturnType<typeof makeClock>;
  readonly folder: string;
  readonly store: Store;
  readonly actor: Actor;
  /** Errors that were reported as internal. */
  readonly reports: unknown[];
  start(store?: Store, options?: Partial<Parameters<typeof startWebhooks>[0]>): Webhooks;
  /** Creates an endpoint, of `actor` by default. */
  create(url: string, members?: Partial<NewWebhook>, of?: Actor): Promise<Webhook>;
  /** Creates this many products concurrently. */
  change(count: number, of?: Actor): Promise<void>;
  find(webhook: Webhook): Promise<Webhook>;
  /** Resolves with the endpoint once it meets the condition. Fails after 30 s, and prints it. */
  until(webhook: Webhook, holds: (webhook: Webhook) => boolean): Promise<Webhook>;
}

/**
 * Nothing is sent before `start`. The clock is stopped, delays have no jitter, and no delivery
 * times out.
 */
export async function prepareSending(t: TestContext): Promise<Sending> {
  const clock = makeClock();
  const folder = makeFolder(t);
  const store = await openStore(t, { folder, clock });
  const actor = await makeActor(store);
  const reports: unknown[] = [];
  const find = async (webhook: Webhook): Promise<Webhook> => {
    const found = await store.findWebhook(webhook);
    if (!found) throw new Error('The webhook was deleted.');
    return found;
  };
  return {
    clock, folder, store, actor, reports, find,
    start(on = store, options = {}) {
      const webhooks = startWebhooks({
        store: on, allowPrivate: true, allowHttp: true, clock, random: () => 1,
        timeoutMs: HELD_MS,
        report: ({ error }) => reports.push(error), ...options,
      });
      t.after(() => webhooks.close());
      return webhooks;
    },
    async create(url, members, of = actor) {
      return (await store.createWebhook(of, makeNewWebhook({ url, ...members }))).webhook;
    },
    async change(count, of = actor) {
      await Promise.all(Array.from({ length: count }, () =>
        store.createProduct(of, makeNewProduct())));
    },
    async until(webhook, holds) {
      const giveUpAt = performance.now() + 30_000;
      for (;;) {
        const found = await find(webhook);
        if (holds(found)) return found;
        if (performance.now() > giveUpAt) throw new Error(`Still ${inspect(found)}, ${reports}`);
        await new Promise((resolve) => { setImmediate(resolve); });
      }
    },
  };
}
