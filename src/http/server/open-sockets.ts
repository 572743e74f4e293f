/** The connections of a server that are open now. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

type SocketEvent = 'connection' | 'secureConnection';

/** Call it before the server listens. `events` are those by which it tells of a connection. */
export function trackSockets(server: Server, ...events: SocketEvent[]): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  for (const event of events) {
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  }
  return sockets;
}
