/**
 * Limits the connections of a server, in total and per client address, and disconnects slow
 * readers. An excess connection gets 503 where that can be said, and is closed. Addresses that
 * speak for many clients (loopback and trusted proxies) count towards the total only.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { rateLimitPrefix, isLoopback, normaliseAddress } from '../../domain/network-address.ts';
import { ConcurrencyLimiter } from '../concurrency-limiter.ts';
import {
  CONNECTION_REQUESTS_LIMIT, CONNECTIONS_LIMIT, CONNECTIONS_PER_ADDRESS_LIMIT,
  REJECTED_CONNECTIONS_LIMIT, SLOW_READER_CHECK_INTERVAL_MS, SLOW_READER_GRACE_MS,
  SLOW_READER_MIN_RATE_BYTES_PER_SECOND,
} from '../limits.ts';
import { MinimumTransferRate } from '../minimum-transfer-rate.ts';
import type { LingeringConnections } from './lingering-close.ts';

interface ConnectionLimits {
  readonly total: number;
  readonly perAddress: number;
  /** Whether an address speaks for many clients. Default: loopback. */
  isProxy(address: string): boolean;
}

/** What a client has yet to read, and by when. */
interface Backlog {
  readonly dueBytes: number;
  readonly dueAt: number;
}

export interface ConnectionMetrics {
  readonly open: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Requests that the parser rejected or that timed out. */
  readonly unreadable: number;
}

type ConnectionEvent = 'connection' | 'secureConnection';

/** Call it before the server listens. */
export function limitConnections(
  server: Server, lingering: LingeringConnections, limits: Partial<ConnectionLimits> = {},
): void {
  const {
    total = CONNECTIONS_LIMIT, perAddress = CONNECTIONS_PER_ADDRESS_LIMIT, isProxy = isLoopback,
  } = limits;
  server.maxConnections = total + REJECTED_CONNECTIONS_LIMIT;
  server.maxRequestsPerSocket = CONNECTION_REQUESTS_LIMIT;
  const isTls = server instanceof TlsServer;
  const accept = server.listeners('connection');
  const limiter = new ConcurrencyLimiter<string>('connections', { total, perOwner: perAddress });
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const address = normaliseAddress(socket.remoteAddress ?? '');
    const isClient = address !== '' && !isProxy(address);
    const release = isClient ? limiter.tryAcquire(rateLimitPrefix(address))
      : limiter.tryAcquire('', Infinity);
    if (!release) {
      reject(socket, isTls, lingering);
      return;
    }
    socket.once('close', release);
    for (const listener of accept) listener.call(server, socket);
  });
  disconnectSlowReaders(server, isTls ? 'secureConnection' : 'connection');
}

/** The open connections of a server. Call it before the server listens. */
export function trackSockets(server: Server, ...events: ConnectionEvent[]): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  for (const event of events) {
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  }
  return sockets;
}

/** Starts counting; call the function that it returns to read the metrics. */
export function countConnections(server: Server): () => ConnectionMetrics {
  const open = trackSockets(server, 'connection');
  let [closedReceivedBytes, closedSentBytes, unreadable] = [0, 0, 0];
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => {
      closedReceivedBytes += socket.bytesRead;
      closedSentBytes += socket.bytesWritten;
    });
  });
  const failed = new WeakSet<Duplex>();
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || failed.has(socket)) return;
    failed.add(socket);
    unreadable += 1;
  });
  return () => {
    let [receivedBytes, sentBytes] = [closedReceivedBytes, closedSentBytes];
    for (const socket of open) {
      receivedBytes += socket.bytesRead;
      sentBytes += socket.bytesWritten;
    }
    return { open: open.size, receivedBytes, sentBytes, unreadable };
  };
}

/** A client that speaks TLS would not understand a response. */
function reject(socket: Socket, isTls: boolean, lingering: LingeringConnections): void {
  socket.on('error', () => socket.destroy());
  if (isTls) {
    socket.destroy();
    return;
  }
  const detail = 'This server has too many connections.';
  lingering.writeRawResponse(socket, 503, detail, ['Retry-After: 5']);
}

/**
 * The server's timeout ends connections on which nothing moves at all. This is for the client that
 * reads a byte now and then while the rest of its response stays in memory.
 */
function disconnectSlowReaders(server: Server, event: ConnectionEvent): void {
  const sockets = trackSockets(server, event);
  const minimumRate = new MinimumTransferRate(
    SLOW_READER_MIN_RATE_BYTES_PER_SECOND, SLOW_READER_GRACE_MS,
  );
  const backlogs = new WeakMap<Socket, Backlog>();
  const check = setInterval(() => {
    const now = performance.now();
    for (const socket of sockets) {
      const { writableLength: waitingBytes, bytesWritten } = socket;
      const backlog = backlogs.get(socket);
      if (waitingBytes === 0 || (backlog && bytesWritten - waitingBytes >= backlog.dueBytes)) {
        backlogs.delete(socket);
      } else if (!backlog) {
        const dueAt = now + minimumRate.allowedMs(waitingBytes);
        backlogs.set(socket, { dueBytes: bytesWritten, dueAt });
      } else if (now >= backlog.dueAt) {
        socket.destroy();
      }
    }
  }, SLOW_READER_CHECK_INTERVAL_MS);
  check.unref();
  server.once('close', () => clearInterval(check));
}
