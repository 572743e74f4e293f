/**
 * API requests that arrived over HTTP, as handlers see them. What only some handlers need, such as
 * the body, is read when they ask for it.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './domain/access/caller.ts';
import { type BodyStream, openBody, readJson, readMediaType } from './http/request/body.ts';
import { negotiate } from './http/request/negotiate.ts';
import { parseQuery, type Query } from './http/request/query.ts';
import type { Target } from './http/request/target.ts';
import type { RequestRecord } from './http/request-record.ts';
import type { InFlightRequests } from './http/server/in-flight-requests.ts';
import type { ApiRequest, OpenRequest, Route } from './api/route.ts';
import type { OpenStream, Streams } from './api/streams.ts';

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

interface CallServices {
  readonly streams: Streams;
  readonly inFlight: InFlightRequests;
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

/** A request of a route that needs a key, after authentication. */
export class HttpApiRequest implements ApiRequest {
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  readonly prefix: string;
  readonly mediaType: string;
  readonly #received: ReceivedRequest;
  readonly #services: CallServices;

  /** @throws AppError `invalid_query`, `not_acceptable` for what the route does not support */
  constructor(received: ReceivedRequest, services: CallServices) {
    const { caller, parameters, route, target, request: { headers } } = received;
    this.caller = caller;
    this.parameters = parameters;
    this.query = parseQuery(target.query, route.query);
    this.headers = headers;
    this.prefix = target.prefix;
    this.mediaType = negotiate(headers.accept, route.produces);
    this.#received = received;
    this.#services = services;
  }

  readMediaType(): string {
    const { request, route } = this.#received;
    return readMediaType(request, route.consumes);
  }

  readJson(limitBytes?: number): Promise<unknown> {
    const { request, route } = this.#received;
    const { complete } = request; // most bodies arrive with their headers
    const reading = readJson(request, route.consumes, limitBytes);
    if (complete) return reading;
    return this.#services.streams.reauthorizeAfterWait(reading, this.#received.reauthorize);
  }

  openBody(): BodyStream {
    const { request, route } = this.#received;
    return openBody(request, route.consumes);
  }

  disconnectSignal(): AbortSignal {
    return this.#services.inFlight.disconnectSignal(this.#received.response);
  }

  reauthorize(): Promise<void> {
    return this.#received.reauthorize();
  }

  get openStream(): OpenStream {
    const { response, record, caller, reauthorize } = this.#received;
    return this.#services.streams.openerFor({ key: caller, response, record, reauthorize });
  }
}
