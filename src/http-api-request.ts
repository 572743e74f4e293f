/**
 * API requests that arrived over HTTP, as handlers see them. What only some handlers need, such as
 * the body, is read when they ask for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './domain/access/caller.ts';
import { openBody, readJson, readMediaType } from './http/request/body.ts';
import { negotiate } from './http/request/negotiate.ts';
import { parseQuery } from './http/request/query.ts';
import type { Target } from './http/request/target.ts';
import type { RequestRecord } from './http/request-record.ts';
import type { InFlightRequests } from './http/server/in-flight-requests.ts';
import type { ApiRequest, OpenRequest, Route } from './api/route.ts';
import type { Streams } from './api/streams.ts';

/** What the request pipeline knows about a request. */
interface ReceivedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly record: RequestRecord;
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
  readonly caller: Caller;
  /** Rejects if a new request with this key would be rejected. */
  readonly reauthorize: () => Promise<void>;
}

/**
 * A request of a route that needs no key.
 * @throws AppError `invalid_query`, `not_acceptable` for what the route does not support
 */
export function parseOpenRequest(
  { headers }: IncomingMessage, { query, prefix }: Target, route: Route,
): OpenRequest {
  parseQuery(query, route.query);
  negotiate(headers.accept, route.produces);
  return { headers, prefix };
}

/**
 * A request of a route that needs a key, after authentication.
 * @throws AppError `invalid_query`, `not_acceptable` for what the route does not support
 */
export function parseKeyRequest(
  { request, response, target, record, route, parameters, caller, reauthorize }: ReceivedRequest,
  { streams, inFlight }: { readonly streams: Streams; readonly inFlight: InFlightRequests },
): ApiRequest {
  const { headers } = request;
  return {
    caller, parameters, headers, reauthorize,
    query: parseQuery(target.query, route.query),
    prefix: target.prefix,
    mediaType: negotiate(headers.accept, route.produces),
    readMediaType: () => readMediaType(request, route.consumes),
    readJson(limitBytes) {
      const { complete } = request; // most bodies arrive with their headers
      const reading = readJson(request, route.consumes, limitBytes);
      return complete ? reading : streams.reauthorizeAfterWait(reading, reauthorize);
    },
    openBody: () => openBody(request, route.consumes),
    disconnectSignal: () => inFlight.disconnectSignal(response),
    // Not a getter: V8 would make a hidden class for each request, which takes 10 us.
    openStream: (kind, start) =>
      streams.openerFor({ key: caller, response, record, reauthorize })(kind, start),
  };
}
