/**
 * The shop: the server as an object of the program that embeds it. Sellers and keys are
 * administered here; a seller's catalogue has the methods of the client (`src/client`), without a
 * socket between. Installs no listener and no signal handler; its one global variable
 * lists the open data folders (`store/shared-store.ts`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppContext } from '../app-context.ts';
import { SellerApi } from '../client/seller-client.ts';
import { actorName } from '../domain/access/caller.ts';
import { parseText, type Parsers, readArgument, readValue } from '../domain/arguments.ts';
import { createApp, features } from '../features.ts';
import { safeErrorReporter } from '../http/response/problem.ts';
import type { BindAddress } from '../http/server/bind.ts';
import { STOP_TIMEOUT_LIMIT_MS } from '../http/limits.ts';
import {
  type Listener, listen, type ListenOptions, readDeadline, type StopOptions,
} from '../http/server/listener.ts';
import { monotonicOf } from '../runtime/clock.ts';
import type { Store } from '../store/store.ts';
import { Keys, Sellers } from './administration.ts';
import { listenToCommits } from './commit-listener.ts';
import { createFetch } from './fetch.ts';
import { hookStore } from './hooked-store.ts';
import { openInProcess, shopClosed } from './in-process.ts';
import {
  LISTEN_OPTIONS, openLocation, readAddress, readShopOptions, type ShopLocation, type ShopOptions,
} from './shop-options.ts';
import {
  type OnChange, readSubscription, subscribe, type SubscribeOptions, type Subscription,
} from './subscription.ts';

/** How to act for a seller. */
export interface ActOptions {
  /** Who acts, such as `erp-sync`: it is stored with each change. 1 to 100 code points. */
  readonly actor?: string;
}

const ACT_OPTIONS: Parsers<ActOptions> = { actor: actorName.parse };

/** The server as an object of a program. */
export interface Shop {
  /** The sellers, and invitations to the portal. */
  readonly sellers: Sellers;
  /** The API keys of the sellers. */
  readonly keys: Keys;
  /**
   * The catalogue of a seller, named by its id (`sel_...`) or external id, without a key. One that
   * no seller has is reported by each call, as `not_found`.
   * @throws AppError `invalid_data`
   * @example
   * ```ts
   * const { stock } = shop.as(seller.id, { actor: 'erp-sync' });
   * await stock.sync([{ sku: 'MUG-1', adjust: -1 }]);
   * ```
   */
  as(seller: string, options?: ActOptions): SellerApi;
  /**
   * Calls `onChange` with each change after a position, in order, and then with new ones as they
   * happen; the next one once its promise is resolved. Processes each change at least once, if the
   * program stores the position of what it has processed.
   * @throws AppError `invalid_data`, `unavailable`
   * @example
   * ```ts
   * const subscription = shop.subscribe(seller.id, { after: 0 }, async (change) => {
   *   console.log(change.position, change.type, change.sku);
   * });
   * ```
   */
  subscribe(seller: string, options: SubscribeOptions, onChange: OnChange): Subscription;
  /**
   * For `node:http` and compatible frameworks. Calls `next`, if there is one, for paths outside the
   * path of `baseUrl` and the framework's mount path, or for unknown paths if it has neither.
   * @example
   * ```ts
   * server.on('request', (request, response) => shop.handle(request, response));
   * ```
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void;
  /**
   * For frameworks with `Request` and `Response`, and for tests without a socket.
   * @example
   * ```ts
   * const response = await shop.fetch(new Request('http://127.0.0.1/healthz'));
   * console.log(response.status); // 200
   * ```
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Serves the shop on a port or a Unix socket, with every limit of the server.
   * @throws AppError `invalid_data`, `unavailable`; the system's error if it cannot listen
   * @example
   * ```ts
   * const { port } = await shop.listen({ host: '127.0.0.1', port: 0 });
   * const response = await fetch(`http://127.0.0.1:${port}/healthz`);
   * console.log(response.status); // 200
   * ```
   */
  listen(address: BindAddress, options?: ListenOptions): Promise<Listener>;
  /**
   * Stops subscriptions and live feeds, rejects new requests and calls (`unavailable`), finishes
   * those in flight, and closes the store, unless it was given. At the deadline, calls that are
   * still in flight reject with `unavailable`, and connections are reset: a report or an export
   * that nobody reads would never end. No timer, handle or listener remains. Idempotent; of several
   * calls, the earliest deadline counts. A request, a call or `onChange` that waits for it is cut
   * at the deadline.
   * @throws AppError `invalid_data`
   * @example
   * ```ts
   * await shop.close({ deadlineMs: 60_000 });
   * ```
   */
  close(options?: StopOptions): Promise<void>;
}

