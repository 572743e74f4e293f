/**
 * The request pipeline, from first line to response. `respond` is the outer part and `dispatch` the
 * inner one; start reading there. The app adds no listener, signal handler or global variable to
 * the process: that is up to the program that embeds it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { types } from 'node:util';
import { authorize, narrowScopes } from './api/authenticate.ts';
import { HEALTH, READINESS } from './api/route.ts';
import type { Caller } from './domain/access/caller.ts';
import { AppError } from './domain/error.ts';
import { startRequestRecord, followRequest, type RequestRecord } from './http/request-record.ts';
import { readPeerAddress } from './http/request/client-address.ts';
import { cutResponse } from './http/response/guarded-stream.ts';
import { createProblem, findCode } from './http/response/problem.ts';
import { findTarget, OUTSIDE, parseTarget, type Target } from './http/request/target.ts';
import { rateLimited } from './http/rate-limit.ts';
import { type Chunks, type Reply, sendReply, withFields } from './http/response/reply.ts';
import { Spans } from './http/trace-context.ts';
import { type AppContext, type CoreOptions, createAppContext } from './app-context.ts';
import type { Feature, Pages } from './feature.ts';
import { parseKeyRequest, parseOpenRequest } from './http-api-request.ts';

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
  findMethods(target: string): Promise<readonly string[]>;
  /** Requests without a complete response. */
  inFlightCount(): number;
  /** Ends streams and requests that wait, and `/readyz` gets 503. Others, also new, continue. */
  drain(): void;
  /**
   * Rejects new requests with 503. Resolves when all in-flight requests are complete or
   * disconnected and key usage is written.
   */
  close(): Promise<void>;
  /** Closes, and disconnects the clients of in-flight requests: `close` resolves within 1 s. */
  cut(): void;
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
    const end = inFlight.begin(() => cutResponse(response));
    const record = startRequestRecord(readPeerAddress(request));
    const { onRequestComplete } = options;
    const describe = onRequestComplete && followRequest(request, response, spans);
    // The upgrade is ignored (RFC 9110 section 7.8); Node passes on nothing that follows it.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    let reply: Reply<Chunks> = UNANSWERED;
    try {
      reply = await dispatch(context, request, response, target, record);
      lingering.lingerAfter(response, reply);
      const streamed = sendReply(response, reply, record);
      if (streamed) await streamed;
    } catch (error) {
      report({ id: 'reply', error });
      cutResponse(response);
    } finally {
      end();
      try {
        if (describe) onRequestComplete(describe(record, reply));
        if (record.securityEvent) options.onSecurityEvent?.(record);
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
    async findMethods(target) {
      const { path } = parseTarget(target, basePath) ?? OUTSIDE;
      return (findPages(context, path) ?? router).findMethods(path);
    },
    inFlightCount: () => inFlight.count,
    drain: () => inFlight.drain(),
    cut: () => inFlight.cut(),
    async close() {
      await Promise.all([inFlight.close(), ...featurePages.map((pages) => pages.close?.())]);
      lingering.stop();
      await Promise.all([usage.close(), context.rates.close()]);
    },
  };
}

/** Routes, authenticates, limits, authorizes and handles a request, in this order. */
async function dispatch(
  context: AppContext, request: IncomingMessage, response: ServerResponse, target: Target,
  record: RequestRecord,
): Promise<Reply<Chunks>> {
  const { router, authenticator, rates, compressor, usage, inFlight } = context;
  let fields: Reply['headers'] | undefined;
  let caller: Caller | undefined;
  let reply: Reply<Chunks>;
  try {
    const address = admit(context, request, target.path, record);
    const pages = findPages(context, target.path);
    if (pages) {
      const disconnectSignal = () => inFlight.disconnectSignal(response);
      return await pages.answer(
        { ...target, request, response, record, address, disconnectSignal }, context,
      );
    }
    const { route, parameters } = router.find(request.method ?? '', target.path);
    record.route = route.path;
    if (route.scopes === undefined) {
      reply = await route.handle(parseOpenRequest(request, target, route), context);
    } else {
      const { handle } = route;
      caller = await authenticator.authenticate(request, address);
      record.sellerId = caller.sellerId;
      record.keyId = caller.keyId;
      const decision = rates.take(caller);
      const rate = types.isPromise(decision) ? await decision : decision;
      fields = rate?.fields;
      if (rate?.isAllowed === false) throw rateLimited(rate.retryAfterSeconds);
      authorize(caller, route.scopes);
      const scopes = narrowScopes(caller, route.scopes);
      const reauthorize = async () =>
        authorize(await authenticator.authenticate(request, address), scopes);
      const received = {
        request, response, target, record, route, parameters, caller, reauthorize,
      };
      const handled = handle(parseKeyRequest(received, context), context);
      reply = types.isPromise(handled) ? await handled : handled;
    }
    const compressed = compressor.compress(withFields(reply, fields), request);
    reply = types.isPromise(compressed) ? await compressed : compressed;
  } catch (error) {
    record.code = findCode(error);
    reply = withFields(createProblem(error, context.report), fields);
  }
  if (caller) usage.count(caller, reply.status);
  return reply;
}

/** Rejects what no client may send. Returns the client's address. Call it before any `await`. */
function admit(
  { strict, proxies, inFlight }: AppContext, request: IncomingMessage, path: string,
  record: RequestRecord,
): string {
  strict.assert(request); // Node may emit the next request of the connection at once
  record.address = proxies.readClientAddress(request, record.address);
  const isStopping = inFlight.isClosed ? path !== HEALTH
    : inFlight.closing.aborted && path === READINESS;
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

/** For a request that failed before it had a response. */
const UNANSWERED: Reply = { status: 500, headers: {} };
