/**
 * A problem (RFC 9457) written to a connection itself, where Node has no response for it: for what
 * is not a request, and for connections that are too many. It is the last thing that they get.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { DISCARD_LINGER_MS } from './limits.ts';
import { formatProblemType, PROBLEM_TYPE } from './problem.ts';

/** Answers, and ends the connection once its client has had the time to read that. */
export function answerRaw(
  socket: Duplex, status: number, detail: string, fields: readonly string[] = [],
): void {
  const title = STATUS_CODES[status] ?? '';
  const type = formatProblemType(title.toLowerCase().replaceAll(' ', '-'));
  const body = JSON.stringify({ type, title, status, detail });
  endInTime(socket, [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...fields,
    '',
    body,
  ].join('\r\n'));
}

/** Ends it after these last bytes, once its client has had the time to read what it was sent. */
export function endInTime(socket: Duplex, last = ''): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(last);
  // To end it at once, while its client is still sending, would be to take the answer back.
  const deadline = setTimeout(() => socket.destroy(), DISCARD_LINGER_MS);
  socket.once('close', () => clearTimeout(deadline));
}