/**
 * Opens a shop.
 * @throws AppError `unavailable` for a folder that cannot be used, or that is open in this
 *   process with another clock; `invalid_data` for an option
 * @example
 * ```ts
 * import { createShop } from 'seller-product-api';
 *
 * const shop = await createShop({ folder: 'shop-data' }, { baseUrl: 'https://shop.example' });
 * const { id } = await shop.sellers.create({ name: 'My shop' });
 * const { products } = shop.as(id);
 * await products.create({ name: 'Cup', category: 'Kitchen', sku: 'C-1', price: 8, stock: 5 });
 * await shop.close();
 * ```
 */
export async function createShop(location: ShopLocation, options: ShopOptions = {}): Promise<Shop> {
  const parsed = readShopOptions(options);
  const { store, close } = await openLocation(location, parsed.clock);
  try {
    return await openShop(store, close, parsed);
  } catch (error) {
    await close();
    throw error;
  }
}

async function openShop(
  openedStore: Store, closeStore: () => Promise<void>,
  { onChange, beforeWrite, ...options }: ShopOptions,
): Promise<Shop> {
  const { clock, baseUrl } = options;
  const store = beforeWrite
    ? hookStore(openedStore, beforeWrite, monotonicOf(clock ?? Date.now)) : openedStore;
  const report = safeErrorReporter(options.report);
  const { app, closeFeatures } = await composeShop(store, options);
  const inner = createFetch(app.handle);
  const listeners = new Set<Listener>();
  const subscriptions = new Set<Subscription>();
  const endListening = onChange && await listenToCommits(store, onChange, report);
  const { close, isClosing } = prepareClose(app, listeners, subscriptions, async () => {
    endListening?.();
    await Promise.all([app.close(), closeFeatures()]);
    inner.close();
    await closeStore();
  });

  function assertOpen(): void {
    if (isClosing()) throw shopClosed();
  }

  const getStore = (): Store => {
    assertOpen();
    return store;
  };
  return {
    sellers: new Sellers({ getStore, baseUrl, clock }),
    keys: new Keys({ getStore, rateLimitPerMinute: app.context.rateLimitPerMinute }),
    as: (seller, actOptions = {}) => openCatalogue(app.context, 'as', seller, actOptions),
    subscribe(seller, subscribeOptions, listener) {
      assertOpen();
      const api = openCatalogue(app.context, 'subscribe', seller, {});
      const subscription = subscribe(api, readSubscription(subscribeOptions, listener), report);
      subscriptions.add(subscription);
      subscription.done.finally(() => subscriptions.delete(subscription)).catch(() => {});
      return subscription;
    },
    handle: app.handle,
    fetch: inner.fetch,
    async listen(address, listenOptions = {}) {
      assertOpen();
      const { findMethods } = app;
      const listener = await listen(app.handle, readAddress(address), {
        findMethods, trustedProxies: options.trustedProxies ?? [],
        ...readArgument(listenOptions, 'listen', LISTEN_OPTIONS),
      });
      listeners.add(listener);
      if (isClosing()) await listener.stop(); // since then
      assertOpen();
      return listener;
    },
    close,
  };
}

/** @param release Closes the rest. */
function prepareClose(
  app: ReturnType<typeof createApp>, listeners: ReadonlySet<Listener>,
  subscriptions: ReadonlySet<Subscription>, release: () => Promise<void>,
) {
  const overdue = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    for (const subscription of subscriptions) subscription.stop();
    const stopped = Promise.allSettled([...subscriptions].map(({ done }) => done));
    await Promise.race([stopped, overdue.promise]);
    app.drain();
    const whenCut = { deadlineMs: STOP_TIMEOUT_LIMIT_MS };
    await Promise.all([...listeners].map((listener) => listener.stop(whenCut)));
    await release();
  }

  function cut(): void {
    overdue.resolve();
    app.cut();
    for (const listener of listeners) void listener.stop({ deadlineMs: 0 });
  }

  return {
    isClosing: () => closing !== undefined,
    async close(options?: StopOptions): Promise<void> {
      const deadline = setTimeout(cut, readDeadline(options, 'close'));
      closing ??= close();
      await closing.finally(() => clearTimeout(deadline));
    },
  };
}

/** The catalogue of a seller, for a call of `method`. */
function openCatalogue(
  context: AppContext, method: string, seller: unknown, actOptions: unknown,
): SellerApi {
  const host = {
    seller: readValue(seller, method, parseText), ...readArgument(actOptions, method, ACT_OPTIONS),
  };
  return new SellerApi(openInProcess(context, host));
}

/** The app, with what its features have started. */
async function composeShop(store: Store, options: Omit<ShopOptions, 'onChange' | 'beforeWrite'>) {
  const { clock, report, baseUrl } = options;
  const context = {
    store, ...(clock && { clock }), ...(report && { report }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
  const started = (await Promise.all(features.map(({ embed }) =>
    embed?.start?.(options, context)))).filter((feature) => feature !== undefined);
  const closeFeatures = () => Promise.all(started.map((feature) => feature.close?.()));
  try {
    const app = createApp({
      ...options, store, ...Object.assign({}, ...started.map((feature) => feature.options)),
    });
    return { app, closeFeatures };
  } catch (error) {
    await closeFeatures();
    throw error;
  }
}
