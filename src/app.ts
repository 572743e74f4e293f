/**
 * The request pipeline, from first line to response. `respond` is the outer part and `dispatch` the
 * inner one; start reading there. The app adds no listener, signal handler or global variable to
 * the process: that is up to the program that embeds it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorize } from './api/authenticate.ts';
import { HEALTH, type Route } from './api/route.ts';
import type { Caller } from './domain/access/caller.ts';
import { AppError } from './domain/error.ts';
import { startRequestRecord, followRequest, type RequestRecord } from './http/request-record.ts';
import { openBody, readJson, readMediaType } from './http/request/body.ts';
import { readPeerAddress } from './http/request/client-address.ts';
import { negotiate } from './http/request/negotiate.ts';
import { createProblem, findCode } from './http/response/problem.ts';
import { parseQuery } from './http/request/query.ts';
import { findTarget, OUTSIDE, parseTarget, type Target } from './http/request/target.ts';
import { rateLimited } from './http/rate-limit.ts';
import { type Chunks, type Reply, sendReply, withFields } from './http/response/reply.ts';
import { Spans } from './http/trace-context.ts';
import { type AppContext, type CoreOptions, createAppContext } from './app-context.ts';
import type { Feature, Pages } from './feature.ts';

export interface App {
  /** What its requests use. */
  readonly context: AppContext;
  /**
   * Responds to a request, or calls `next` if its path is outside the base URL's path and the
   * path where a framework mounts this handler. With neither path, unknown paths and `/` go to
   * `next`, so that the program can have routes of its own beside those of the app.
   * A server of your own needs `requestTimeout` 0, since imports take long, and a `setTimeout`
   * against stalled clients; `listen` sets both.
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void;
  /** The methods allowed for a request target, for `listen`; empty if the path does not exist. */
  findMethods(target: string): readonly string[];
  /** Requests without a complete response. */
  inFlightCount(): number;
  /**
   * Rejects new requests with 503. Resolves when all in-flight requests are complete or
   * disconnected and key usage is written.
   */
  close(): Promise<void>;
}

/** The core with the given features; `features.ts` composes it with all of them. */
export function composeApp<FeatureOptions extends object>(
  features: readonly Feature<FeatureOptions>[], options: CoreOptions & FeatureOptions,
): App {
  const context = createAppContext(features, options);
  const { lingering, basePath, featurePages, report, router, strict, inFlight, usage } = context;
  const spans = new Spans();

  async function respond(
    request: IncomingMessage, response: ServerResponse, target: Target,
  ): Promise<void> {
    if (strict.isPipelinedAfterRejection(request)) return; // its connection is about to close
    inFlight.begin();
    const record = startRequestRecord(readPeerAddress(request));
    const { onRequestComplete } = options;
    const describe = onRequestComplete && followRequest(request, response, spans);
    // The upgrade is ignored (RFC 9110 section 7.8); Node passes on nothing that follows it.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    let reply: Reply<Chunks> = UNANSWERED;
    try {
      reply = await dispatch(context, request, response, { ...target, record });
      lingering.lingerAfter(response, reply);
      const streamed = sendReply(response, reply, record);
      if (streamed) await streamed;
    } catch (error) {
      report({ id: 'reply', error });
      response.destroy();
    } finally {
      inFlight.end();
      try {
        if (describe) onRequestComplete(describe(record, reply));
      } catch (error) {
        report({ id: 'answered', error });
      }
    }
  }

  return {
    context,
    handle(request, response, next) {
      const target = findTarget(request, basePath);
      const isOwn = target && (!next || target.prefix !== '' || isKnown(context, target));
      if (isOwn || !next) void respond(request, response, target ?? OUTSIDE);
      else next();
    },
    findMethods(target) {
      const { path } = parseTarget(target, basePath) ?? OUTSIDE;
      return (findPages(context, path) ?? router).findMethods(path);
    },
    inFlightCount: () => inFlight.count,
    async close() {
      await Promise.all([inFlight.close(), ...featurePages.map((pages) => pages.close?.())]);
      lingering.stop();
      await usage.close();
    },
  };
}

