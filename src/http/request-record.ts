/**
 * The outcome of a request, for logs and metrics. It holds no text from the client (no path, query
 * or body, and from the headers only parsed addresses and trace ids), so no secret can get into a
 * log.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../domain/error.ts';
import type { KeyId, SellerId } from '../domain/id.ts';
import type { Reply } from './response/reply.ts';
import type { Span, Spans } from './trace-context.ts';

/** What becomes known about a request while it is processed. */
export interface RequestRecord {
  /** The path pattern of the route, such as `/api/v1/products/{id}`; or `unknown`. */
  route: string;
  /** The address of the client; until that is known, of the socket. */
  address: string;
  /** Undefined if the request was not authenticated. */
  sellerId: SellerId | undefined;
  /** Undefined for portal users, who have no key. */
  keyId: KeyId | undefined;
  /** The code of a problem; undefined if there was none. */
  code: ErrorCode | undefined;
  /** Bytes of the body that were written to the connection. */
  sentBytes: number;
}

export interface AccessLogEntry extends Readonly<RequestRecord>, Span {
  /** One of seven, or `OTHER`, so that metrics have few labels. */
  readonly method: string;
  readonly status: number;
  /** False if the connection closed before the whole response was written to it. */
  readonly isComplete: boolean;
  /** Until the whole response was written to the connection. */
  readonly durationMs: number;
}

/** For requests without a route. */
const UNKNOWN_ROUTE = 'unknown';
const OTHER_METHOD = 'OTHER';
const METHODS: ReadonlySet<string> =
  new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function startRequestRecord(address: string): RequestRecord {
  return {
    route: UNKNOWN_ROUTE, sellerId: undefined, keyId: undefined, code: undefined, address,
    sentBytes: 0,
  };
}

/** Call it when a request arrives, and the function that it returns when it is answered. */
export function followRequest(
  request: IncomingMessage, response: ServerResponse, spans: Spans,
): (record: RequestRecord, reply: Pick<Reply, 'status'>) => AccessLogEntry {
  const startedAt = performance.now();
  return (record, { status }) => {
    const { method = '' } = request;
    return {
      ...record,
      ...spans.start(request.headers['traceparent']),
      method: METHODS.has(method) ? method : OTHER_METHOD,
      status,
      // A pipelined response may never get a socket.
      isComplete: !response.destroyed && !request.socket.destroyed,
      durationMs: performance.now() - startedAt,
    };
  };
}
