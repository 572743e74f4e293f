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

export interface AccessLogEntry extends Span {
  /** One of seven, or `OTHER`, so that metrics have few labels. */
  readonly method: string;
  /** The path pattern of the route, such as `/api/v1/products/{id}`; or `unknown`. */
  readonly route: string;
  readonly status: number;
  /** The code of a problem; undefined if there was none. */
  readonly code: ErrorCode | undefined;
  /** False if the connection closed before the whole response was written to it. */
  readonly isComplete: boolean;
  /** Until the whole response was written to the connection. */
  readonly durationMs: number;
  /** Bytes of the body that were written to the connection. */
  readonly sentBytes: number;
  readonly address: string;
  /** Undefined if the request was not authenticated. */
  readonly sellerId: SellerId | undefined;
  /** Undefined for portal users, who have no key. */
  readonly keyId: KeyId | undefined;
}

/** For requests without a route. */
const UNKNOWN_ROUTE = 'unknown';
const OTHER_METHOD = 'OTHER';
const METHODS: ReadonlySet<string> =
  new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What becomes known about a request while it is processed. */
export interface RequestRecord {
  route: string;
  sellerId: SellerId | undefined;
  keyId: KeyId | undefined;
  code: ErrorCode | undefined;
  /** The address of the socket until that of the client is known. */
  address: string;
  sentBytes: number;
}

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
  return ({ route, sellerId, keyId, code, address, sentBytes }, { status }) => {
    const { method = '' } = request;
    const { traceId, spanId, parentSpanId } = spans.start(request.headers['traceparent']);
    return {
      method: METHODS.has(method) ? method : OTHER_METHOD,
      route, status, code, sentBytes, address, sellerId, keyId, traceId, spanId, parentSpanId,
      // A pipelined response may never get a socket.
      isComplete: !response.destroyed && !request.socket.destroyed,
      durationMs: performance.now() - startedAt,
    };
  };
}
