/**
 * Opens all streams of the API and the portal. A stream takes its concurrency slot before `start`
 * reads the store, and is guarded until it ends (`http/response/guarded-stream.ts`). The types do
 * not let handlers return any other stream.
 */
import { AppError } from '../domain/error.ts';
import { formatKeyId, type KeyReference, type SellerId } from '../domain/id.ts';
import type { RequestRecord } from '../http/request-record.ts';
import { acquireAll, ConcurrencyLimiter, type Release } from '../domain/concurrency-limiter.ts';
import { GuardedStream, type StreamResponse } from '../http/response/guarded-stream.ts';
import type { ErrorReporter } from '../http/response/problem.ts';
import type { Chunks, Reply } from '../http/response/reply.ts';
import { TemporaryFile } from '../store/temporary/temporary-file.ts';
import { REAUTHORIZE_BODY_MS, SPOOL_STEP_BYTES } from './limits.ts';

/** Limits of responses and bodies that are streamed: exports, live changes, imports. */
export interface StreamLimits {
  /** Concurrent streams, plus requests that wait for changes, of all sellers. */
  readonly total: number;
  /** The same for each seller. */
  readonly perSeller: number;
  /** The same for each key. */
  readonly perKey: number;
  /** How often the key or session behind a stream is checked again, in milliseconds. */
  readonly reauthorizeIntervalMs: number;
  /** Maximum duration of an export or a live stream, in milliseconds. */
  readonly durationLimitMs: number;
  /** Size of the temporary files with exports for clients of HTTP/1.0, of all sellers. */
  readonly spoolTotalBytes: number;
  /** The same for each seller. */
  readonly spoolPerSellerBytes: number;
}

/**
 * `export` sends a collection; when it is cut off, its connection is reset. `live` sends changes;
 * it can end cleanly at any time, because the client resumes. `ingest` reads a body of any length;
 * its last line says why it ended, and it has no maximum duration.
 */
type StreamKind = keyof typeof WHEN_CUT;

const WHEN_CUT = { export: 'reset', live: 'end', ingest: 'report' } as const;

/** The client of a stream. The portal has its own key id. */
interface StreamClient {
  readonly key: KeyReference;
  /** Takes a slot of its own instead of one of the key. @throws AppError `unavailable` */
  readonly acquire?: () => Release;
  readonly response: StreamResponse;
  reauthorize(): Promise<void>;
  /** Its `code` records why a stream was cut off. */
  readonly record: RequestRecord;
}

/** The response, before it is guarded. */
interface OpenedStream extends Reply<Chunks> {
  readonly body: Chunks;
  /** Releases what `body` holds, even if it was never read. */
  readonly close?: () => Promise<unknown>;
}

export type OpenStream =
  (kind: StreamKind, start: (stream: GuardedStream) => Promise<OpenedStream>) => Promise<Reply>;

interface StreamsOptions {
  readonly limits: StreamLimits;
  /** The slots of `ingest`. */
  readonly imports: ConcurrencyLimiter<SellerId>;
  readonly report: ErrorReporter;
}

export class Streams {
  readonly #options: StreamsOptions;
  readonly #sellers: ConcurrencyLimiter<SellerId>;
  readonly #keys: ConcurrencyLimiter<string>;
  /** Counts steps of `SPOOL_STEP_BYTES`. */
  readonly #spools: ConcurrencyLimiter<SellerId>;

