/**
 * Limits a server's connections, in total and per client address, and disconnects slow readers. An
 * excess connection replaces the one that has been idle for the longest time (RFC 9112 section
 * 9.5); if none is idle, it gets 503 where possible, and is closed. Addresses shared by many
 * clients (loopback and trusted proxies) count towards the total only.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer, TLSSocket } from 'node:tls';
import { isLoopback, normaliseAddress } from '../../domain/network-address.ts';
import { ConcurrencyLimiter } from '../../domain/concurrency-limiter.ts';
import { resetConnection } from '../response/guarded-stream.ts';
import {
  CONNECTION_REQUESTS_LIMIT, CONNECTIONS_LIMIT, CONNECTIONS_PER_ADDRESS_LIMIT,
  REJECTED_CONNECTIONS_LIMIT, SLOW_READER_CHECK_INTERVAL_MS, SLOW_READER_GRACE_MS,
  SLOW_READER_MIN_RATE_BYTES_PER_SECOND,
} from '../limits.ts';
import { ownerOf, makeIdleConnections } from './idle-connections.ts';
import type { LingeringConnections } from './lingering-close.ts';

interface ConnectionLimits {
  readonly total: number;
  readonly perAddress: number;
  /** Idle ones; see `makeIdleConnections`. */
  readonly idle: number;
  /** Whether many clients share an address. Default: loopback. */
  isProxy(address: string): boolean;
}

/** What a listener counts. */
export interface ConnectionMetrics {
  /** Open connections. */
  readonly open: number;
  /** Bytes received since the listener started. */
  readonly receivedBytes: number;
  /** Bytes sent since the listener started. */
  readonly sentBytes: number;
  /** Requests that the parser rejected or that timed out. */
  readonly unreadable: number;
}

/**
 * With what a client still has to read, and by when. A TLS connection is two of these: the TCP
 * connection and itself.
 */
type OpenSockets = Map<Socket, { readonly dueBytes: number; readonly dueAt: number } | undefined>;

const TOO_MANY = 'This server has too many connections.';

/** Call it before the server listens. */
export function limitConnections(
  server: Server, lingering: LingeringConnections, limits: Partial<ConnectionLimits> = {},
) {
  const {
    total = CONNECTIONS_LIMIT, perAddress = CONNECTIONS_PER_ADDRESS_LIMIT, isProxy = isLoopback,
  } = limits;
  server.maxConnections = total + REJECTED_CONNECTIONS_LIMIT;
  server.maxRequestsPerSocket = CONNECTION_REQUESTS_LIMIT;
  const accept = server.listeners('connection');
  const limiter = new ConcurrencyLimiter<string>('connections', { total, perOwner: perAddress });
  const sockets: OpenSockets = new Map();
  const idle = makeIdleConnections(limits.idle);
  const closed = { receivedBytes: 0, sentBytes: 0 };
  const track = (socket: Socket): void => {
    sockets.set(socket, undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      idle.delete(socket);
    });
  };
  server.removeAllListeners('connection');
  server.on('secureConnection', track);
  server.on('connection', (socket: Socket) => {
    track(socket);
    socket.once('close', () => addBytes(closed, socket));
    const isShared = isProxy(normaliseAddress(socket.remoteAddress ?? ''));
    const owner = isShared ? '' : ownerOf(socket);
    const limit = owner === '' ? Infinity : perAddress;
    socket.on('error', () => {}); // Node's server is not responsible for it yet
    const admit = (): void => {
      if (socket.destroyed) return;
      const release = limiter.tryAcquire(owner, limit);
      if (release) {
        socket.once('close', release);
        for (const listener of accept) listener.call(server, socket);
        return;
      }
      const isOver = limiter.isExhausted(owner, limit);
      const closing = idle.closeLongest(Infinity, isOver ? owner : undefined);
      if (closing) closing.once('close', admit);
      else if (server instanceof TlsServer) socket.destroy(); // its client waits for TLS
      else lingering.writeRawResponse(socket, 503, TOO_MANY, ['Retry-After: 5']);
    };
    admit();
  });
  const check = setInterval(disconnectSlowReaders, SLOW_READER_CHECK_INTERVAL_MS, sockets).unref();
  server.once('close', () => clearInterval(check));
  return {
    readMetrics: () => sumMetrics(sockets, closed),
    idle,
    /**
     * Closes connections that never sent anything, also since the call before: Node does not count
     * these as idle.
     */
    closeSilent: prepareCloseSilent(sockets),
    /** Also in the middle of responses. */
    resetAll: () => sockets.keys().forEach(resetConnection),
  };
}

function prepareCloseSilent(sockets: OpenSockets): () => void {
  const silent = new WeakSet<Socket>();
  return () => {
    for (const socket of sockets.keys()) {
      if (socket.bytesRead > 0) continue;
      if (silent.has(socket)) socket.destroy();
      else silent.add(socket);
    }
  };
}

/** @param closed Of the connections that have closed. */
function sumMetrics(
  sockets: OpenSockets, closed: { readonly receivedBytes: number; readonly sentBytes: number },
): Omit<ConnectionMetrics, 'unreadable'> {
  const sum = { open: 0, ...closed };
  for (const socket of sockets.keys()) {
    if (socket instanceof TLSSocket) continue;
    sum.open += 1;
    addBytes(sum, socket);
  }
  return sum;
}

function addBytes(
  sum: Record<'receivedBytes' | 'sentBytes', number>, { bytesRead, bytesWritten }: Socket,
): void {
  sum.receivedBytes += bytesRead;
  sum.sentBytes += bytesWritten;
}

/**
 * The server's own timeout ends completely stalled connections. This is for a client that reads a
 * byte now and then while the rest of its response stays in memory.
 */
function disconnectSlowReaders(sockets: OpenSockets): void {
  const now = performance.now();
  for (const [socket, backlog] of sockets) {
    const { writableLength: waitingBytes, bytesWritten } = socket;
    if (waitingBytes === 0 || (backlog && bytesWritten - waitingBytes >= backlog.dueBytes)) {
      sockets.set(socket, undefined);
    } else if (!backlog) {
      const readingMs = waitingBytes / SLOW_READER_MIN_RATE_BYTES_PER_SECOND * 1000;
      const dueAt = now + SLOW_READER_GRACE_MS + readingMs;
      sockets.set(socket, { dueBytes: bytesWritten, dueAt });
    } else if (now >= backlog.dueAt) {
      resetConnection(socket);
    }
  }
}
