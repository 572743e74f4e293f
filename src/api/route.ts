/** What a route is, and what its handler is given. */
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
import type { ApiDescription, Operation, Parameter } from './description/operation.ts';
import type { Instances } from './instances.ts';
import { JSON_TYPE, MERGE_PATCH_TYPE } from './media-types.ts';
import type { OpenStream, Streams } from './streams.ts';

/** One request: authenticated, within its rate, allowed by its scope, its query checked. */
export interface ApiRequest {
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  /** The media type to answer with: one of the route's `produces`. */
  readonly mediaType: string;
  /** The media type of the body. @throws AppError `unsupported_media_type` */
  readMediaType(): string;
  /**
   * Reads the whole body, of one of the route's `consumes`. It may have 64 KiB where no limit is
   * given.
   * @throws AppError `unsupported_media_type`, `body_too_large`, `invalid_json`, `request_timeout`
   */
  readJson(limitBytes?: number): Promise<unknown>;
  /** Opens a body of any length, decoded. @throws AppError `unsupported_media_type` */
  openBody(): BodyStream;
  /** For an answer that waits: aborted once its client is gone, or the server is stopping. */
  disconnectSignal(): AbortSignal;
  /** For use after a wait: rejects whenever a new request with this key would be rejected. */
  reauthorize(): Promise<void>;
  /** Opens the only kind of stream that a reply may carry. @throws AppError `unavailable` */
  readonly openStream: OpenStream;
}

/** What all requests share. */
export interface Services {
  readonly store: Store;
  readonly cursors: Cursors;
  readonly pages: PageCache;
  /** The imports under way, by seller. */
  readonly imports: ConcurrencyLimiter<SellerId>;
  /** The calls under way that change stock and are larger than other bodies, by seller. */
  readonly largeStockRequests: ConcurrencyLimiter<SellerId>;
  /** Opens streams, and counts them together with the requests that wait for changes. */
  readonly streams: Streams;
  /** What stands before `/api` in the paths of this server: empty, or `/shop`. */
  readonly prefix: string;
  /** Is told of errors that are not the client's doing. */
  readonly report: ErrorReporter;
  /** All routes, and what they refer to. */
  readonly description: ApiDescription<Route>;
  /** What features keep for this app. */
  readonly instances: Instances<Services>;
}

interface CommonRoute extends RoutePattern {
  /** The query parameters that it knows. */
  readonly query: readonly Parameter[];
  /** Media types of its bodies and of its answers; problems have their own. */
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** What the OpenAPI document says of it: no route is without. */
  readonly operation: Operation;
  /** Whether it is switched on; without this, always. A route that is off answers 404. */
  readonly isOn?: (services: Services) => boolean;
}

/** A route that needs a key with a scope. */
interface KeyRoute extends CommonRoute {
  readonly scope: Scope;
  readonly handle: (call: ApiRequest, services: Services) => Promise<Reply>;
}

/** A route that anybody may ask. */
interface OpenRoute extends CommonRoute {
  readonly scope: undefined;
  readonly handle: (call: Pick<ApiRequest, 'headers'>, services: Services) => Promise<Reply>;
}

export type Route = KeyRoute | OpenRoute;

/** What most routes of a method are. */
const get = {
  method: 'GET', scope: 'products:read', query: [], consumes: [], produces: [JSON_TYPE],
} as const;
const post = { ...get, method: 'POST', scope: 'products:write', consumes: [JSON_TYPE] } as const;

export const routeDefaults = {
  get,
  post,
  put: { ...post, method: 'PUT' },
  patch: { ...post, method: 'PATCH', consumes: [MERGE_PATCH_TYPE, JSON_TYPE] },
  remove: { ...post, method: 'DELETE', consumes: [], produces: [] },
} as const;
