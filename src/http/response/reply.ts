/**
 * Responses as plain data, and the one place that writes them to a Node response. Only
 * `LingeringConnections` writes responses elsewhere: to connections without a response object.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../domain/error.ts';
import { RESPONSE_BUFFER_LIMIT_BYTES } from '../limits.ts';
import type { GuardedStream } from './guarded-stream.ts';

type Chunk = string | Uint8Array;

/** A body that is produced while it is sent: read once, with backpressure. */
export type Chunks = AsyncIterable<Chunk>;

/** The response of a handler. If its body is a stream, it is a guarded one. */
export interface Reply<Stream extends Chunks = GuardedStream> {
  readonly status: number;
  /** Names in lower case; without Content-Length, which `sendReply` adds. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values of Set-Cookie, the one field that may occur several times. */
  readonly cookies?: readonly string[];
  readonly body?: string | Uint8Array | Stream;
}

/** Fields that are lists: added values are appended. */
const LISTS: readonly string[] = ['link', 'vary'];

/** Fields that proxies add. */
const PROXY_FIELDS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'] as const;

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
 * The Content-Disposition that makes a browser save a response as a file (RFC 6266), with the name
 * in ASCII and its exact form (RFC 8187). `name` is not a path.
 */
export function formatAttachment(name: string): string {
  const ascii = name.replace(/[^\w. -]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed())
    .replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}

/**
 * Writes the response, and counts the bytes of its body; for HEAD without it (RFC 9110 section
 * 9.3.2). For a stream, resolves once its end is written or the client has disconnected. A stream
 * that fails destroys the connection, so that the client sees that it is incomplete, and rejects.
 */
export function sendReply(
  response: ServerResponse, reply: Reply<Chunks>, counted = { sentBytes: 0 },
): Promise<void> | undefined {
  const { status, headers, cookies = [], body } = reply;
  const isHead = response.req.method === 'HEAD';
  // Alternating names and values: the form that Node writes without processing it again.
  const fields = ['x-content-type-options', 'nosniff'];
  for (const name in headers) fields.push(name, headers[name] ?? '');
  for (const cookie of cookies) fields.push('set-cookie', cookie);
  if (isStream(body)) {
    response.writeHead(status, fields);
    const chunks = bufferUntilRequestEnd(body, response.req);
    if (chunks === body) response.flushHeaders(); // the first chunk may take long
    return stream(response, chunks, isHead, counted);
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
 * Leaving the loop returns the iterable. The loop starts in any case, for HEAD too: a generator
 * that never started would not release what it holds.
 */
async function stream(
  response: ServerResponse, chunks: Chunks, isHead: boolean, counted: { sentBytes: number },
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (isHead || response.destroyed) break;
      counted.sentBytes += Buffer.byteLength(chunk);
      // Once it is destroyed, its `close` may already have been emitted.
      if (!response.write(chunk) && !response.destroyed) await waitForDrain(response);
    }
    response.end();
  } catch (error) {
    // An error that follows from the client's disconnecting is not the server's.
    if (response.destroyed && error instanceof AppError) return;
    response.destroy();
    throw error;
  }
}

/** Resolves once the client has read what was written, or has disconnected. */
function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

/**
 * Responses may start while their request is still arriving. Proxies mostly cannot handle that:
 * nginx stops forwarding the request once the response starts, and if the server is slower, both
 * wait forever. So a response to a proxy, or to HTTP/1.0, is buffered until its request has
 * arrived, up to a limit.
 */
function bufferUntilRequestEnd(chunks: Chunks, request: IncomingMessage): Chunks {
  if (request.complete) return chunks;
  const { headers, httpVersion } = request;
  const isProxied = PROXY_FIELDS.some((name) => headers[name] !== undefined);
  return isProxied || httpVersion === '1.0' ? buffer(chunks, request) : chunks;
}

async function* buffer(
  chunks: Chunks, request: IncomingMessage,
): AsyncGenerator<Chunk, void, undefined> {
  const buffered: Chunk[] = [];
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    buffered.push(chunk);
    sizeBytes += Buffer.byteLength(chunk);
    if (request.complete || sizeBytes > RESPONSE_BUFFER_LIMIT_BYTES) yield* buffered.splice(0);
  }
  yield* buffered;
}
