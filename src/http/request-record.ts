/**
 * The outcome of a request, for logs and metrics. It holds no client text (no path, query or body,
 * and only parsed addresses and trace ids from headers), so no secret can get into a log.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../domain/error.ts';
import {
  type AccountId, formatKeyId, formatSellerId, type KeyId, type SellerId,
} from '../domain/id.ts';
import type { Reply } from './response/reply.ts';
import type { Span, Spans } from './trace-context.ts';

/** Facts about a request, collected while it is processed. */
export interface RequestRecord {
  /** The route's path pattern, such as `/api/v1/products/{id}`, or `unknown`. */
  route: string;
  /** The client's address; until it is known, the socket's. */
  address: string;
  /** Undefined if the request was not authenticated. */
  sellerId: SellerId | undefined;
  /** Undefined for portal users, who have no key. */
  keyId: KeyId | undefined;
  /** The problem code; undefined if there was none. */
  code: ErrorCode | undefined;
  /** What the log contains at every level; rarely set. */
  securityEvent?: 'sign_in_failed' | 'role_denied';
  /** The portal account, if it is known; set only with `securityEvent`. */
  accountId?: AccountId;
  /** Body bytes written to the connection. */
  sentBytes: number;
}

/** A request that is complete, as `onRequestComplete` receives it. */
export interface AccessLogEntry
  extends Readonly<Omit<RequestRecord, 'sellerId' | 'keyId' | 'accountId'>>, Span {
  /** `sel_...`; undefined if the request was not authenticated. */
  readonly sellerId: string | undefined;
  /** `key_...`; undefined without a key. */
  readonly keyId: string | undefined;
  /** One of seven, or `OTHER`, so that metrics have few labels. */
  readonly method: string;
  /** HTTP status of the response. */
  readonly status: number;
  /** False if the connection closed before the whole response was written. */
  readonly isComplete: boolean;
  /** Time until the whole response was written, in milliseconds. */
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

/** Call it when a request arrives, and the returned function when its response is complete. */
export function followRequest(
  request: IncomingMessage, response: ServerResponse, spans: Spans,
): (record: RequestRecord, reply: Pick<Reply, 'status'>) => AccessLogEntry {
  const startedAt = performance.now();
  return ({ sellerId, keyId, accountId: _, ...record }, { status }) => {
    const { method = '' } = request;
    const isKey = sellerId !== undefined && keyId !== undefined;
    return {
      ...record,
      sellerId: sellerId === undefined ? undefined : formatSellerId(sellerId),
      keyId: isKey ? formatKeyId({ sellerId, keyId }) : undefined,
      ...spans.start(request.headers['traceparent']),
      method: METHODS.has(method) ? method : OTHER_METHOD,
      status,
      // A pipelined response may never get a socket.
      isComplete: !response.destroyed && !request.socket.destroyed,
      durationMs: performance.now() - startedAt,
    };
  };
}
