/**
 * Limits a server's connections, in total and per client address, and disconnects slow readers. An
 * excess connection gets 503 where possible, and is closed. Addresses shared by many clients
 * (loopback and trusted proxies) count towards the total only.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer, TLSSocket } from 'node:tls';
import { rateLimitPrefix, isLoopback, normaliseAddress } from '../../domain/network-address.ts';
import { ConcurrencyLimiter } from '../concurrency-limiter.ts';
import {
  CONNECTION_REQUESTS_LIMIT, CONNECTIONS_LIMIT, CONNECTIONS_PER_ADDRESS_LIMIT,
  REJECTED_CONNECTIONS_LIMIT, SLOW_READER_CHECK_INTERVAL_MS, SLOW_READER_GRACE_MS,
  SLOW_READER_MIN_RATE_BYTES_PER_SECOND,
} from '../limits.ts';
import type { LingeringConnections } from './lingering-close.ts';

interface ConnectionLimits {
  readonly total: number;
  readonly perAddress: number;
  /** Whether many clients share an address. Default: loopback. */
  isProxy(address: string): boolean;
}

export interface ConnectionMetrics {
  readonly open: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Requests that the parser rejected or that timed out. */
  readonly unreadable: number;
}

/**
 * With what a client still has to read, and by when. A TLS connection is two of these: the TCP
 * connection and itself.
 */
type OpenSockets = Map<Socket, { readonly dueBytes: number; readonly dueAt: number } | undefined>;

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
  const closed = { receivedBytes: 0, sentBytes: 0 };
  const track = (socket: Socket): void => {
    sockets.set(socket, undefined);
    socket.once('close', () => sockets.delete(socket));
  };
  server.removeAllListeners('connection');
  server.on('secureConnection', track);
  server.on('connection', (socket: Socket) => {
    track(socket);
    socket.once('close', () => {
      closed.receivedBytes += socket.bytesRead;
      closed.sentBytes += socket.bytesWritten;
    });
    const address = normaliseAddress(socket.remoteAddress ?? '');
    const isClient = address !== '' && !isProxy(address);
    const release = isClient ? limiter.tryAcquire(rateLimitPrefix(address))
      : limiter.tryAcquire('', Infinity);
    if (!release) {
      reject(socket, server instanceof TlsServer, lingering);
      return;
    }
    socket.once('close', release);
    for (const listener of accept) listener.call(server, socket);
  });
  const check = setInterval(disconnectSlowReaders, SLOW_READER_CHECK_INTERVAL_MS, sockets).unref();
  server.once('close', () => clearInterval(check));
  return {
    readMetrics(): Omit<ConnectionMetrics, 'unreadable'> {
      const sum = { open: 0, ...closed };
      for (const socket of sockets.keys()) {
        if (socket instanceof TLSSocket) continue;
        sum.open += 1;
        sum.receivedBytes += socket.bytesRead;
        sum.sentBytes += socket.bytesWritten;
      }
      return sum;
    },
    /** Closes connections that never sent anything: Node does not count these as idle. */
    closeSilent(): void {
      for (const socket of sockets.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

/** A TLS client would not understand a plain response. */
function reject(socket: Socket, isTls: boolean, lingering: LingeringConnections): void {
  socket.on('error', () => socket.destroy());
  if (isTls) socket.destroy();
  else {
    const detail = 'This server has too many connections.';
    lingering.writeRawResponse(socket, 503, detail, ['Retry-After: 5']);
  }
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
      socket.destroy();
    }
  }
}
