/**
 * The only kind of stream that a reply may have as its body. It holds a concurrency slot,
 * reauthorizes at an interval, and ends after a maximum duration, whether or not the client reads.
 * However it ends (completely, cut, client disconnected, never started), it returns its source and
 * then releases its slot.
 */
import { addAbortListener } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../../domain/error.ts';

type Chunk = string | Uint8Array;

/** What a stream needs of the response that it is sent with: a `ServerResponse` has it. */
export interface StreamResponse {
  /** Whether the client does not read. */
  readonly writableNeedDrain: boolean;
  /** Both are undefined for a call within this process. */
  readonly req?: Pick<IncomingMessage, 'httpVersion' | 'method'>;
  readonly socket?: Duplex | null;
  readonly destroyed: boolean;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

interface GuardOptions {
  /** Releases the concurrency slot. */
  readonly release: () => void;
  /** Rejects once the client has lost its access. */
  readonly reauthorize: () => Promise<void>;
  readonly reauthorizeIntervalMs: number;
  /** Undefined for no maximum. */
  readonly durationLimitMs: number | undefined;
  /**
   * How to end the response when the stream is cut: `reset` the connection, so that the client sees
   * that it is incomplete; `end` it, if the client can resume; or let the source `report` the
   * reason in its last chunks.
   */
  readonly whenCut: 'reset' | 'end' | 'report';
  readonly response: StreamResponse;
  /** Called with the reason when the stream is cut. */
  readonly onCut: (reason: AppError) => void;
}

const DONE = { done: true, value: undefined } as const;

export class GuardedStream implements AsyncIterableIterator<Chunk, void, void> {
  readonly #options: GuardOptions;
  readonly #abort = new AbortController();
  readonly #reauthorization: ReturnType<typeof reauthorizeAtInterval>;
  readonly #reauthorizeTimer: NodeJS.Timeout;
  readonly #durationTimer: NodeJS.Timeout | undefined;
  #source: AsyncIterator<Chunk, unknown, void> | undefined;
  #closeSource: (() => Promise<unknown>) | undefined;
  #isDisconnected = false;
  /** Settles when the source is returned and the slot released. */
  #ending: Promise<void> | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
    const { durationLimitMs, response, reauthorize, reauthorizeIntervalMs } = options;
    this.#reauthorization = reauthorizeAtInterval(reauthorize, reauthorizeIntervalMs);
    const reauthorizeOnTime = (): void => void this.#reauthorize();
    this.#reauthorizeTimer = setInterval(reauthorizeOnTime, reauthorizeIntervalMs).unref();
    if (durationLimitMs !== undefined) {
      const detail = 'This stream has reached its maximum duration. Start again.';
      const cut = (): void => this.#cut(new AppError('unavailable', detail));
      this.#durationTimer = setTimeout(cut, durationLimitMs).unref();
    }
    if (response.destroyed) this.#disconnect(); // its `close` was before
    else response.once('close', this.#disconnect);
  }

