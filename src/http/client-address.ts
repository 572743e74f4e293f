/** The address that a request came from: the socket's own. Forwarded headers count for nothing. */
import type { IncomingMessage } from 'node:http';
import { normaliseAddress } from '../domain/address.ts';

/** Empty for a socket that has no address (a Unix socket, or one that is closed already). */
export function readClientAddress(request: IncomingMessage): string {
  return normaliseAddress(request.socket.remoteAddress ?? '');
}
