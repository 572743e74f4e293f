/** Validates where a shop keeps its data, and its options. A misspelt option is an error. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamLimits } from '../api/streams.ts';
import type { ServerOptions } from '../app-context.ts';
import {
  isObject, listOf, objectWith, type Parse, parseFunction, parseText, type Parsers, readArgument,
  wrongArgument,
} from '../domain/arguments.ts';
import { booleanValidator, integerValidator, invalid } from '../domain/validation.ts';
import { features, type FeatureShopOptions } from '../features.ts';
import type { BindAddress } from '../http/server/bind.ts';
import { KEEP_ALIVE_TIMEOUT_LIMIT_MS } from '../http/limits.ts';
import type { ListenOptions } from '../http/server/listener.ts';
import type { Certificate } from '../http/server/tls.ts';
import type { StoreLocation } from '../store/open-store.ts';
import { openSharedStore } from '../store/shared-store.ts';
import type { Store } from '../store/store.ts';
import type { CatalogueChange } from './commit-listener.ts';
import type { BeforeWrite } from './hooked-store.ts';

/** Where the shop keeps its data. */
export type ShopLocation =
  | ShopFolder
  | ShopDatabase
  | {
    /** For tests: a new folder in the system's temporary folder, which `close` removes. */
    readonly temporary: true;
  }
  | {
    /** A store from `openStore`, which the program closes after its shops. */
    readonly store: ShopStore;
  };

/** A data folder. Shops on one folder share its store. */
interface ShopFolder {
  /** Its path; it is created if missing. */
  readonly folder: string;
}

/**
 * A PostgreSQL database, which `migrate` of the command line has prepared. Any number of processes
 * may use it at a time.
 */
export interface ShopDatabase {
  /** `postgres://user@host:5432/name`, without a password. */
  readonly database: string;
  /** A file with the key that all processes share, which encrypts secrets: 32 bytes. */
  readonly serverKeyFile: string;
  /** A file with the password. Default: `PGPASSWORD`, then the password file of PostgreSQL. */
  readonly passwordFile?: string;
}

/** A store: what else it has is not part of the API. */
export interface ShopStore {
  /**
   * Closes the store, once its shops are closed.
   * @example
   * ```ts
   * import { createShop, openStore } from 'seller-product-api';
   *
   * const store = await openStore({ folder: 'shop-data' });
   * const shop = await createShop({ store });
   * await shop.close();
   * await store.close();
   * ```
   */
  close(): Promise<void>;
}

/** The options of the server, and the hooks of the shop. */
interface OwnOptions extends ServerOptions {
  /**
   * Called after commits with each catalogue that has changed, by whichever process: to drop a
   * cache or to refresh a page, for example. Several changes can be one call, and changes from
   * before `createShop` are not reported; `subscribe` delivers each.
   */
  readonly onChange?: (change: CatalogueChange) => unknown;
  /**
   * Called before each change of a product that is made through this shop: over HTTP, by `as`, in
   * the portal, by imports, stock syncs and reverts, and in dry runs. A reason that it returns
   * rejects the write (`write_rejected`). It must return within 250 ms. If it fails, nothing is
   * written, and `report` gets the error.
   */
  readonly beforeWrite?: BeforeWrite;
}

/** The options of the server, and those of its features. */
export type ShopOptions = OwnOptions & FeatureShopOptions;

const count = integerValidator(0, Number.MAX_SAFE_INTEGER).parse;

const parseBaseUrl: Parse<string> = (value) => {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const isPlain = url !== null && !url.search && !url.hash && !url.username && !url.password;
  return isPlain && /^https?:$/.test(url.protocol) ? { value: String(value) }
    : invalid('format', 'Must be an address such as https://shop.example/path, without a query.');
};

const OWN_OPTIONS: Parsers<OwnOptions> = {
  baseUrl: parseBaseUrl,
  rateLimitPerMinute: count,
  sellerRateLimitPerMinute: count,
  streamLimits: objectWith<Partial<StreamLimits>>({
    total: count, perSeller: count, perKey: count, reauthorizeIntervalMs: count,
    durationLimitMs: count, spoolTotalBytes: count, spoolPerSellerBytes: count,
  }),
  authenticate: parseFunction,
  allowBrowsers: booleanValidator.parse,
  trustedProxies: listOf(parseText),
  clock: parseFunction,
  report: parseFunction,
  onRequestComplete: parseFunction,
  onChange: parseFunction,
  beforeWrite: parseFunction,
};

