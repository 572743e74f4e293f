/**
 * Reads request bodies: small ones into memory, up to a size limit and a deadline; bodies of any
 * length as a stream, at a minimum transfer rate and with a limit on what gzip expands to.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../domain/error.ts';
import { parseJson, parseLargeJson } from './json.ts';
import {
  BODY_LIMIT_BYTES, BODY_MIN_RATE_BYTES_PER_SECOND, BODY_MIN_RATE_INTERVAL_MS,
  GZIP_RATIO_EXEMPT_BYTES, GZIP_RATIO_LIMIT, REQUEST_TIMEOUT_MS,
} from '../limits.ts';
import { pipeThroughZlib } from '../response/compression.ts';

/** A body of any length: read once, with backpressure. */
export interface BodyStream {
  /** One of the types that the route consumes. */
  readonly mediaType: string;
  /** Decompressed. @throws AppError `invalid_data`, `request_timeout`, `body_too_large` */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * The JSON value of the body, which is of one of the types in `consumes`.
 * @throws AppError `unsupported_media_type`, `body_too_large`, `invalid_json`, `request_timeout`
 */
export async function readJson(
  request: IncomingMessage, consumes: readonly string[], limitBytes = BODY_LIMIT_BYTES,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<unknown> {
  readMediaType(request, consumes);
  if (readCoding(request) !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the body without Content-Encoding.');
  }
  return parseBody(await readBody(request, limitBytes, timeoutMs), limitBytes);
}

/** @throws AppError `invalid_json`, `body_too_large` */
export async function parseBody(bytes: Buffer, limitBytes = BODY_LIMIT_BYTES): Promise<unknown> {
  if (bytes.length > limitBytes) throw tooLarge(limitBytes);
  return bytes.length <= BODY_LIMIT_BYTES ? parseJson(bytes) : parseLargeJson(bytes);
}

/** The media type of the body, which is in UTF-8. @throws AppError `unsupported_media_type` */
export function readMediaType(request: IncomingMessage, consumes: readonly string[]): string {
  const field = request.headers['content-type'];
  if (field !== undefined && consumes.includes(field)) return field;
  const parsed = parseMediaType(field);
  const charset = parsed?.params.get('charset')?.toLowerCase() ?? 'utf-8';
  if (parsed && consumes.includes(parsed.essence) && charset === 'utf-8') return parsed.essence;
  const choice = consumes.map((type) => `"content-type: ${type}"`).join(' or ');
  throw new AppError('unsupported_media_type', `Send UTF-8 with the header ${choice}.`);
}

/** @throws AppError `unsupported_media_type` */
export function openBody(request: IncomingMessage, consumes: readonly string[]): BodyStream {
  const mediaType = readMediaType(request, consumes);
  const bytes = findParsedBody(request);
  if (bytes) return { mediaType, chunks: Readable.from(bytes) };
  const coding = readCoding(request);
  if (coding === 'identity') return { mediaType, chunks: readWithMinimumRate(request) };
  if (coding === 'gzip') {
    return { mediaType, chunks: decompress(readWithMinimumRate(request), request.socket) };
  }
  const detail = 'Send the body uncompressed, or with "content-encoding: gzip".';
  throw new AppError('unsupported_media_type', detail);
}

function parseMediaType(type: string | undefined): MIMEType | undefined {
  if (type === undefined) return undefined;
  try {
    return new MIMEType(type);
  } catch {
    return undefined; // not a media type
  }
}

function readCoding({ headers }: IncomingMessage): string {
  return headers['content-encoding']?.toLowerCase() ?? 'identity';
}

/** The whole body, of any type. @throws AppError `body_too_large`, `request_timeout` */
export async function readBody(
  request: IncomingMessage, limitBytes: number, timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<Buffer> {
  const bytes = findParsedBody(request) ?? readArrived(request);
  const lengthBytes = bytes?.length ?? Number(request.headers['content-length'] ?? 0);
  if (lengthBytes > limitBytes) throw tooLarge(limitBytes);
  if (bytes) return bytes;
  if (request.destroyed) throw cutOff('invalid_json');
  return collectBody(request, limitBytes, timeoutMs);
}

/** A body that has arrived with its headers, as most do: it is complete before anyone reads it. */
function readArrived(request: IncomingMessage): Buffer | undefined {
  if (!request.complete || request.readableFlowing !== null) return undefined;
  // The cast: without an encoding, `read` returns buffers, and null for an empty body.
  return request.read() as Buffer | null ?? undefined;
}

function collectBody(
  request: IncomingMessage, limitBytes: number, timeoutMs: number,
): Promise<Buffer> {
  const deadline = performance.now() + timeoutMs;
  const chunks = readChunks(request, 'invalid_json', async () => {
    const remainingMs = deadline - performance.now();
    if (remainingMs > 0) return waitForMore(request, remainingMs);
    const detail = `The body did not arrive within ${timeoutMs / 1000} s. Send it again.`;
    throw new AppError('request_timeout', detail);
  });
  return collectChunks(chunks, limitBytes, () => tooLarge(limitBytes));
}

/** All chunks in one. @throws what `fail` returns, if they have more bytes than the limit */
export async function collectChunks(
  chunks: AsyncIterable<Buffer>, limitBytes: number, fail: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const collected: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    sizeBytes += chunk.length;
    if (sizeBytes > limitBytes) throw fail();
    collected.push(chunk);
  }
  return Buffer.concat(collected);
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('body_too_large', `The body may have at most ${limitBytes} bytes.`);
}

/** No client is left to read it; it only ends the wait. */
function cutOff(code: 'invalid_json' | 'invalid_data'): AppError {
  return new AppError(code, 'The body was cut off.');
}

/** What body parsers add to a request: only bytes replace its body. */
interface ParsedRequest extends IncomingMessage {
  /** Set by `express.raw`. */
  readonly body?: unknown;
  /** Set by NestJS with `rawBody: true`, and elsewhere by the `verify` of `express.json`. */
  readonly rawBody?: unknown;
}

/**
 * The whole body, decompressed, if middleware has read it. Parsed JSON has lost duplicate members
 * and the text of numbers, and strings their invalid UTF-8, so neither is used.
 * @throws Error if the bytes are lost: a mistake of the program, not of the client
 */
function findParsedBody(request: ParsedRequest): Buffer | undefined {
  const { readableDidRead, readableEnded, rawBody, body } = request;
  if (!readableDidRead && !readableEnded) return undefined;
  const bytes = [rawBody, body].find((value) => Buffer.isBuffer(value));
  if (readableEnded && bytes) return bytes;
  throw new Error('The request body was read before shop.handle was called. Call shop.handle before'
    + ' body parsers such as express.json(), or keep the bytes: express.json({ verify: (request,'
    + ' response, bytes) => { request.rawBody = bytes; } }), in NestJS { rawBody: true }.');
}

/**
 * Decompresses gzip, until the connection that it comes from is closed.
 * @throws AppError `invalid_data`; `body_too_large` for what expands to many times its size
 */
export async function* decompress(
  chunks: AsyncIterable<Uint8Array>, connection?: { readonly destroyed: boolean },
): AsyncGenerator<Uint8Array, void, void> {
  const gunzip = createGunzip();
  let receivedBytes = 0;
  let decodedBytes = 0;
  async function* receive(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of chunks) {
      receivedBytes += chunk.length;
      yield chunk;
    }
  }
  try {
    for await (const chunk of pipeThroughZlib(receive(), gunzip)) {
      // A few bytes may expand to many: stop as soon as the client has disconnected.
      if (connection?.destroyed) throw cutOff('invalid_data');
      decodedBytes += chunk.length;
      // `bytesWritten` counts the compressed bytes so far.
      const limitBytes = Math.max(GZIP_RATIO_EXEMPT_BYTES, gunzip.bytesWritten * GZIP_RATIO_LIMIT);
      if (decodedBytes > limitBytes) {
        const detail = `The body expands to more than ${GZIP_RATIO_LIMIT} times its size.`;
        throw new AppError('body_too_large', `${detail} Send it without content-encoding.`);
      }
      yield chunk;
    }
    // NUL bytes end the decompression, and may have been the start of another member.
    if (gunzip.bytesWritten < receivedBytes) throw new Error('Bytes follow the last member.');
  } catch (error) {
    if (error instanceof AppError) throw error;
    const detail = 'The body is not valid gzip from its start to its end. Compress it again, or '
      + 'send it uncompressed.';
    throw new AppError('invalid_data', detail, { cause: error });
  }
}

/**
 * Reads a request body of any length while the client keeps the minimum transfer rate, averaged
 * over each interval. Only time spent waiting for the client counts, not the consumer's time. If
 * the consumer stops early, the connection stays open for the response.
 * @throws AppError `request_timeout`; `invalid_data` when the body is cut off
 */
function readWithMinimumRate(request: IncomingMessage): AsyncGenerator<Buffer, void, void> {
  let waitedMs = 0;
  let earlierBytes = 0;
  return readChunks(request, 'invalid_data', async (receivedBytes) => {
    if (waitedMs >= BODY_MIN_RATE_INTERVAL_MS) {
      const rate = (receivedBytes - earlierBytes) * 1000 / BODY_MIN_RATE_INTERVAL_MS;
      if (rate < BODY_MIN_RATE_BYTES_PER_SECOND) {
        const detail = `The body arrived at less than ${BODY_MIN_RATE_BYTES_PER_SECOND} bytes/s.`;
        throw new AppError('request_timeout', `${detail} Send it again.`);
      }
      [waitedMs, earlierBytes] = [0, receivedBytes];
    }
    const startedAt = performance.now();
    await waitForMore(request, BODY_MIN_RATE_INTERVAL_MS - waitedMs);
    waitedMs += performance.now() - startedAt;
  });
}

/** Reads the chunks of a body. `wait`: waits for more, after as many bytes as were received. */
async function* readChunks(
  request: IncomingMessage, code: 'invalid_json' | 'invalid_data',
  wait: (receivedBytes: number) => Promise<void>,
): AsyncGenerator<Buffer, void, void> {
  let receivedBytes = 0;
  while (!request.readableEnded) {
    // The cast: without an encoding, `read` returns buffers, and null if none is available.
    const chunk = request.read() as Buffer | null;
    if (chunk) {
      receivedBytes += chunk.length;
      yield chunk;
    } else if (request.destroyed || request.socket.destroyed) {
      throw cutOff(code);
    } else await wait(receivedBytes);
  }
}

/** Resolves once there is something to read, the body has ended in any way, or time is up. */
async function waitForMore(request: IncomingMessage, timeoutMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const events = ['readable', 'end', 'error', 'close'];
  const { socket } = request;
  const timer = setTimeout(resolve, Math.ceil(timeoutMs));
  for (const event of events) request.on(event, resolve);
  socket.on('close', resolve); // an answered request emits no `close` itself
  await promise;
  clearTimeout(timer);
  for (const event of events) request.off(event, resolve);
  socket.off('close', resolve);
}
