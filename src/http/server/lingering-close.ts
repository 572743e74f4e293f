/**
 * Lingering close (RFC 9112 section 9.6): what a response leaves unread of its request is read and
 * discarded. A connection that is closed while its client still sends is reset by the kernel, and
 * the reset may destroy a response that the client has not read yet. A body that is known to be
 * short is read, and the connection stays open. Otherwise the response announces the close, this
 * side is closed after it (FIN), and the connection is destroyed once its client closes it or stops
 * sending. The number, time and read rate of lingering connections are limited.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  DISCARD_LIMIT_BYTES, DISCARD_TIMEOUT_MS, LINGERING_BYTES_PER_SECOND, LINGERING_CONNECTIONS_LIMIT,
  LINGERING_IDLE_TIMEOUT_MS, LINGERING_TIMEOUT_MS,
} from '../limits.ts';
import { type Chunks, isStream, type Reply } from '../response/reply.ts';

interface LingeringLimits {
  readonly connections: number;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly bytesPerSecond: number;
  readonly discardTimeoutMs: number;
}

const LIMITS: LingeringLimits = {
  connections: LINGERING_CONNECTIONS_LIMIT,
  timeoutMs: LINGERING_TIMEOUT_MS,
  idleTimeoutMs: LINGERING_IDLE_TIMEOUT_MS,
  bytesPerSecond: LINGERING_BYTES_PER_SECOND,
  discardTimeoutMs: DISCARD_TIMEOUT_MS,
};

const SECOND_MS = 1_000;

export class LingeringConnections {
  readonly #limits: LingeringLimits;
  /** In the order in which they began. */
  readonly #sockets = new Set<Duplex>();
  /** Each ends the reading of one body whose connection stays open. */
  readonly #discards = new Set<() => void>();
  #secondStartedAt = 0;
  #secondBytes = 0;
  #pause: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(limits: Partial<LingeringLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Call it before the reply is written. One that is streamed may still be reading the body. */
  lingerAfter(response: ServerResponse, { headers, body }: Reply<Chunks>): void {
    const { req: request } = response;
    if (isRead(request)) return;
    // A client that reads `connection: close` may stop sending (RFC 9112 section 9.5).
    if (isLong(request) && !isStream(body)) response.shouldKeepAlive = false;
    // First of the listeners: Node's own would destroy the connection after its last response.
    response.prependOnceListener('finish', () => {
      if (isRead(request)) return;
      const isLast = !response.shouldKeepAlive || headers['connection'] === 'close';
      if (!isLast && !isLong(request) && !this.#isStopped) this.#discard(request);
      else this.close(request.socket);
    });
  }

  /** Closes this side of a connection after `last`, and discards what still comes. */
  close(socket: Duplex, last = ''): void {
    if (this.#sockets.has(socket)) return;
    // An in-process request has no connection.
    if (!(socket instanceof Socket)) return;
    if (!socket.writable || this.#isStopped) {
      socket.destroySoon(); // after what was written
      return;
    }
    // Detaches Node's parser: what follows is not a request.
    for (const event of ['data', 'end']) socket.removeAllListeners(event);
    socket.destroySoon = () => {};
    socket.on('data', (chunk: Buffer) => this.#count(chunk.length));
    socket.setTimeout(this.#limits.idleTimeoutMs, () => socket.destroy());
    const deadline = setTimeout(() => socket.destroy(), this.#limits.timeoutMs);
    this.#sockets.add(socket);
    socket.once('close', () => {
      clearTimeout(deadline);
      this.#sockets.delete(socket);
    });
    if (last !== '') socket.write(last);
    socket.end();
    if (this.#pause) socket.pause();
    else socket.resume();
    const [oldest] = this.#sockets;
    if (!oldest || this.#sockets.size <= this.#limits.connections) return;
    this.#sockets.delete(oldest); // `close` comes later, and the next one too many may not
    oldest.destroy();
  }

  /** Destroys the connections that linger. From now on none does, and no timer is left. */
  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.destroy();
    for (const end of this.#discards) end();
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  /** Reads the rest of a body, after which the connection takes the next request. */
  #discard(request: IncomingMessage): void {
    const { socket } = request;
    const end = (): void => {
      clearTimeout(deadline);
      this.#discards.delete(end);
      socket.off('close', end);
    };
    const deadline = setTimeout(() => {
      end();
      this.close(socket);
    }, this.#limits.discardTimeoutMs);
    this.#discards.add(end);
    for (const event of ['end', 'close']) request.once(event, end);
    socket.once('close', end); // after its response, a request does not emit `close` for that
    // A `data` listener also restarts a body whose reader gave up; `resume` alone does not.
    request.on('data', () => {}).resume();
  }

  /** Pauses all connections until the next second once the bytes of this one are used up. */
  #count(bytes: number): void {
    const now = performance.now();
    if (now - this.#secondStartedAt >= SECOND_MS) {
      this.#secondStartedAt = now;
      this.#secondBytes = 0;
    }
    this.#secondBytes += bytes;
    if (this.#secondBytes < this.#limits.bytesPerSecond || this.#pause) return;
    for (const socket of this.#sockets) socket.pause();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      for (const socket of this.#sockets) socket.resume();
    }, SECOND_MS);
  }
}

/** Whether nothing of the body is left to come. A request in process is never `complete`. */
function isRead({ complete, readableEnded }: IncomingMessage): boolean {
  return complete || readableEnded;
}

/** Whether a body may be longer than what is read to keep its connection open. */
function isLong({ headers }: IncomingMessage): boolean {
  const length = headers['transfer-encoding'] === undefined ? headers['content-length'] : Infinity;
  return Number(length ?? 0) > DISCARD_LIMIT_BYTES;
}
