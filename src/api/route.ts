/** What a route is, and what its handler gets. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Scope } from '../domain/access/caller.ts';
import type { SellerId } from '../domain/id.ts';
import type { ConcurrencyLimiter } from '../http/concurrency-limiter.ts';
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

/** The caller's products. */
export const PRODUCTS = '/api/v1/products';

/** The stock of the caller's products. */
export const STOCK = '/api/v1/stock';

/** Answered as long as the process runs, also while it stops. */
export const HEALTH = '/healthz';

/** 200 while the server is ready for requests. */
export const READINESS = '/readyz';

/** A request that was authenticated, rate limited and authorized, with a known query. */
export interface ApiRequest {
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  /** The negotiated media type of the response: one of the route's `produces`. */
  readonly mediaType: string;
  /** The media type of the body. @throws AppError `unsupported_media_type` */
  readMediaType(): string;
  /**
   * Reads the whole body, of one of the route's `consumes`. Default limit: 64 KiB.
   * @throws AppError `unsupported_media_type`, `body_too_large`, `invalid_json`, `request_timeout`
   */
  readJson(limitBytes?: number): Promise<unknown>;
  /** Opens a body of any length, decoded. @throws AppError `unsupported_media_type` */
  openBody(): BodyStream;
  /** Aborted once the client is gone or the server is stopping: for a response that waits. */
  disconnectSignal(): AbortSignal;
  /** For use after a wait: rejects if a new request with this key would be rejected. */
  reauthorize(): Promise<void>;
  /** Opens the only kind of stream that a reply may have. @throws AppError `unavailable` */
  readonly openStream: OpenStream;
}

/** What the handlers of one app share. */
export interface Services {
  readonly store: Store;
  readonly cursors: Cursors;
  readonly pages: PageCache;
  /** Slots for imports, and for stock changes sent as lines. */
  readonly imports: ConcurrencyLimiter<SellerId>;
  /** Opens streams, and limits them together with requests that wait for changes. */
  readonly streams: Streams;
  /** What precedes `/api` in the paths of this server: empty, or `/shop`. */
  readonly prefix: string;
  /** For errors that no client caused. */
  readonly report: ErrorReporter;
  /** All routes, and what they refer to. */
  readonly description: ApiDescription<Route>;
  /** What features and handlers keep for this app. */
  readonly instances: Instances<Services>;
}

interface CommonRoute extends RoutePattern {
  /** Its query parameters; others are rejected. */
  readonly query: ParameterTable;
  /** Media types of its request bodies and responses; problems have their own. */
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** Its description in the OpenAPI document. */
  readonly operation: Operation;
  /** Whether it is enabled; without this, always. A disabled route answers 404. */
  readonly isEnabled?: (services: Services) => boolean;
}

/** A route that needs a key with a scope. */
interface KeyRoute extends CommonRoute {
  readonly scope: Scope;
  readonly handle: (request: ApiRequest, services: Services) => Promise<Reply>;
}

/** A route that needs no key. */
interface OpenRoute extends CommonRoute {
  readonly scope: undefined;
  readonly handle: (request: Pick<ApiRequest, 'headers'>, services: Services) => Promise<Reply>;
}

export type Route = KeyRoute | OpenRoute;

export function keyRoute(
  method: string, path: string, scope: Scope, operation: Operation, handle: KeyRoute['handle'],
): KeyRoute {
  return { method, path, scope, handle, ...deriveFormats(operation) };
}

export function openRoute(
  path: string, operation: Operation, handle: OpenRoute['handle'],
): OpenRoute {
  return { method: 'GET', path, scope: undefined, handle, ...deriveFormats(operation) };
}

/** A route takes and sends what its operation describes. */
function deriveFormats(operation: Operation) {
  const { query = {}, request = {}, answers } = operation;
  const produced = Object.values(answers).flatMap(({ content = {} }) => Object.keys(content));
  return { operation, query, consumes: Object.keys(request), produces: [...new Set(produced)] };
}