  constructor(options: StreamsOptions) {
    const { total, perSeller, perKey, spoolTotalBytes, spoolPerSellerBytes } = options.limits;
    this.#options = options;
    this.#sellers = new ConcurrencyLimiter('streams', { total, perOwner: perSeller });
    this.#keys = new ConcurrencyLimiter(
      'streams with this key', { total: Infinity, perOwner: perKey },
    );
    this.#spools = new ConcurrencyLimiter('spools', {
      total: spoolTotalBytes / SPOOL_STEP_BYTES, perOwner: spoolPerSellerBytes / SPOOL_STEP_BYTES,
    });
  }

  /** Open streams, plus requests that wait for changes. */
  get count(): number {
    return this.#sellers.count;
  }

  /** Takes a slot, and returns the function that releases it. @throws AppError `unavailable` */
  acquire(key: KeyReference, acquireOwn = () => this.#keys.acquire(formatKeyId(key))): Release {
    return acquireAll(() => this.#sellers.acquire(key.sellerId), acquireOwn);
  }

  /** Reauthorizes if `pending`, the body of a change, took longer than bodies usually do. */
  async reauthorizeAfterWait<T>(pending: Promise<T>, reauthorize: () => Promise<void>): Promise<T> {
    const { reauthorizeIntervalMs } = this.#options.limits;
    const dueAt = performance.now() + Math.min(reauthorizeIntervalMs, REAUTHORIZE_BODY_MS);
    const value = await pending;
    if (performance.now() >= dueAt) await reauthorize();
    return value;
  }

  /** Returns the function by which a handler opens streams to this client. */
  openerFor({ key, acquire, response, reauthorize, record }: StreamClient): OpenStream {
    const { limits: { reauthorizeIntervalMs, durationLimitMs }, imports } = this.#options;
    return async (kind, start) => {
      const isIngest = kind === 'ingest';
      const stream = new GuardedStream({
        release: isIngest ? imports.acquire(key.sellerId) : this.acquire(key, acquire),
        reauthorize: () => reauthorize().catch((error: unknown) => this.#explain(error)),
        reauthorizeIntervalMs,
        durationLimitMs: isIngest ? undefined : durationLimitMs,
        whenCut: WHEN_CUT[kind],
        response,
        onCut: ({ code }) => { record.code = code; },
      });
      try {
        const opened = await start(stream);
        const { body, close, ...reply } = kind === 'export' && isEndedByConnection(response)
          ? await this.#spool(opened, stream, key.sellerId) : opened;
        return { ...reply, body: stream.from(body, close) };
      } catch (error) {
        await stream.end();
        throw error;
      }
    };
  }

  /**
   * Stores an export in a temporary file, so that its length is known before its first byte.
   * @throws AppError `unavailable` if there is no room
   */
  async #spool(
    { body, close, ...reply }: OpenedStream, stream: GuardedStream, sellerId: SellerId,
  ): Promise<OpenedStream> {
    const spools = this.#spools;
    using steps = new DisposableStack();
    async function* takeSteps(): AsyncGenerator<Uint8Array, void, void> {
      let freeBytes = 0;
      for await (const chunk of body) {
        await stream.check();
        const bytes = Buffer.from(chunk);
        for (freeBytes -= bytes.length; freeBytes < 0; freeBytes += SPOOL_STEP_BYTES) {
          steps.defer(spools.tryAcquire(sellerId) ?? noSpoolRoom());
        }
        yield bytes;
      }
    }
    try {
      const file = await TemporaryFile.spool(takeSteps(), Infinity, '');
      const heldSteps = steps.move();
      return {
        ...reply, headers: { ...reply.headers, 'content-length': String(file.sizeBytes) },
        body: file.read(),
        close: () => file.close().finally(() => heldSteps.dispose()),
      };
    } catch (error) {
      await close?.();
      if (error instanceof AppError && error.code === 'storage_full') noSpoolRoom(error);
      throw error;
    }
  }

  /** A store failure also ends the stream. */
  #explain(error: unknown): never {
    if (error instanceof AppError) throw error;
    this.#options.report({ id: 'reauthorize', error });
    throw new AppError('unavailable', 'Your access could not be checked. Retry the request.');
  }
}

/** Whether the end of the connection is the only end of a response without a length. */
function isEndedByConnection({ req }: StreamResponse): boolean {
  return req?.httpVersion === '1.0' && req.method !== 'HEAD';
}

/** @throws AppError `unavailable` */
function noSpoolRoom(cause?: Error): never {
  throw new AppError('unavailable', 'Over HTTP/1.0, an export is stored before it is sent, and '
    + 'there is no room for this one. Use HTTP/1.1 (nginx: proxy_http_version 1.1), or retry when '
    + 'other exports have ended.', { cause });
}
