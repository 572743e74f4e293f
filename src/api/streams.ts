/**
 * Opens all streams of the API and the portal. A stream takes its concurrency slot before `start`
 * reads the store, and is guarded until it ends (`http/response/guarded-stream.ts`). The types do
 * not let handlers return any other stream.
 */
import { AppError } from '../domain/error.ts';
import { formatKeyId, type KeyReference, type SellerId } from '../domain/id.ts';
import type { RequestRecord } from '../http/request-record.ts';
import { ConcurrencyLimiter } from '../http/concurrency-limiter.ts';
import {
  GuardedStream, Reauthorization, type StreamResponse,
} from '../http/response/guarded-stream.ts';
import type { ErrorReporter } from '../http/response/problem.ts';
import type { Chunks, Reply } from '../http/response/reply.ts';

export interface StreamLimits {
  /** Concurrent streams, plus requests that wait for changes: total, per seller, per key. */
  readonly total: number;
  readonly perSeller: number;
  readonly perKey: number;
  /** How often the key or session behind a stream is checked again. */
  readonly reauthorizeIntervalMs: number;
  /** Maximum duration of an export or a live stream. */
  readonly durationLimitMs: number;
}

/**
 * `export` sends a collection; when it is cut off, its connection is destroyed. `live` sends
 * changes; it can end cleanly at any time, because the client resumes. `ingest` reads a body of any
 * length; its last line says why it ended, and it has no maximum duration.
 */
type StreamKind = keyof typeof WHEN_CUT;

const WHEN_CUT = { export: 'destroy', live: 'end', ingest: 'report' } as const;

/** The client of a stream. The portal has its own key id. */
interface StreamClient {
  readonly key: KeyReference;
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

  constructor(options: StreamsOptions) {
    const { total, perSeller, perKey } = options.limits;
    this.#options = options;
    this.#sellers = new ConcurrencyLimiter('streams', { total, perOwner: perSeller });
    this.#keys = new ConcurrencyLimiter(
      'streams with this key', { total: Infinity, perOwner: perKey },
    );
  }

  /** Takes a slot, and returns the function that releases it. @throws AppError `unavailable` */
  acquire(key: KeyReference): () => void {
    using slots = new DisposableStack();
    slots.defer(this.#sellers.acquire(key.sellerId));
    slots.defer(this.#keys.acquire(formatKeyId(key)));
    const heldSlots = slots.move();
    return () => heldSlots.dispose();
  }

  /** Reauthorizes if `pending`, such as a slow body, took longer than the interval. */
  async reauthorizeAfterWait<T>(pending: Promise<T>, reauthorize: () => Promise<void>): Promise<T> {
    const { reauthorizeIntervalMs } = this.#options.limits;
    const reauthorization = new Reauthorization(reauthorize, reauthorizeIntervalMs);
    const value = await pending;
    if (reauthorization.isDue) await reauthorization.run();
    return value;
  }

  /** Returns the function by which a handler opens streams to this client. */
  openerFor({ key, response, reauthorize, record }: StreamClient): OpenStream {
    const { limits: { reauthorizeIntervalMs, durationLimitMs }, imports } = this.#options;
    return async (kind, start) => {
      const isIngest = kind === 'ingest';
      const stream = new GuardedStream({
        release: isIngest ? imports.acquire(key.sellerId) : this.acquire(key),
        reauthorize: () => reauthorize().catch((error: unknown) => this.#explain(error)),
        reauthorizeIntervalMs,
        durationLimitMs: isIngest ? undefined : durationLimitMs,
        whenCut: WHEN_CUT[kind],
        response,
        onCut: ({ code }) => { record.code = code; },
      });
      try {
        const { body, close, ...reply } = await start(stream);
        return { ...reply, body: stream.from(body, close) };
      } catch (error) {
        await stream.end();
        throw error;
      }
    };
  }

  /** A store failure also ends the stream. */
  #explain(error: unknown): never {
    if (error instanceof AppError) throw error;
    this.#options.report({ id: 'reauthorize', error });
    throw new AppError('unavailable', 'Your access could not be checked. Retry the request.');
  }
}
