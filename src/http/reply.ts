/** An answer as plain data, and the one place that writes answers to a socket. */
import type { ServerResponse } from 'node:http';

export interface Reply {
  readonly status: number;
  /** Names in lower case. Content-Length is not among them: `sendReply` counts it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Writes the answer; to HEAD the same one without its body (RFC 9110 section 9.3.2). */
export function sendReply(response: ServerResponse, reply: Reply, isHead: boolean): void {
  const { status, headers, body } = reply;
  // Names and values in turn: the form that Node writes without looking at it twice.
  const fields = ['x-content-type-options', 'nosniff'];
  for (const name in headers) fields.push(name, headers[name] ?? '');
  if (body !== undefined) fields.push('content-length', String(Buffer.byteLength(body)));
  response.writeHead(status, fields);
  response.end(isHead ? undefined : body);
}