/** Routes, authenticates, limits, authorizes and handles a request, in this order. */
async function dispatch(
  context: AppContext, request: IncomingMessage, response: ServerResponse, target: FollowedTarget,
): Promise<Reply<Chunks>> {
  const { router, authenticator, rates, compressor, usage, inFlight, streams } = context;
  const { record } = target;
  let fields: Reply['headers'] | undefined;
  let caller: Caller | undefined;
  let reply: Reply<Chunks>;
  try {
    const address = admit(context, request, target);
    const pages = findPages(context, target.path);
    if (pages) {
      const disconnectSignal = () => inFlight.disconnectSignal(response);
      return await pages.answer(
        { ...target, request, response, address, disconnectSignal }, context,
      );
    }
    const { route, parameters } = router.find(request.method ?? '', target.path);
    record.route = route.path;
    if (route.scope === undefined) {
      reply = await route.handle(parseQueryAndNegotiate(request, target, route), context);
    } else {
      caller = await authenticator.authenticate(request, address);
      record.sellerId = caller.sellerId;
      record.keyId = caller.keyId;
      const rate = rates.take(caller);
      fields = rate?.fields;
      if (rate?.isAllowed === false) throw rateLimited(rate.retryAfterSeconds);
      authorize(caller, route.scope);
      const reauthorize = async () =>
        authorize(await authenticator.authenticate(request, address), route.scope);
      reply = await route.handle({
        ...parseQueryAndNegotiate(request, target, route),
        caller,
        parameters,
        readMediaType: () => readMediaType(request, route.consumes),
        readJson(limitBytes) {
          const { complete } = request; // most bodies arrive with their headers
          const reading = readJson(request, route.consumes, limitBytes);
          return complete ? reading : streams.reauthorizeAfterWait(reading, reauthorize);
        },
        openBody: () => openBody(request, route.consumes),
        disconnectSignal: () => inFlight.disconnectSignal(response),
        reauthorize,
        openStream: streams.openerFor({ key: caller, response, record, reauthorize }),
      }, context);
    }
    reply = await compressor.compress(withFields(reply, fields), request);
  } catch (error) {
    record.code = findCode(error);
    reply = withFields(createProblem(error, context.report), fields);
  }
  if (caller) usage.count(caller, reply.status);
  return reply;
}

interface FollowedTarget extends Target {
  readonly record: RequestRecord;
}

/** Rejects what no client may send. Returns the client's address. Call it before any `await`. */
function admit(
  { strict, proxies, inFlight }: AppContext, request: IncomingMessage,
  { path, record }: FollowedTarget,
): string {
  strict.assert(request); // Node may emit the next request of the connection at once
  record.address = proxies.readClientAddress(request);
  const isStopping = inFlight.closing.aborted && path !== HEALTH;
  if (isStopping) throw new AppError('unavailable', 'This server is stopping.');
  return record.address;
}

function findPages({ featurePages }: AppContext, path: string): Pages | undefined {
  return featurePages.find((pages) => pages.isFor(path));
}

/** Whether the app has something at this path, other than the start page of the host. */
function isKnown(context: AppContext, { path }: Target): boolean {
  if (path === '/') return false;
  return findPages(context, path) !== undefined || context.router.findMethods(path).length > 0;
}

/** @throws AppError `invalid_query`, `not_acceptable` for what the route does not support */
function parseQueryAndNegotiate({ headers }: IncomingMessage, target: Target, route: Route) {
  return {
    headers,
    prefix: target.prefix,
    query: parseQuery(target.query, route.query),
    mediaType: negotiate(headers.accept, route.produces),
  };
}

/** For a request that failed before it had a response. */
const UNANSWERED: Reply = { status: 500, headers: {} };
