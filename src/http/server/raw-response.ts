/**
 * A problem (RFC 9457) written to a connection itself, where Node has no response for it: for what
 * is not a request, and for connections that are too many. It is the last thing that they get.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { LingeringConnections } from './lingering-close.ts';
import { formatProblemType, PROBLEM_TYPE } from '../response/problem.ts';

/** Answers, and closes the connection. */
export function writeRawResponse(
  lingering: LingeringConnections, socket: Duplex, status: number, detail: string,
  fields: readonly string[] = [],
): void {
  const title = STATUS_CODES[status] ?? '';
  const type = formatProblemType(title.toLowerCase().replaceAll(' ', '-'));
  const body = JSON.stringify({ type, title, status, detail });
  lingering.close(socket, [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...fields,
    '',
    body,
  ].join('\r\n'));
}
