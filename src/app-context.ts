/**
 * Composes one app: creates the objects that its requests share and connects the features. Makes no
 * decision about a request; `app.ts` does.
 */
import { randomUUID } from 'node:crypto';
import { type AuthenticateHost, Authenticator } from './api/authenticate.ts';
import { makeInstances } from './api/instances.ts';
import { makeRequestRates, type RequestRates } from './api/request-rates.ts';
import type { Services } from './api/route.ts';
import { type StreamLimits, Streams } from './api/streams.ts';
import { makeUsageCounter } from './api/usage-counter.ts';
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE, CONCURRENT_IMPORTS_LIMIT,
  CONCURRENT_IMPORTS_PER_SELLER_LIMIT, PAGE_CACHE_LIMIT_BYTES, REAUTHORIZE_INTERVAL_MS,
  SELLER_RATE_LIMIT_FACTOR, SPOOL_PER_SELLER_LIMIT_BYTES, SPOOL_TOTAL_LIMIT_BYTES,
  STREAM_DURATION_LIMIT_MS, STREAMS_PER_KEY_LIMIT, STREAMS_PER_SELLER_LIMIT, STREAMS_TOTAL_LIMIT,
} from './api/limits.ts';
import type { SellerId } from './domain/id.ts';
import { describeRoutes, type Feature } from './feature.ts';
import type { AccessLogEntry, RequestRecord } from './http/request-record.ts';
import { ConcurrencyLimiter } from './domain/concurrency-limiter.ts';
import { makeTrustedProxies } from './http/request/client-address.ts';
import { Compressor } from './http/response/compression.ts';
import { makeCursors } from './http/cursor.ts';
import { LingeringConnections } from './http/server/lingering-close.ts';
import { makePageCache } from './http/response/page-cache.ts';
import {
  type ErrorReport, type ErrorReporter, safeErrorReporter,
} from './http/response/problem.ts';
import { Router } from './http/router.ts';
import { StrictRequests } from './http/request/strict-request.ts';
import { InFlightRequests } from './http/server/in-flight-requests.ts';
import type { Store } from './store/store.ts';

/** The options of the core; each feature adds its own. */
export interface CoreOptions extends ServerOptions {
  /** Belongs to the caller: close it after the app. */
  readonly store: Store;
  /** Called after a request with a `securityEvent`. */
  readonly onSecurityEvent?: ((record: RequestRecord) => void) | undefined;
}

/** The options of a server, and of a shop. */
export interface ServerOptions {
  /** Where clients find this server. Its path, if any, is a prefix of every API path. */
  readonly baseUrl?: string;
  /** Requests per minute and key; 0 for no limit. Default 6,000. */
  readonly rateLimitPerMinute?: number;
  /**
   * Requests per minute and seller, across its keys; 0 for no limit. Default: 10 times the limit
   * per key.
   */
  readonly sellerRateLimitPerMinute?: number;
  /** Defaults are in `src/LIMITS.md`. */
  readonly streamLimits?: Partial<StreamLimits>;
  /**
   * Decides who makes a request, where the program that embeds the server knows: by its own
   * sessions, for example. Undefined leaves the decision to the API key of the request. Requests
   * of web pages are rejected unless `allowBrowsers` is true; then the program must reject those
   * that other web sites forge (CSRF).
   */
  readonly authenticate?: AuthenticateHost;
  /**
   * Whether a web page may send requests: with an API key, or as a caller that `authenticate`
   * names. Default false.
   */
  readonly allowBrowsers?: boolean;
  /**
   * Addresses and ranges of proxies whose `Forwarded` or `X-Forwarded-For` the server trusts, and
   * `unix` for clients of a Unix socket. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** Called with every error that no client caused. Default: logs a line to stderr. */
  readonly report?: (entry: ErrorReport) => void;
  /**
   * Called once per request, when its response is complete or its client has disconnected. Read
   * for each request, so a getter can switch it on and off.
   */
  readonly onRequestComplete?: ((entry: AccessLogEntry) => void) | undefined;
}

/** What the request pipeline uses. */
export type AppContext = ReturnType<typeof createAppContext>;

const STREAM_LIMITS: StreamLimits = {
  total: STREAMS_TOTAL_LIMIT,
  perSeller: STREAMS_PER_SELLER_LIMIT,
  perKey: STREAMS_PER_KEY_LIMIT,
  reauthorizeIntervalMs: REAUTHORIZE_INTERVAL_MS,
  durationLimitMs: STREAM_DURATION_LIMIT_MS,
  spoolTotalBytes: SPOOL_TOTAL_LIMIT_BYTES,
  spoolPerSellerBytes: SPOOL_PER_SELLER_LIMIT_BYTES,
};

/** Starts nothing that `App.close` does not stop. */
export function createAppContext<FeatureOptions extends object>(
  features: readonly Feature<FeatureOptions>[], options: CoreOptions & FeatureOptions,
) {
  const { store, clock = Date.now } = options;
  const report = safeErrorReporter(options.report);
  reportLoss(store, report);
  const perKey = options.rateLimitPerMinute ?? DEFAULT_RATE_LIMIT_PER_MINUTE;
  const perSeller = options.sellerRateLimitPerMinute ?? perKey * SELLER_RATE_LIMIT_FACTOR;
  const basePath = new URL(options.baseUrl ?? 'http://localhost').pathname.replace(/\/+$/, '');
  const imports = new ConcurrencyLimiter<SellerId>('imports', {
    total: CONCURRENT_IMPORTS_LIMIT, perOwner: CONCURRENT_IMPORTS_PER_SELLER_LIMIT,
  });
  const rates: RequestRates = makeRequestRates({ perKey, perSeller }, store, clock);
  const description = describeRoutes(features);
  const services: Services = {
    store,
    report,
    basePath,
    rateLimitPerMinute: perKey,
    description,
    instances: makeInstances<Services>(() => services),
    cursors: makeCursors(store.cursorKey, store.generation),
    pages: makePageCache(PAGE_CACHE_LIMIT_BYTES),
    imports,
    streams: new Streams({
      limits: { ...STREAM_LIMITS, ...options.streamLimits }, imports, report,
    }),
  };
  return {
    ...services,
    /** The pages of features that serve pages. */
    featurePages: features.flatMap((feature) => feature.connect?.(services, options) ?? []),
    router: new Router(description.routes),
    rates,
    compressor: new Compressor(),
    inFlight: new InFlightRequests(),
    lingering: new LingeringConnections(),
    strict: new StrictRequests(),
    proxies: makeTrustedProxies(options.trustedProxies ?? []),
    authenticator: new Authenticator({
      store,
      clock,
      authenticateHost: options.authenticate,
      allowBrowsers: options.allowBrowsers ?? false,
      onLastUseError: (error) => report({ id: 'key-use', error }),
    }),
    usage: makeUsageCounter({
      store, clock, onWriteError: (error) => report({ id: 'key-usage', error }),
    }),
  };
}

/** In a scope of its own: a store may outlive many apps, and must not keep them in memory. */
function reportLoss({ lost }: Store, report: ErrorReporter): void {
  void lost?.then((error) => report({ id: randomUUID(), error }));
}
