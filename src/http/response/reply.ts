/**
 * An answer as plain data, and the one place that writes it to a response. Only `raw-answer.ts`
 * writes other answers: to connections for which Node has no response object.
 */
import type { ServerResponse } from 'node:http';
import { AppError } from '../../domain/error.ts';
import type { GuardedStream } from './guarded-stream.ts';
import { bufferUntilRequestEnd } from './response-buffer.ts';

/** A body that is made while it is sent: read once, and no faster than its client takes it. */
export type Chunks = AsyncIterable<string | Uint8Array>;

/** The answer of a handler. If its body is a stream, it is a guarded one. */
export interface Reply<Stream extends Chunks = GuardedStream> {
  readonly status: number;
  /** Names in lower case. Content-Length is not among them: `sendReply` counts it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values of Set-Cookie, which is the one field that may come several times. */
  readonly cookies?: readonly string[];
  readonly body?: string | Uint8Array | Stream;
}

/** Fields that are lists: what is added to them follows what they have. */
const LISTS: readonly string[] = ['link', 'vary'];

/** The same answer with these fields too, if there are any. */
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
 * Writes the answer; to HEAD the same one without its body (RFC 9110 section 9.3.2). Where the body
 * is a stream, resolves once its end is written or its client is gone. A stream that fails ends the
 * connection, so that nobody takes what was sent of it for the whole, and rejects. The bytes of the
 * body are counted.
 */
export function sendReply(
  response: ServerResponse, reply: Reply<Chunks>, counted: Counted = { sentBytes: 0 },
): Promise<void> | undefined {
  const { status, headers, cookies = [], body } = reply;
  const isHead = response.req.method === 'HEAD';
  // Names and values in turn: the form that Node writes without looking at it twice.
  const fields = ['x-content-type-options', 'nosniff'];
  for (const name in headers) fields.push(name, headers[name] ?? '');
  for (const cookie of cookies) fields.push('set-cookie', cookie);
  if (isStream(body)) {
    response.writeHead(status, fields);
    const chunks = bufferUntilRequestEnd(body, response.req);
    if (chunks === body) response.flushHeaders(); // the first chunk may be long in coming
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

/** Bytes of a body that were given to its connection. */
interface Counted {
  sentBytes: number;
}

/**
 * Leaving the loop returns the iterable. It is begun in any case, for HEAD too: a generator that
 * never began would not release what it holds.
 */
async function stream(
  response: ServerResponse, chunks: Chunks, isHead: boolean, counted: Counted,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (isHead || response.destroyed) break;
      counted.sentBytes += Buffer.byteLength(chunk);
      // Once it is destroyed, its `close` may have come and gone.
      if (!response.write(chunk) && !response.destroyed) await waitForDrain(response);
    }
    response.end();
  } catch (error) {
    // What the leaving of its client has broken is no fault of this server.
    if (response.destroyed && error instanceof AppError) return;
    response.destroy();
    throw error;
  }
}

/** Resolves once the client has taken what was written, or is gone. */
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
