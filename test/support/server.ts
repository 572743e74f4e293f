/** Runs a server in this process: a real database file, a real socket, sellers with keys. */
import type { TestContext } from 'node:test';
import {
  type ApiKeySecret, generateApiKey, parseNewApiKey, toStoredSecret,
} from '../../src/domain/access/api-key.ts';
import { parseNewSeller } from '../../src/domain/access/seller.ts';
import { type AppOptions, createApp } from '../../src/features.ts';
import type { ErrorReport } from '../../src/http/response/problem.ts';
import { listen } from '../../src/http/server/listener.ts';
import type { Certificate } from '../../src/http/server/tls.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import type { KeyId, SellerId } from '../../src/domain/id.ts';
import { type Answer, type Request, send } from './http.ts';
import { makeDataFolder } from './folder.ts';
import { type FeatureTestOptions, testFeatures } from './features.ts';
import { processEnd } from './process-end.ts';

export interface TestSeller {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
  readonly key: ApiKeySecret;
  /** Sends a request with this seller's key. */
  send(request: Request): Promise<Answer>;
  /** Creates a product, with defaults for the members that are not given. */
  create(members?: Readonly<Record<string, unknown>>): Promise<Answer>;
}

export interface TestServer {
  readonly store: Store;
  readonly port: number;
  readonly folder: string;
  /** The internal errors that the app reported. */
  readonly reports: ErrorReport[];
  makeSeller(options?: SellerOptions): Promise<TestSeller>;
  send(request: Request): Promise<Answer>;
}

interface SellerOptions {
  readonly currency?: string;
  readonly scopes?: readonly string[];
  readonly addressRanges?: readonly string[];
  readonly expiresAt?: number;
  readonly rateLimitPerMinute?: number;
}

type OwnOptions = Omit<AppOptions, 'store' | 'report' | keyof FeatureTestOptions>;

export interface TestOptions extends OwnOptions, FeatureTestOptions {
  /** An existing data folder. Default: an empty one. */
  readonly folder?: string;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Speaks TLS. */
  readonly certificate?: Certificate;
  /** Default: that of the server, 75 s. */
  readonly keepAliveTimeoutMs?: number;
}

/** Shared by all tests of this process that give no options; stopped after the last one. */
let shared: Promise<TestServer> | undefined;
/** Its errors are reported to each test that currently uses it. */
const sharedReports = new Set<ErrorReport[]>();

/**
 * Starts a server, without a rate limit unless one is given. With options the server belongs to the
 * test and stops after it. Without options all tests share one, so each test creates a seller of
 * its own.
 */
export async function startServer(
  t: Pick<TestContext, 'after'>, options?: TestOptions,
): Promise<TestServer> {
  if (options) return startOwnServer(t, options);
  shared ??= startOwnServer(processEnd, {}, {
    push: (entry) => { for (const reports of sharedReports) reports.push(entry); },
  });
  const reports: ErrorReport[] = [];
  sharedReports.add(reports);
  t.after(() => sharedReports.delete(reports));
  return { ...await shared, reports };
}

async function startOwnServer(
  t: Pick<TestContext, 'after'>,
  {
    folder = makeDataFolder(t), host = '127.0.0.1', certificate, keepAliveTimeoutMs, ...options
  }: TestOptions,
  sink?: { push(entry: ErrorReport): void },
): Promise<TestServer> {
  const reports: ErrorReport[] = [];
  const { clock, baseUrl } = options;
  const store = await openSqliteStore({ folder, ...(clock && { clock }) });
  const report = (entry: ErrorReport): void => { (sink ?? reports).push(entry); };
  const started = await Promise.all(testFeatures.map((feature) =>
    feature.start(options, { store, report, clock, baseUrl })));
  // The cast: what each feature has started replaces the options with which it did so.
  const appOptions: AppOptions = Object.assign(
    { rateLimitPerMinute: 0, ...options as OwnOptions, store, report },
    ...started.map((feature) => feature.options));
  const app = createApp(appOptions);
  const listener = await listen(
    app.handle, { host, port: 0 },
    {
      findMethods: app.findMethods, ...(certificate && { certificate }),
      ...(keepAliveTimeoutMs !== undefined && { keepAliveTimeoutMs }),
    },
  );
  t.after(async () => {
    // Closing the app ends live streams.
    await Promise.all([
      listener.stop(), ...started.map((feature) => feature.close?.()), app.close(),
    ]);
    await store.close();
  });
  const { port } = listener;
  return {
    store, port, folder, reports,
    makeSeller: (sellerOptions) => makeSeller(store, port, sellerOptions),
    send: (request) => send(port, request),
  };
}

async function makeSeller(
  store: Store, port: number, options: SellerOptions = {},
): Promise<TestSeller> {
  const seller = await store.createSeller(parseNewSeller('A shop', options.currency ?? 'EUR'));
  const key = generateApiKey();
  const { scopes = [], addressRanges = [], expiresAt, rateLimitPerMinute } = options;
  const newKey = parseNewApiKey({
    name: 'test', scopes, addressRanges, expiresAt, rateLimitPerMinute,
  });
  const made = await store.createKey(seller.id, toStoredSecret(key), newKey);
  const sendWithKey = (request: Request): Promise<Answer> =>
    send(port, { ...request, headers: { 'x-api-key': key, ...request.headers } });
  return {
    sellerId: seller.id, keyId: made.id, key, send: sendWithKey,
    create: (members) => sendWithKey({
      method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...makeProduct(), ...members }),
    }),
  };
}

let products = 0;

/** A valid product body with a new SKU. */
export function makeProduct() {
  products += 1;
  const name = `Product ${products}`;
  return { name, category: 'Kitchen', sku: `SKU-${products}`, price: 19.99, stock: 7 };
}
