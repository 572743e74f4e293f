/**
 * The shop: the server as an object of the program that embeds it. Sellers and keys are
 * administered here; a seller's catalogue has the methods of the client (`src/client`), without a
 * socket between. Installs no listener, no signal handler and no global variable.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from '../app-context.ts';
import { SellerApi } from '../client/seller-client.ts';
import { actorName } from '../domain/access/caller.ts';
import { type Parsers, readArgument, readTextArgument } from '../domain/arguments.ts';
import { AppError } from '../domain/error.ts';
import { createApp, features, type FeatureShopOptions } from '../features.ts';
import type { BindAddress } from '../http/server/bind.ts';
import { type Listener, type ListenOptions, listen } from '../http/server/listener.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { createFetch } from './fetch.ts';
import { openInProcess } from './in-process.ts';
import { Keys, Sellers } from './administration.ts';

/** Where the shop keeps its data. */
export type ShopLocation =
  /** A data folder; it is created if missing. */
  | { readonly folder: string }
  /** A store that the program has opened, and closes after the shop. */
  | { readonly store: ShopStore };

/** A store: what else it has is not part of the API. */
export interface ShopStore {
  close(): Promise<void>;
}

/** The options of the server, and those of its features. */
export type ShopOptions = ServerOptions & FeatureShopOptions;

export interface ActOptions {
  /** Who acts, such as `erp-sync`: it is stored with each change. 1 to 100 code points. */
  readonly actor?: string;
}

const ACT_OPTIONS: Parsers<ActOptions> = { actor: actorName.parse };

export interface Shop {
  readonly sellers: Sellers;
  readonly keys: Keys;
  /**
   * The catalogue of a seller, named by its id (`sel_...`), without a key. An id that no seller has
   * is reported by each call, as `not_found`.
   * @throws AppError `invalid_data`
   */
  as(seller: string, options?: ActOptions): SellerApi;
  /**
   * For `node:http` and compatible frameworks. Calls `next`, if there is one, for paths outside the
   * path of `baseUrl` and the framework's mount path, or for unknown paths if it has neither.
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void;
  /** For frameworks with `Request` and `Response`, and for tests without a socket. */
  fetch(request: Request): Promise<Response>;
  /** Serves the shop on a port or a Unix socket, with every limit of the server. */
  listen(address: BindAddress, options?: ListenOptions): Promise<Listener>;
  /**
   * Rejects new requests, finishes those in flight, and closes the store unless it was given. No
   * timer, handle or listener remains. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Opens a shop.
 * @throws AppError `unavailable` for a folder that cannot be used; `invalid_data` for an option
 */
export async function createShop(
  location: ShopLocation, options: ShopOptions = {},
): Promise<Shop> {
  // The cast: every store is one of this project.
  if ('store' in location) return openShop(location.store as Store, options);
  const { clock } = options;
  const store = await openSqliteStore({
    folder: readFolder(location), ...(clock && { clock }),
  });
  try {
    return await openShop(store, options, () => store.close());
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openShop(
  store: Store, options: ShopOptions, closeStore?: () => Promise<void>,
): Promise<Shop> {
  const { clock, report, baseUrl } = options;
  const context = {
    store, ...(clock && { clock }), ...(report && { report }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
  const embedded = (await Promise.all(features.map((feature) =>
    feature.embed?.(options, context)))).filter((one) => one !== undefined);
  const closeFeatures = () => Promise.all(embedded.map((feature) => feature.close?.()));
  const app = await Promise.try(createApp, {
    ...options, store, ...Object.assign({}, ...embedded.map((feature) => feature.options)),
  }).catch(async (error: unknown) => {
    await closeFeatures();
    throw error;
  });
  const inner = createFetch(app.handle);
  const listeners = new Set<Listener>();
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await Promise.all([
      ...[...listeners].map((listener) => listener.stop()), app.close(), closeFeatures(),
    ]);
    inner.close();
    await closeStore?.();
  }

  return {
    sellers: new Sellers(store),
    keys: new Keys(store),
    as: (seller, actOptions = {}) => new SellerApi(openInProcess(app.context, {
      seller: readTextArgument(seller, 'as'), ...readArgument(actOptions, 'as', ACT_OPTIONS),
    })),
    handle: app.handle,
    fetch: inner.fetch,
    async listen(address, listenOptions) {
      const listener = await listen(app.handle, address, {
        findMethods: app.findMethods, ...listenOptions,
      });
      listeners.add(listener);
      return listener;
    },
    close: () => closing ??= close(),
  };
}

function readFolder({ folder }: { readonly folder: string }): string {
  if (typeof folder === 'string' && folder !== '') return folder;
  throw new AppError('invalid_data', 'createShop needs { folder } or { store }.');
}
