/**
 * Responses as plain data, and the only place that writes them to a Node response. Only
 * `LingeringConnections` writes others: to connections without a response object.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../domain/error.ts';
import { REPORT_BUFFER_TIME_MS, RESPONSE_BUFFER_LIMIT_BYTES } from '../limits.ts';
import { cutResponse, type GuardedStream } from './guarded-stream.ts';

type Chunk = string | Uint8Array;

/** A body produced while it is sent: read once, with backpressure. */
export type Chunks = AsyncIterable<Chunk>;

/** A handler's response. A stream body is always guarded. */
export interface Reply<Stream extends Chunks = GuardedStream> {
  readonly status: number;
  /** Names in lower case; without Content-Length, which `sendReply` adds except to a stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values of Set-Cookie, the only field that may be repeated. */
  readonly cookies?: readonly string[];
  readonly body?: string | Uint8Array | Stream;
}

/** List fields: added values are appended. */
const LISTS: readonly string[] = ['link', 'vary'];

/** Fields that proxies add. */
const PROXY_FIELDS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'] as const;

/** A JSON document that no cache keeps. */
export function replyJson(body: string, fields: Reply['headers'] = {}): Reply {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', ...fields };
  return { status: 200, headers, body };
}

/** The same response with these fields added. */
export function withFields<Stream extends Chunks>(
  reply: Reply<Stream>, fields: Reply['headers'] | undefined,
): Reply<Stream> {
  if (!fields) return reply;
  const headers: Record<string, string> = { ...reply.headers, ...fields };
  for (const name of LISTS) {
    const [had, added] = [reply.headers[name], fields[name]];
    if (had !== undefined && added !== undefined) headers[name] = `${had}, ${added}`;
  }
  return { ...reply, headers };
}

export function isStream<Stream extends Chunks>(body: Reply<Stream>['body']): body is Stream {
  return typeof body === 'object' && !(body instanceof Uint8Array);
}

/**
 * The Content-Disposition that makes a browser save a response as a file (RFC 6266), with an ASCII
 * name and the exact one (RFC 8187). `name` is not a path.
 */
export function formatAttachment(name: string): string {
  const ascii = name.replace(/[^\w. -]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed())
    .replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}

/**
 * Writes the response and counts its body bytes; HEAD gets no body (RFC 9110 section 9.3.2). For a
 * stream, resolves when its end is written or the client has disconnected. A failing stream
 * resets the connection, so that the client sees that it is incomplete, and rejects.
 */
export function sendReply(
  response: ServerResponse, reply: Reply<Chunks>, counted = { sentBytes: 0 },
): Promise<void> | undefined {
  const { status, headers, cookies = [], body } = reply;
  const isHead = response.req.method === 'HEAD';
  // Alternating names and values: Node writes this form without further processing.
  const fields = ['x-content-type-options', 'nosniff'];
  for (const name in headers) fields.push(name, headers[name] ?? '');
  for (const cookie of cookies) fields.push('set-cookie', cookie);
  if (isStream(body)) {
    const begin = (): void => {
      if (!response.headersSent) response.writeHead(status, fields);
    };
    const chunks = bufferStart(body, response.req, (lengthBytes) =>
      fields.push('content-length', String(lengthBytes)));
    if (chunks === body) {
      begin();
      response.flushHeaders(); // the first chunk may take long
    }
    return stream(response, begin, chunks, isHead, counted);
  }
  if (body !== undefined) {
    const length = Buffer.byteLength(body);
    if (!isHead) counted.sentBytes = length;
    fields.push('content-length', String(length));
  }
  response.writeHead(status, fields);
  response.end(isHead ? undefined : body);
  return undefined;
}

/**
 * Leaving the loop returns the iterable. The loop starts for HEAD too: a generator that never
 * started would not release what it holds.
 */
async function stream(
  response: ServerResponse, begin: () => void, chunks: Chunks, isHead: boolean,
  counted: { sentBytes: number },
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      begin();
      if (isHead || response.destroyed) break;
      counted.sentBytes += Buffer.byteLength(chunk);
      // Once it is destroyed, its `close` may already have been emitted.
      if (!response.write(chunk) && !response.destroyed) await waitForDrain(response);
    }
    begin();
    response.end();
  } catch (error) {
    // An error caused by the client's disconnect is not a server error.
    if (response.destroyed && error instanceof AppError) return;
    cutResponse(response);
    throw error;
  }
}

/** Resolves when the client has read what was written, or has disconnected. */
async function waitForDrain(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const events = ['drain', 'close'];
  for (const event of events) response.on(event, resolve);
  await promise;
  for (const event of events) response.off(event, resolve);
}

/**
 * A response may start while its request is still arriving, which most proxies cannot handle: nginx
 * then stops forwarding the request, and if the server is slower, both wait forever. So a response
 * to a proxy, or to HTTP/1.0, is buffered until its request has arrived, up to a limit. The report
 * on a write over HTTP/1.0 is buffered to its end, so that it has a length, but only for a time:
 * proxies give up. `onEnd` gets the length if nothing was sent before the end.
 */
function bufferStart(
  chunks: Chunks, request: IncomingMessage, onEnd: (lengthBytes: number) => void,
): Chunks {
  const { headers, httpVersion, method } = request;
  const isOld = httpVersion === '1.0';
  if (isOld && method === 'POST') return buffer(chunks, request, REPORT_BUFFER_TIME_MS, onEnd);
  const isProxied = PROXY_FIELDS.some((name) => headers[name] !== undefined);
  return !request.complete && (isProxied || isOld) ? buffer(chunks, request) : chunks;
}

async function* buffer(
  chunks: Chunks, request: IncomingMessage, timeMs = 0, onEnd?: (lengthBytes: number) => void,
): AsyncGenerator<Chunk, void, undefined> {
  const until = performance.now() + timeMs;
  const buffered: Chunk[] = [];
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    buffered.push(chunk);
    sizeBytes += Buffer.byteLength(chunk);
    const isDue = request.complete && performance.now() >= until;
    if (isDue || sizeBytes > RESPONSE_BUFFER_LIMIT_BYTES) {
      onEnd = undefined;
      yield* buffered.splice(0);
    }
  }
  onEnd?.(sizeBytes);
  yield* buffered;
}
