/**
 * Connections that wait for a request; those that have received more since then are skipped. A
 * server may close them at any time (RFC 9112 section 9.5), but a request that is sent at the same
 * time fails. So only as many are closed as needed, the longest idle first.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { rateLimitPrefix, normaliseAddress } from '../../domain/network-address.ts';
import { IDLE_CLOSE_AFTER_MS, IDLE_CONNECTIONS_LIMIT } from '../limits.ts';

interface IdleSocket {
  readonly since: number;
  /** More than that once the next request has begun to arrive. */
  readonly bytesRead: number;
  readonly owner: string;
}

export type IdleConnections = ReturnType<typeof makeIdleConnections>;

/** @param limit Default: as many as leave half of the files that the process may open. */
export function makeIdleConnections(
  limit = Math.min(IDLE_CONNECTIONS_LIMIT, readOpenFileLimit() / 2),
) {
  const sockets = new Map<Socket, IdleSocket>();

  function closeLongest(idleSince: number, owner?: string): Socket | undefined {
    for (const [socket, idle] of sockets) {
      if (idle.since > idleSince) return undefined;
      if (owner !== undefined && owner !== idle.owner) continue;
      sockets.delete(socket); // if it is not idle, it is added again later
      if (socket.bytesRead === idle.bytesRead) return socket.destroy();
    }
    return undefined;
  }

  return {
    /** All requests of the connection are answered. Closes those beyond the limit. */
    add(socket: Socket): void {
      if (socket.destroyed) return;
      const owner = sockets.get(socket)?.owner ?? ownerOf(socket);
      sockets.delete(socket); // so that it becomes the last one
      const since = performance.now();
      sockets.set(socket, { since, bytesRead: socket.bytesRead, owner });
      while (sockets.size > limit && closeLongest(since - IDLE_CLOSE_AFTER_MS));
    },
    /** The connection has closed. */
    delete: (socket: Socket) => sockets.delete(socket),
    /**
     * Closes and returns the connection that has been idle for the longest time, if there is one.
     * @param idleSince Only one that is idle since then.
     * @param owner Only one of this owner.
     */
    closeLongest,
  };
}

/** The address or network by which a client's connections are limited; empty if unknown. */
export function ownerOf({ remoteAddress = '' }: Socket): string {
  return rateLimitPrefix(normaliseAddress(remoteAddress));
}

/** How many files and sockets the process may have open; `Infinity` if that is not known. */
export function readOpenFileLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity; // a system without it
  }
}
