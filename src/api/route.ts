/** Routes, and what their handlers receive. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Scope } from '../domain/access/caller.ts';
import type { SellerId } from '../domain/id.ts';
import type { ConcurrencyLimiter } from '../domain/concurrency-limiter.ts';
import type { BodyStream } from '../http/request/body.ts';
import type { Cursors } from '../http/cursor.ts';
import type { PageCache } from '../http/response/page-cache.ts';
import type { ErrorReporter } from '../http/response/problem.ts';
import type { Query } from '../http/request/query.ts';
import type { Reply } from '../http/response/reply.ts';
import type { RoutePattern } from '../http/router.ts';
import type { Store } from '../store/store.ts';
import type { ApiDescription, Operation } from './description/operation.ts';
import type { Instances } from './instances.ts';
import type { ParameterTable } from './parameters.ts';
import type { OpenStream, Streams } from './streams.ts';

export const PRODUCTS = '/api/v1/products';

export const STOCK = '/api/v1/stock';

/** Responds as long as the process runs, even while it stops. */
export const HEALTH = '/healthz';

/** 200 while the server is ready for requests. */
export const READINESS = '/readyz';

/** A request that was authenticated, rate limited and authorized, with known parameters only. */
export interface ApiRequest {
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  /** What precedes `/api` in links: empty, or such as `/shop`. */
  readonly prefix: string;
  /** The negotiated media type of the response: one of the route's `produces`. */
  readonly mediaType: string;
  /** The media type of the body. @throws AppError `unsupported_media_type` */
  readMediaType(): string;
  /**
   * Reads the whole body, which must have one of the route's `consumes`. Default limit: 256 KiB.
   * @throws AppError `unsupported_media_type`, `body_too_large`, `invalid_json`, `request_timeout`
   */
  readJson(limitBytes?: number): Promise<unknown>;
  /** Opens a body of any length, decompressed. @throws AppError `unsupported_media_type` */
  openBody(): BodyStream;
  /** Aborts when the client disconnects or the server stops, for responses that wait. */
  disconnectSignal(): AbortSignal;
  /** Call it after a wait: rejects if a new request with this key would be rejected. */
  reauthorize(): Promise<void>;
  /** Replies may contain only streams that this opens. @throws AppError `unavailable` */
  readonly openStream: OpenStream;
}

/** Shared by the handlers of one app. */
export interface Services {
  readonly store: Store;
  readonly cursors: Cursors;
  readonly pages: PageCache;
  /** Slots for imports, and for stock changes sent as lines. */
  readonly imports: ConcurrencyLimiter<SellerId>;
  /** Opens streams, and limits them together with requests that wait for changes. */
  readonly streams: Streams;
  /** The path of the base URL: empty, or such as `/shop`. Links use `ApiRequest.prefix`. */
  readonly basePath: string;
  /** The server's limit per key, which also bounds a key's own; 0 for none. */
  readonly rateLimitPerMinute: number;
  /** Reports errors that no client caused. */
  readonly report: ErrorReporter;
  readonly description: ApiDescription<Route>;
  readonly instances: Instances<Services>;
}

interface CommonRoute extends RoutePattern {
  /** Other query parameters are rejected. */
  readonly query: ParameterTable;
  /** Media types of request bodies and responses; problems have their own. */
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly operation: Operation;
  /** For descriptions of the API: the handler of a disabled route itself responds with 404. */
  readonly isEnabled?: (services: Services) => boolean;
}

/** A route that needs a key with a scope. */
export interface KeyRoute extends CommonRoute {
  /** One is enough. Each permits all that the later ones do, and the handler checks the rest. */
  readonly scopes: readonly Scope[];
  readonly handle: (request: ApiRequest, services: Services) => Reply | Promise<Reply>;
}

/** What the handler of a route without a key receives. */
export type OpenRequest = Pick<ApiRequest, 'headers' | 'prefix'>;

/** A route that needs no key. */
interface OpenRoute extends CommonRoute {
  readonly scopes: undefined;
  readonly handle: (request: OpenRequest, services: Services) => Promise<Reply>;
}

export type Route = KeyRoute | OpenRoute;

export function keyRoute(
  method: string, path: string, scope: Scope | readonly Scope[], operation: Operation,
  handle: KeyRoute['handle'],
): KeyRoute {
  return { method, path, scopes: [scope].flat(), handle, ...deriveFormats(operation) };
}

export function openRoute(
  path: string, operation: Operation, handle: OpenRoute['handle'],
): OpenRoute {
  return { method: 'GET', path, scopes: undefined, handle, ...deriveFormats(operation) };
}

/** The query and media types of a route are those of its operation. */
function deriveFormats(operation: Operation) {
  const { query = {}, request = {}, responses } = operation;
  const produced = Object.values(responses).flatMap(({ content = {}, alternatives = {} }) =>
    [content, alternatives].flatMap(Object.keys));
  return { operation, query, consumes: Object.keys(request), produces: [...new Set(produced)] };
}
