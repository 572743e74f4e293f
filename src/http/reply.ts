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
  const { status, body } = reply;
  const headers: Record<string, string | number> = {
    ...reply.headers,
    'x-content-type-options': 'nosniff',
  };
  if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
  response.writeHead(status, headers);
  response.end(isHead ? undefined : body);
}
