/**
 * Lingering close (RFC 9112 section 9.6): reads and discards what a response leaves unread of its
 * request. The kernel resets a connection that is closed while its client still sends, and the
 * reset may destroy the response. After a short body the connection stays open. Otherwise the
 * server sends FIN, and destroys the connection once its client closes it or stops sending. The
 * number, time and read rate of lingering connections are limited.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  DISCARD_LIMIT_BYTES, DISCARD_TIMEOUT_MS, LINGERING_BYTES_PER_SECOND, LINGERING_CONNECTIONS_LIMIT,
  LINGERING_IDLE_TIMEOUT_MS, LINGERING_TIMEOUT_MS,
} from '../limits.ts';
import { STATUS_CODES } from '../../runtime/node-http.ts';
import { PROBLEM_TYPE, replyWithProblem } from '../response/problem.ts';
import { type Chunks, isStream, type Reply } from '../response/reply.ts';

const LIMITS = {
  connections: LINGERING_CONNECTIONS_LIMIT,
  timeoutMs: LINGERING_TIMEOUT_MS,
  idleTimeoutMs: LINGERING_IDLE_TIMEOUT_MS,
  bytesPerSecond: LINGERING_BYTES_PER_SECOND,
  discardTimeoutMs: DISCARD_TIMEOUT_MS,
};

const SECOND_MS = 1_000;

export class LingeringConnections {
  readonly #limits: typeof LIMITS;
  /** Oldest first. */
  readonly #sockets = new Set<Duplex>();
  /** Runs for a second from the first bytes read. */
  #second: NodeJS.Timeout | undefined;
  #secondBytes = 0;
  #isStopped = false;

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Call it before the reply is written: a streamed one may still be reading the body. */
  lingerAfter(response: ServerResponse, { headers, body }: Reply<Chunks>): void {
    const { req: request } = response;
    if (isRead(request)) return;
    // A client that reads `connection: close` may stop sending (RFC 9112 section 9.5).
    if (isLong(request) && !isStream(body)) response.shouldKeepAlive = false;
    // Must run first: Node's own listener would destroy the connection after its last response.
    response.prependOnceListener('finish', () => {
      if (isRead(request)) return;
      const isLast = !response.shouldKeepAlive || headers['connection'] === 'close';
      if (!isLast && !isLong(request) && !this.#isStopped) this.#discard(request);
      else this.close(request.socket);
    });
  }

  /**
   * Writes a problem (RFC 9457) to a connection for which Node has no response object, and closes
   * it: for unparsable bytes and excess connections.
   */
  writeRawResponse(
    socket: Duplex, status: number, detail: string, fields: readonly string[] = [],
  ): void {
    const title = STATUS_CODES[status] ?? '';
    const name = title.toLowerCase().replaceAll(' ', '-');
    const { body } = replyWithProblem(status, name, title, detail);
    this.close(socket, [
      `HTTP/1.1 ${status} ${title}`,
      'Connection: close',
      `Content-Type: ${PROBLEM_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...fields,
      '',
      body,
    ].join('\r\n'));
  }

  /** Writes `last`, closes this side of the connection, and discards what still arrives. */
  close(socket: Duplex, last = ''): void {
    if (this.#sockets.has(socket)) return;
    // An in-process request has no connection.
    if (!(socket instanceof Socket)) return;
    if (!socket.writable || this.#isStopped) {
      socket.destroySoon(); // after pending writes
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
    if (this.#isPaused) socket.pause();
    else socket.resume();
    const [oldest] = this.#sockets;
    if (!oldest || this.#sockets.size <= this.#limits.connections) return;
    this.#sockets.delete(oldest); // now, since its `close` comes later
    oldest.destroy();
  }

  /** Destroys all lingering connections; from then on none lingers. */
  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Discards the rest of a body; the connection then takes the next request. */
  #discard(request: IncomingMessage): void {
    const { socket } = request;
    const stop = (): void => {
      clearTimeout(deadline);
      socket.off('close', stop);
    };
    const deadline = setTimeout(() => {
      stop();
      this.close(socket);
    }, this.#limits.discardTimeoutMs).unref();
    for (const event of ['end', 'close']) request.once(event, stop);
    socket.once('close', stop); // after its response, a request emits no `close` for that
    // A `data` listener also restarts a body whose reader gave up; `resume` alone does not.
    request.on('data', () => {}).resume();
  }

  get #isPaused(): boolean {
    return this.#secondBytes >= this.#limits.bytesPerSecond;
  }

  /** Pauses all lingering connections for the rest of a second whose byte budget is spent. */
  #count(bytes: number): void {
    this.#second ??= setTimeout(() => {
      this.#second = undefined;
      this.#secondBytes = 0;
      for (const socket of this.#sockets) socket.resume();
    }, SECOND_MS).unref();
    this.#secondBytes += bytes;
    if (this.#isPaused) for (const socket of this.#sockets) socket.pause();
  }
}

/** Whether the whole body has arrived. An in-process request is never `complete`. */
function isRead({ complete, readableEnded }: IncomingMessage): boolean {
  return complete || readableEnded;
}

/** Whether a body may be too long to discard while keeping its connection open. */
function isLong({ headers }: IncomingMessage): boolean {
  const length = headers['transfer-encoding'] === undefined ? headers['content-length'] : Infinity;
  return Number(length ?? 0) > DISCARD_LIMIT_BYTES;
}
