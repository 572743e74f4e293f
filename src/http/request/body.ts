/**
 * Reads the body of a request: the whole of a small one into memory, never more than its limit and
 * not for longer than its deadline, or one of any length as a stream.
 */
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { createGunzip } from 'node:zlib';
import { AppError, type ErrorCode } from '../../domain/error.ts';
import { pipeThroughZlib } from './content-coding.ts';
import { parseJson, parseLargeJson } from './json.ts';
import {
  BODY_LIMIT_BYTES, GZIP_RATIO_EXEMPT_BYTES, GZIP_RATIO_LIMIT, REQUEST_TIMEOUT_MS,
} from '../limits.ts';
import { readWithMinimumRate } from '../minimum-transfer-rate.ts';

/** A body of any length: read once, and no faster than its reader takes it. */
export interface BodyStream {
  /** One of the types that are consumed. */
  readonly mediaType: string;
  /**
   * Without its content coding.
   * @throws AppError `invalid_data` where it breaks off, `request_timeout`, `body_too_large`
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

/** The type of the body, in UTF-8. @throws AppError `unsupported_media_type` */
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

/** The whole body, of whatever type. @throws AppError `body_too_large`, `request_timeout` */
export function readBody(
  request: IncomingMessage, limitBytes: number, timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    assertUnread(request);
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let deadline: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(deadline);
      request.off('data', collect);
    };
    const fail = (code: ErrorCode, detail: string): void => {
      end();
      reject(new AppError(code, detail));
    };
    const refuse = (): void =>
      fail('body_too_large', `The body may have at most ${limitBytes} bytes.`);
    // Nobody is left to read this refusal; it ends the wait.
    const breakOff = (): void => fail('invalid_json', 'The body broke off.');
    const giveUp = (): void => {
      const detail = `The body did not come within ${timeoutMs / 1000} s. Send it again at once.`;
      fail('request_timeout', detail);
    };
    const collect = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) chunks.push(chunk);
      else refuse();
    };
    if (request.destroyed) {
      breakOff();
      return;
    }
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
      refuse();
      return;
    }
    // Most bodies have come with their headers.
    if (!request.complete) deadline = setTimeout(giveUp, timeoutMs);
    request.on('data', collect);
    request.on('error', breakOff);
    request.on('end', () => {
      end();
      resolve(Buffer.concat(chunks));
    });
    request.on('close', () => {
      if (!request.readableEnded) breakOff(); // a body that broke off unheard has no `error`
    });
  });
}

/**
 * The output of another body parser cannot replace the body: it has lost duplicate members and the
 * text of numbers.
 */
function assertUnread({ readableDidRead, readableEnded }: IncomingMessage): void {
  if (!readableDidRead && !readableEnded) return;
  throw new Error('The request body was read before app.handle was called. Mount the app before'
    + ' body parsers such as express.json().');
}

async function* decompress(request: IncomingMessage): AsyncGenerator<Uint8Array, void, void> {
  let [seenBytes, madeBytes] = [0, 0];
  async function* count(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of readWithMinimumRate(request)) {
      seenBytes += chunk.length;
      yield chunk;
    }
  }
  try {
    for await (const chunk of pipeThroughZlib(count(), createGunzip())) {
      // A little that has come may become very much: nobody works on for a client that is gone.
      if (request.socket.destroyed) throw new AppError('invalid_data', 'The body broke off.');
      madeBytes += chunk.length;
      if (madeBytes > GZIP_RATIO_EXEMPT_BYTES && madeBytes > seenBytes * GZIP_RATIO_LIMIT) {
        const detail = `The body is more than ${GZIP_RATIO_LIMIT} times as large as it came.`;
        throw new AppError('body_too_large', `${detail} Send it without content-encoding.`);
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_data', 'The body is not whole in gzip.', { cause: error });
  }
}