  /** Aborted, with an AppError as reason, when reading and writing must stop. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Call it before each step: reauthorizes if due, and before each write of what a client sends.
   * @throws AppError the reason of `signal`
   */
  async check(isWrite = false): Promise<void> {
    if (isWrite || this.#reauthorization.isDue()) await this.#reauthorize();
    this.signal.throwIfAborted();
  }

  /** Waits for a long operation. @throws AppError the reason of `signal` */
  async race<T>(pending: Promise<T>): Promise<T> {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    using _listener = addAbortListener(this.signal, () => reject(this.signal.reason));
    return await Promise.race([pending, aborted]);
  }

  /**
   * Sets the source, once. `close` releases what the source holds: returning a generator that has
   * not started does not.
   * @throws AppError the reason of `signal`, while the response can still be a problem
   */
  from(source: AsyncIterable<Chunk>, close?: () => Promise<unknown>): this {
    this.#source = source[Symbol.asyncIterator]();
    this.#closeSource = close;
    if (this.#isDisconnected) this.#disconnect();
    else this.signal.throwIfAborted();
    return this;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Chunk, void>> {
    if (this.#ending || !this.#source) return this.return();
    const { whenCut } = this.#options;
    const check = (): Promise<void> =>
      whenCut === 'report' ? this.check().catch(() => {}) : this.check();
    try {
      for (;;) {
        await check();
        const step = await this.#source.next();
        if (step.done === true) break;
        await check(); // the source may have waited
        if (step.value.length > 0) return step;
      }
    } catch (error) {
      await this.end();
      if (whenCut !== 'end' || error !== this.signal.reason) throw error;
    }
    await this.end();
    return DONE;
  }

  async return(): Promise<IteratorResult<Chunk, void>> {
    await this.end();
    return DONE;
  }

  /** Ends the stream in any state. Rejects if closing its source fails. */
  end(): Promise<void> {
    this.#ending ??= this.#close();
    return this.#ending;
  }

  async #close(): Promise<void> {
    const { release, response } = this.#options;
    clearTimeout(this.#durationTimer);
    clearInterval(this.#reauthorizeTimer);
    response.off('close', this.#disconnect);
    this.#abort.abort(new AppError('unavailable', 'This stream has ended.'));
    try {
      await this.#source?.return?.();
      await this.#closeSource?.();
    } finally {
      release(); // not before: until then the source may hold memory or a snapshot
    }
  }

  /** Records that the client disconnected. The opener must still end the stream. */
  readonly #disconnect = (): void => {
    this.#isDisconnected = true;
    if (this.#source) this.end().catch(() => {}); // the reader of the stream gets the error too
    else this.#abort.abort(new AppError('invalid_data', 'The client has disconnected.'));
  };

  /** Never rejects. */
  #reauthorize(): Promise<void> {
    return this.#reauthorization.run().catch((error: AppError) => this.#cut(error));
  }

  #cut(reason: AppError): void {
    if (this.signal.aborted) return;
    const { whenCut, response, onCut } = this.#options;
    onCut(reason);
    this.#abort.abort(reason);
    if (!this.#source) return; // not opened yet: `from` throws, and the response is a problem
    // While a client does not read, the response cannot end.
    if (whenCut !== 'reset' && !response.writableNeedDrain) return;
    cutResponse(response);
    this.#disconnect();
  }
}

/** Ends a response in its middle, with its connection. */
export function cutResponse(response: StreamResponse): void {
  if (response.socket) resetConnection(response.socket);
  response.destroy();
}

/**
 * Resets a connection: in the middle of a response, a regular end could pass for its end. Over TLS,
 * there is no close_notify either. Unix sockets, and connections in memory, have no reset.
 */
export function resetConnection(socket: Duplex): void {
  // Node's TLS sockets have their TCP connection in `_parent`, which its types leave out.
  const transport = (socket as Duplex & { readonly _parent?: Duplex | null })._parent ?? socket;
  const isTcp = transport instanceof Socket && transport.remoteAddress !== undefined;
  // While it shuts down, the system cannot reset it.
  if (isTcp && !transport.destroyed && !transport.writableEnded) transport.resetAndDestroy();
  socket.destroy();
}

/**
 * Checks at an interval whether a client still has its access: key or session may be revoked.
 * `reauthorize` rejects when the client has lost it; `now` is in milliseconds.
 */
export function reauthorizeAtInterval(
  reauthorize: () => Promise<void>, intervalMs: number, now = () => performance.now(),
) {
  let dueAt = now() + intervalMs;
  let pending: Promise<void> | undefined;
  return {
    /** Whether the interval has passed since the last check. */
    isDue: (): boolean => now() >= dueAt,
    /** Reauthorizes; concurrent calls share one. @throws as `reauthorize` rejects */
    run: (): Promise<void> => pending ??= reauthorize()
      .then(() => { dueAt = now() + intervalMs; })
      .finally(() => { pending = undefined; }),
  };
}
