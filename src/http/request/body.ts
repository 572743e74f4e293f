/**
 * Reads request bodies: small ones into memory, up to a size limit and a deadline; bodies of any
 * length as a stream, at a minimum transfer rate and with a limit on what gzip expands to.
 */
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { createGunzip } from 'node:zlib';
import { AppError, type ErrorCode } from '../../domain/error.ts';
import { parseJson, parseLargeJson } from './json.ts';
import {
  BODY_LIMIT_BYTES, GZIP_RATIO_EXEMPT_BYTES, GZIP_RATIO_LIMIT, REQUEST_TIMEOUT_MS,
} from '../limits.ts';
import { readWithMinimumRate } from '../minimum-transfer-rate.ts';
import { pipeThroughZlib } from '../response/compression.ts';

/** A body of any length: read once, with backpressure. */
export interface BodyStream {
  /** One of the types that the route consumes. */
  readonly mediaType: string;
  /**
   * Decompressed.
   * @throws AppError `invalid_data` if it is cut off; `request_timeout`, `body_too_large`
   */
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
  const bytes = await readBody(request, limitBytes, timeoutMs);
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
  assertUnread(request);
  const coding = readCoding(request);
  if (coding === 'identity') return { mediaType, chunks: readWithMinimumRate(request) };
  if (coding === 'gzip') return { mediaType, chunks: decompress(request) };
  const detail = 'Send the body as it is, or compressed with "content-encoding: gzip".';
  throw new AppError('unsupported_media_type', detail);
}

function parseMediaType(type: string | undefined): MIMEType | undefined {
  if (type === undefined) return undefined;
  try {
    return new MIMEType(type);
  } catch (error) {
    if (error instanceof TypeError) return undefined; // not a media type
    throw error;
  }
}

function readCoding({ headers }: IncomingMessage): string {
  return headers['content-encoding']?.toLowerCase() ?? 'identity';
}

/** The whole body, of any type. @throws AppError `body_too_large`, `request_timeout` */
export function readBody(
  request: IncomingMessage, limitBytes: number, timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    assertUnread(request);
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let deadline: NodeJS.Timeout | undefined;
    const stop = (): void => {
      clearTimeout(deadline);
      request.off('data', collect);
    };
    const fail = (code: ErrorCode, detail: string): void => {
      stop();
      reject(new AppError(code, detail));
    };
    const failTooLarge = (): void =>
      fail('body_too_large', `The body may have at most ${limitBytes} bytes.`);
    // No client is left to read this error; it ends the wait.
    const failCutOff = (): void => fail('invalid_json', 'The body was cut off.');
    const failTimeout = (): void => {
      const detail = `The body did not arrive within ${timeoutMs / 1000} s. Send it again.`;
      fail('request_timeout', detail);
    };
    const collect = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) chunks.push(chunk);
      else failTooLarge();
    };
    if (request.destroyed) {
      failCutOff();
      return;
    }
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
      failTooLarge();
      return;
    }
    // Most bodies have arrived with their headers.
    if (!request.complete) deadline = setTimeout(failTimeout, timeoutMs);
    request.on('data', collect);
    request.on('error', failCutOff);
    request.on('end', () => {
      stop();
      resolve(Buffer.concat(chunks));
    });
    request.on('close', () => {
      // Without a listener, a body that is cut off emits no `error`.
      if (!request.readableEnded) failCutOff();
    });
  });
}

/**
 * The output of another body parser cannot replace the body: duplicate members and the text of
 * numbers are lost.
 */
function assertUnread({ readableDidRead, readableEnded }: IncomingMessage): void {
  if (!readableDidRead && !readableEnded) return;
  throw new Error('The request body was read before app.handle was called. Mount the app before'
    + ' body parsers such as express.json().');
}

async function* decompress(request: IncomingMessage): AsyncGenerator<Uint8Array, void, void> {
  let [receivedBytes, decodedBytes] = [0, 0];
  async function* count(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of readWithMinimumRate(request)) {
      receivedBytes += chunk.length;
      yield chunk;
    }
  }
  try {
    for await (const chunk of pipeThroughZlib(count(), createGunzip())) {
      // A few bytes may expand to very many: stops when the client has disconnected.
      if (request.socket.destroyed) throw new AppError('invalid_data', 'The body was cut off.');
      decodedBytes += chunk.length;
      const limitBytes = Math.max(GZIP_RATIO_EXEMPT_BYTES, receivedBytes * GZIP_RATIO_LIMIT);
      if (decodedBytes > limitBytes) {
        const detail = `The body expands to more than ${GZIP_RATIO_LIMIT} times its size.`;
        throw new AppError('body_too_large', `${detail} Send it without content-encoding.`);
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_data', 'The body is not valid gzip.', { cause: error });
  }
}
