/**
 * How many connections a server has, in all and of one client, and how slowly a client may read.
 * One that is too many is told so (503) where that can be said, and ended. Who speaks for many
 * clients, which is this machine itself or a proxy that is trusted, counts in all alone.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { rateLimitPrefix, isLoopback, normaliseAddress } from '../../domain/network-address.ts';
import {
  CONNECTION_REQUESTS_LIMIT, CONNECTIONS_LIMIT, CONNECTIONS_PER_ADDRESS_LIMIT,
  REJECTED_CONNECTIONS_LIMIT, SLOW_READER_CHECK_INTERVAL_MS, SLOW_READER_GRACE_MS,
  SLOW_READER_MIN_RATE_BYTES_PER_SECOND,
} from '../limits.ts';
import type { LingeringConnections } from './lingering-close.ts';
import { trackSockets } from './open-sockets.ts';
import { writeRawResponse } from './raw-response.ts';

interface ConnectionLimits {
  readonly all: number;
  readonly perAddress: number;
  /** Whether an address is that of somebody who speaks for many clients. Default: loopback. */
  isProxy(address: string): boolean;
}

/** What of an answer a client has not taken yet, and until when it has to. */
interface Backlog {
  readonly dueBytes: number;
  readonly dueAt: number;
}

/** Call it before the server listens. */
export function limitConnections(
  server: Server, lingering: LingeringConnections, limits: Partial<ConnectionLimits> = {},
): void {
  const {
    all = CONNECTIONS_LIMIT, perAddress = CONNECTIONS_PER_ADDRESS_LIMIT, isProxy = isLoopback,
  } = limits;
  server.maxConnections = all + REJECTED_CONNECTIONS_LIMIT;
  server.maxRequestsPerSocket = CONNECTION_REQUESTS_LIMIT;
  const isTls = server instanceof TlsServer;
  const accept = server.listeners('connection');
  let total = 0;
  const counts = new Map<string, number>();
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const address = normaliseAddress(socket.remoteAddress ?? '');
    const isCounted = address !== '' && !isProxy(address);
    const name = isCounted ? rateLimitPrefix(address) : '';
    const count = counts.get(name) ?? 0;
    if (total >= all || (isCounted && count >= perAddress)) {
      refuse(socket, isTls, lingering);
      return;
    }
    total += 1;
    counts.set(name, count + 1);
    socket.once('close', () => {
      total -= 1;
      const left = (counts.get(name) ?? 0) - 1;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    });
    for (const listener of accept) listener.call(server, socket);
  });
  endSlowReaders(server, isTls ? 'secureConnection' : 'connection');
}

/** A client that speaks TLS would not understand an answer. */
function refuse(socket: Socket, isTls: boolean, lingering: LingeringConnections): void {
  socket.on('error', () => socket.destroy());
  if (isTls) socket.destroy();
  else {
    const detail = 'This server has too many connections.';
    writeRawResponse(lingering, socket, 503, detail, ['Retry-After: 5']);
  }
}

/**
 * That nothing moves at all is seen by the timeout of the server. This is for the client that takes
 * a byte now and then, and holds the rest of its answer in memory.
 */
function endSlowReaders(server: Server, event: 'connection' | 'secureConnection'): void {
  const sockets = trackSockets(server, event);
  const backlogs = new WeakMap<Socket, Backlog>();
  const check = setInterval(() => {
    const now = performance.now();
    for (const socket of sockets) {
      const { writableLength: waitingBytes, bytesWritten } = socket;
      const backlog = backlogs.get(socket);
      if (waitingBytes === 0 || (backlog && bytesWritten - waitingBytes >= backlog.dueBytes)) {
        backlogs.delete(socket);
      } else if (!backlog) {
        const waitMs = SLOW_READER_GRACE_MS
          + waitingBytes / SLOW_READER_MIN_RATE_BYTES_PER_SECOND * 1000;
        backlogs.set(socket, { dueBytes: bytesWritten, dueAt: now + waitMs });
      } else if (now >= backlog.dueAt) {
        socket.destroy();
      }
    }
  }, SLOW_READER_CHECK_INTERVAL_MS);
  check.unref();
  server.once('close', () => clearInterval(check));
}
