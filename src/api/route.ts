/** What a route is, and what its handler is given. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../domain/access/caller.ts';
import type { SellerId, WebhookReference } from '../domain/id.ts';
import type { Scope } from '../domain/access/scope.ts';
import type { ValidationError } from '../domain/text.ts';
import type { WebhookResult } from '../domain/webhooks/webhook.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { ConcurrencyLimiter } from '../http/concurrency-limiter.ts';
import type { BodyStream } from '../http/request/body.ts';
import type { Cursors } from '../http/cursor.ts';
import type { PageCache } from '../http/response/page-cache.ts';
import type { ErrorReport } from '../http/response/problem.ts';
import type { Query } from '../http/request/query.ts';
import type { Reply } from '../http/response/reply.ts';
import type { RoutePattern } from '../http/router.ts';
import type { Store } from '../store/store.ts';
import type { ChangeNotifier } from '../features/changes/change-notifier.ts';
import type { Operation, Parameter } from './description/operation.ts';
import type { Readiness } from './readiness.ts';
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
  readonly largeStockCalls: ConcurrencyLimiter<SellerId>;
  /** Opens streams, and counts them together with the requests that wait for changes. */
  readonly streams: Streams;
  readonly changeNotifier: ChangeNotifier;
  readonly readiness: Readiness;
  /** What stands before `/api` in the paths of this server: empty, or `/shop`. */
  readonly prefix: string;
  /** Is told of errors that are not the client's doing. */
  readonly report: (entry: ErrorReport) => void;
  /** The OpenAPI document of the routes, as JSON. */
  describe(): string;
  /** Undefined where webhooks are switched off. */
  readonly webhooks: WebhookService | undefined;
}

/** What the routes of webhooks need of whoever sends. */
export interface WebhookService {
  /** What is wrong with an address to send to; undefined where messages may go there. */
  checkUrl(sellerId: SellerId, url: string): Promise<ValidationError | undefined>;
  /** Sends a test message now, and notes what came of it. @throws `not_found`, `unavailable` */
  sendTest(webhook: WebhookReference): Promise<{
    readonly messageId: string; readonly result: WebhookResult;
  }>;
}

/** A request for a page, as it came. */
export interface PortalRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The address that it came from. */
  readonly address: string;
  /** Without what stands before the paths of this server. */
  readonly path: string;
  /** What follows the `?`. */
  readonly query: string;
  /** Takes down what becomes known of the request. */
  readonly record: RequestRecord;
  /** As `disconnectSignal` of a call. */
  disconnectSignal(): AbortSignal;
}

/** The pages for people, which have rules of their own: no key and no problem documents. */
export interface PortalService {
  /** Whether the path of a page, or of one that is not there, is the portal's. */
  isFor(path: string): boolean;
  /** Sorted; empty if the path does not exist. */
  findMethods(path: string): readonly string[];
  /** Refuses by answers, too: it never rejects. */
  answer(request: PortalRequest, services: Services): Promise<Reply>;
  /** Ends what goes on without a request. */
  close(): Promise<void>;
}

/** The figures of the server, for whoever may know them. */
export interface MetricsService {
  /** @throws AppError `method_not_allowed` */
  answer(request: IncomingMessage, record: RequestRecord): Promise<Reply>;
}

interface CommonRoute extends RoutePattern {
  /** The query parameters that it knows. */
  readonly query: readonly Parameter[];
  /** Media types of its bodies and of its answers; problems have their own. */
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** What the OpenAPI document says of it: no route is without. */
  readonly operation: Operation;
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