/**
 * Opens the store of a data folder, which is created if missing, or of a database, for several
 * shops of this process: with different base URLs or sign-ins, for example. A folder that is open
 * already is shared: its store closes once each user has closed it.
 * @throws AppError `invalid_data`; `unavailable` for a location that cannot be used
 * @example
 * ```ts
 * import { createShop, openStore } from 'seller-product-api';
 *
 * const store = await openStore({ folder: 'shop-data' });
 * const forStaff = await createShop({ store }, { portal: true });
 * const forPartners = await createShop({ store }, { rateLimitPerMinute: 600 });
 * await Promise.all([forStaff.close(), forPartners.close()]);
 * await store.close();
 * ```
 */
export async function openStore(
  location: ShopFolder | ShopDatabase, options: Pick<ServerOptions, 'clock'> = {},
): Promise<ShopStore> {
  const locationOptions = readArgument(location, 'openStore', STORE_LOCATION);
  const { clock } = readArgument<Pick<ServerOptions, 'clock'>>(
    options, 'openStore', { clock: OWN_OPTIONS.clock },
  );
  return openSharedStore(readLocation(locationOptions, 'openStore'), clock);
}

/** @throws AppError `invalid_data` */
export function readShopOptions(options: unknown): ShopOptions {
  const parsers: Record<string, Parse<unknown>> =
    Object.assign({}, OWN_OPTIONS, ...features.map(({ embed }) => embed?.options));
  // The cast: each parser returns the type of its option.
  return readArgument<object>(options, 'createShop', parsers) as ShopOptions;
}

/**
 * The store of a location, and the function that closes it.
 * @throws AppError `invalid_data`; `unavailable` for a location that cannot be used
 */
export async function openLocation(
  location: unknown, clock: (() => number) | undefined,
): Promise<{ readonly store: Store; close(): Promise<void> }> {
  const locationOptions = readArgument<Locations>(location, 'createShop', LOCATION);
  const { folder, database, temporary, store } = locationOptions;
  if ([folder, database, temporary, store].filter((value) => value !== undefined).length !== 1) {
    throw wrongArgument('createShop',
      'Needs { folder }, { database, serverKeyFile }, { store } or { temporary: true }.');
  }
  if (store) return { store, close: async () => {} };
  const path = temporary && await mkdtemp(join(tmpdir(), 'seller-product-api-'));
  const remove = async (): Promise<void> => {
    if (path !== undefined) await rm(path, { recursive: true, force: true });
  };
  try {
    const opened = await openSharedStore(
      path === undefined ? readLocation(locationOptions, 'createShop') : { folder: path },
      clock,
    );
    return { store: opened, close: () => opened.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** @throws AppError `invalid_data` */
function readLocation(
  { folder, database, serverKeyFile, passwordFile }: StoreLocations, method: string,
): StoreLocation {
  if (folder !== undefined) return { folder };
  if (database !== undefined && serverKeyFile !== undefined) {
    return { database, serverKeyFile, passwordFile };
  }
  throw wrongArgument(method, 'Needs { folder } or { database, serverKeyFile }.');
}

interface StoreLocations extends Partial<ShopDatabase> {
  readonly folder?: string;
}

interface Locations extends StoreLocations {
  readonly temporary?: true;
  readonly store?: Store;
}

const STORE_LOCATION: Parsers<StoreLocations> = {
  folder: (value) => (typeof value === 'string' && value !== '' ? { value }
    : invalid('type', 'Must be the path of a folder.')),
  database: parseText, serverKeyFile: parseText, passwordFile: parseText,
};

const LOCATION: Parsers<Locations> = {
  ...STORE_LOCATION,
  temporary: (value) => (value === true ? { value } : invalid('type', 'Must be true.')),
  // The cast: a program can pass only what it got from a function that opens a store.
  store: (value) => (isObject(value) && 'cursorKey' in value ? { value: value as Store }
    : invalid('type', 'Must be a store that is open.')),
};

interface Addresses {
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly fileDescriptor?: number;
}

const ADDRESS: Parsers<Addresses> = {
  host: parseText, port: integerValidator(0, 65_535).parse, socketPath: parseText,
  fileDescriptor: count,
};

/** @throws AppError `invalid_data` */
export function readAddress(address: unknown): BindAddress {
  const { host, port, socketPath, fileDescriptor } = readArgument(address, 'listen', ADDRESS);
  if (host !== undefined && port !== undefined) return { host, port };
  if (socketPath !== undefined) return { socketPath };
  if (fileDescriptor !== undefined) return { fileDescriptor };
  throw wrongArgument('listen', 'Needs { host, port }, { socketPath } or { fileDescriptor }.');
}

export const LISTEN_OPTIONS: Parsers<ListenOptions> = {
  trustedProxies: listOf(parseText),
  certificate: objectWith<Certificate>({ cert: parseText, key: parseText }),
  keepAliveTimeoutMs: integerValidator(1_000, KEEP_ALIVE_TIMEOUT_LIMIT_MS).parse,
};
