/**
 * Calls the routes of the API within this process: the same handlers, validators and errors as over
 * HTTP, but no socket, no key and no rate limit. The program that embeds the server acts for a
 * seller.
 */
import { addAbortListener, EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { findProgramCaller, type HostCaller } from '../api/authenticate.ts';
import type { ApiRequest as RouteRequest } from '../api/route.ts';
import type { AppContext } from '../app-context.ts';
import { ApiError, createApiError, parseObject, toProblem } from '../client/errors.ts';
import type { ApiRequest, ApiResponse, Sender } from '../client/sender.ts';
import { formatQuery } from '../client/transport.ts';
import { AppError } from '../domain/error.ts';
import { decompress, parseBody } from '../http/request/body.ts';
import { negotiate } from '../http/request/negotiate.ts';
import { parseQuery } from '../http/request/query.ts';
import { startRequestRecord } from '../http/request-record.ts';
import { createProblem } from '../http/response/problem.ts';
import { isStream, type Reply } from '../http/response/reply.ts';
import { parseRetryAfter } from '../runtime/backoff.ts';

/** Sends the requests of one seller to the routes of an app. */
export function openInProcess(context: AppContext, host: HostCaller): Sender {
  return {
    async send(request, read) {
      request.signal?.throwIfAborted();
      const call = new Call(context, request);
      try {
        const reply = await dispatch(context, host, request, call);
        return await read(call.respond(reply));
      } catch (error) {
        call.end();
        throw call.toApiError(error);
      }
    },
  };
}

async function dispatch(
  context: AppContext, host: HostCaller, request: ApiRequest, call: Call,
): Promise<Reply> {
  const { router, store, streams } = context;
  const { method, path, query = {}, headers = {}, idempotencyKey, body } = request;
  if (context.inFlight.closing.aborted) throw shopClosed();
  const { route, parameters } = router.find(method, path);
  if (route.scopes === undefined) throw new AppError('not_found', `${path} is not for sellers.`);
  const findCaller = () => findProgramCaller(store, host, '');
  const caller = await findCaller();
  // It has all scopes, so it can only be disabled.
  const reauthorize = async (): Promise<void> => void await findCaller();
  const mediaType = headers['content-type'] ?? '';
  const content = body?.() ?? '';
  const routeRequest: RouteRequest = {
    caller, parameters, reauthorize,
    prefix: context.basePath,
    query: parseQuery(formatQuery(query).slice(1), route.query),
    mediaType: negotiate(headers['accept'], route.produces),
    headers: {
      ...headers,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(typeof content === 'string' && { 'content-length': String(Buffer.byteLength(content)) }),
    },
    readMediaType: () => mediaType,
    readJson: async (limitBytes) => {
      const chunks = await Array.fromAsync(Readable.from(content), (chunk) => Buffer.from(chunk));
      return parseBody(Buffer.concat(chunks), limitBytes);
    },
    openBody: () => ({
      mediaType,
      chunks: headers['content-encoding'] === 'gzip'
        ? decompress(Readable.from(content)) : Readable.from(content),
    }),
    disconnectSignal: () => call.disconnectSignal(),
    openStream: streams.openerFor({
      key: caller, response: call, record: startRequestRecord(''), reauthorize,
    }),
  };
  return route.handle(routeRequest, context);
}

/** A call in flight: what a guarded stream sees as the connection of its client. */
class Call extends EventEmitter {
  readonly #context: AppContext;
  readonly #request: ApiRequest;
  readonly #abort = new AbortController();
  /** Its reason says why the call was cut: the caller's, or an AppError `unavailable`. */
  readonly signal = this.#abort.signal;
  /** Releases what the call uses when it ends. */
  readonly #ending = new DisposableStack();
  /** A reader in this process always takes the next chunk. */
  readonly writableNeedDrain = true;

  constructor(context: AppContext, request: ApiRequest) {
    super();
    const { signal } = request;
    const { inFlight } = context;
    this.#context = context;
    this.#request = request;
    this.#ending.defer(inFlight.begin(() => this.#cut(new AppError('unavailable', CUT))));
    if (signal) this.#ending.use(addAbortListener(signal, () => this.#cut(signal.reason)));
  }

  get destroyed(): boolean {
    return this.#ending.disposed;
  }

  /** For a call that waits for changes: it ends when the shop closes. */
  disconnectSignal(): AbortSignal {
    const { closing } = this.#context.inFlight;
    if (!this.destroyed) {
      this.#ending.use(addAbortListener(closing, () => this.#cut(shopClosed())));
    }
    return this.signal;
  }

  #cut(reason: unknown): void {
    this.#abort.abort(reason);
    this.destroy();
  }

  /** Called to cut a stream. */
  destroy(): this {
    this.emit('close');
    this.end();
    return this;
  }

  /** Call it once nothing more is read or written. Idempotent. */
  end(): void {
    this.#ending.dispose();
  }

  respond({ status, headers, body = '' }: Reply): ApiResponse {
    if (!isStream(body)) this.end();
    this.#notify(status, headers);
    const chunks = () => this.#read(body);
    return {
      status,
      headers: new Headers(headers),
      chunks,
      text: async () => (typeof body === 'string' ? body
        : Buffer.concat(await Array.fromAsync(chunks())).toString()),
    };
  }

  async* #read(body: NonNullable<Reply['body']>): AsyncGenerator<Uint8Array, void, void> {
    if (!isStream(body)) return yield toBytes(body);
    try {
      for (;;) {
        const { value } = await this.#race(body.next());
        if (value === undefined) break;
        yield toBytes(value);
      }
    } catch (error) {
      throw this.toApiError(error);
    } finally {
      const ended = body.end();
      if (this.signal.aborted) ended.catch(() => {}); // its source may wait forever
      else await ended;
      this.end();
    }
  }

  /** Waits for a chunk, unless the call is cut. @throws the reason of `signal` */
  async #race<Step>(pending: Promise<Step>): Promise<Step> {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    using _listener = addAbortListener(this.signal, () => reject(this.signal.reason));
    const step = await Promise.race([pending, aborted]);
    this.signal.throwIfAborted();
    return step;
  }

  /**
   * Why the call was cut, if it was, or else the error that a client gets over HTTP. What the
   * program's own code throws stays as it is.
   */
  toApiError(cause: unknown): unknown {
    const error: unknown = this.signal.aborted ? this.signal.reason : cause;
    if (!(error instanceof AppError) || error instanceof ApiError) return error;
    const { status, headers, body } = createProblem(error, this.#context.report);
    this.#notify(status, headers);
    const retryAfterSeconds = parseRetryAfter(String(headers['retry-after']), undefined);
    const problem = toProblem(parseObject(String(body)), status);
    return createApiError(problem, { retryAfterSeconds, cause: error });
  }

  #notify(status: number, fields: Reply['headers']): void {
    const { method, path, onResponse } = this.#request;
    onResponse?.({ method, url: path, attempt: 1, status, headers: new Headers(fields) });
  }
}

function toBytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

const CUT = 'The shop was closed before this call was complete. What it has written stays: read '
  + 'the changes, or repeat the call with the same idempotencyKey once the shop is open again.';

export function shopClosed(): AppError {
  return new AppError('unavailable', 'The shop is closed.');
}
