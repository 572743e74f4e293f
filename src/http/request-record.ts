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
  /** One of seven, or `OTHER`: few, whatever clients send. */
  readonly method: string;
  /** The path as the table of routes has it: `/api/v1/products/{id}`; or `unknown`. */
  readonly route: string;
  readonly status: number;
  /** The error of a problem; undefined where there was none. */
  readonly code: ErrorCode | undefined;
  /** False where the connection was gone before the whole answer was given to it. */
  readonly isComplete: boolean;
  /** Until the answer was given to the connection: of a stream, all of it. */
  readonly durationMs: number;
  /** Of the body, as it was given to the connection. */
  readonly sentBytes: number;
  readonly address: string;
  /** Undefined where nobody was recognised. */
  readonly sellerId: SellerId | undefined;
  /** Undefined for people, who have no key. */
  readonly keyId: KeyId | undefined;
}

/** The route of what is not found, and of a method that a path does not have. */
const UNKNOWN_ROUTE = 'unknown';
const OTHER_METHOD = 'OTHER';
const METHODS: ReadonlySet<string> =
  new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What becomes known of a request on its way. */
export interface RequestRecord {
  route: string;
  sellerId: SellerId | undefined;
  keyId: KeyId | undefined;
  code: ErrorCode | undefined;
  /** The socket's own, until the client's is known. */
  address: string;
  sentBytes: number;
}

export function startRequestRecord(address: string): RequestRecord {
  return {
    route: UNKNOWN_ROUTE, sellerId: undefined, keyId: undefined, code: undefined, address,
    sentBytes: 0,
  };
}

/** Call it when the request comes; what it returns, when it is answered. */
export function followRequest(
  request: IncomingMessage, response: ServerResponse, spans: Spans,
): (record: RequestRecord, reply: Pick<Reply, 'status'>) => AccessLogEntry {
  const startedAt = performance.now();
  return ({ route, sellerId, keyId, code, address, sentBytes }, { status }) => {
    const { method = '' } = request;
    const { traceId, spanId, parentSpanId } = spans.begin(request.headers['traceparent']);
    return {
      method: METHODS.has(method) ? method : OTHER_METHOD,
      route, status, code, sentBytes, address, sellerId, keyId, traceId, spanId, parentSpanId,
      // A pipelined answer may never be given a socket.
      isComplete: !response.destroyed && !request.socket.destroyed,
      durationMs: performance.now() - startedAt,
    };
  };
}
