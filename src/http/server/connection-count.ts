/** Counts the connections of a server, what goes over them, and what comes that is no request. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ConnectionMetrics {
  readonly open: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** What the parser refused, or waited for in vain. */
  readonly unreadable: number;
}

/** Begins to count; call what it returns to read. */
export function countConnections(server: Server): () => ConnectionMetrics {
  const open = new Set<Socket>();
  let [receivedBytes, sentBytes, unreadable] = [0, 0, 0];
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      receivedBytes += socket.bytesRead;
      sentBytes += socket.bytesWritten;
    });
  });
  const failed = new WeakSet<Duplex>();
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || failed.has(socket)) return;
    failed.add(socket);
    unreadable += 1;
  });
  return () => {
    let [received, sent] = [receivedBytes, sentBytes];
    for (const socket of open) {
      received += socket.bytesRead;
      sent += socket.bytesWritten;
    }
    return { open: open.size, receivedBytes: received, sentBytes: sent, unreadable };
  };
}
