/**
 * Reads the body of a request: the whole of a small one into memory, never more than its limit and
 * not for longer than its deadline, or one of any length as a stream.
 */
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { createGunzip } from 'node:zlib';
import { AppError } from '../domain/error.ts';
import { recode } from './coding.ts';
import { parseJson, parseLargeJson } from './json.ts';
import {
  BODY_LIMIT_BYTES, DISCARD_LIMIT_BYTES, DISCARD_LINGER_MS, GZIP_FREE_BYTES, GZIP_RATIO_LIMIT,
  REQUEST_TIMEOUT_MS,
} from './limits.ts';
import { readPaced } from './paced-body.ts';

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
  const coding = readCoding(request);
  if (coding === 'identity') return { mediaType, chunks: readPaced(request) };
  if (coding === 'gzip') return { mediaType, chunks: decompress(request) };
  const detail = 'Send the body as it is, or compressed with "content-encoding: gzip".';
  throw new AppError('unsupported_media_type', detail);
}

/**
 * Reads on after an early answer, so that the client can read it and use the connection again;
 * where too much follows, or for too long, ends the connection instead.
 */
export function discardBody(
  request: IncomingMessage, timeoutMs = REQUEST_TIMEOUT_MS, onEnd = (): void => {},
): void {
  const { socket } = request;
  if (socket.destroyed) return;
  let seenBytes = 0;
  let deadline = setTimeout(() => request.destroy(), timeoutMs);
  request.on('data', (chunk: Buffer) => {
    seenBytes += chunk.length;
    if (seenBytes <= DISCARD_LIMIT_BYTES) return;
    // To end it at once would be to take the answer back from a client that is still writing.
    request.pause();
    clearTimeout(deadline);
    deadline = setTimeout(() => request.destroy(), DISCARD_LINGER_MS);
  });
  const finish = (): void => {
    clearTimeout(deadline);
    socket.off('close', finish);
    onEnd();
  };
  request.once('close', finish);
  socket.once('close', finish); // of which a request that was answered is not told
  request.resume();
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
    const refuse = (): void =>
      reject(new AppError('body_too_large', `The body may have at most ${limitBytes} bytes.`));
    // Nobody is left to read this refusal; it ends the wait.
    const breakOff = (): void => reject(new AppError('invalid_json', 'The body broke off.'));
    if (request.destroyed) {
      breakOff();
      return;
    }
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
      refuse();
      return;
    }
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const collect = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      request.off('data', collect);
      refuse();
    };
    const giveUp = (): void => {
      request.off('data', collect);
      const detail = `The body did not come within ${timeoutMs / 1000} s. Send it again at once.`;
      reject(new AppError('request_timeout', detail));
    };
    // Most bodies have come with their headers.
    const deadline = request.complete ? undefined : setTimeout(giveUp, timeoutMs);
    request.on('data', collect);
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', breakOff);
    request.on('close', () => {
      clearTimeout(deadline);
      if (!request.readableEnded) breakOff(); // a body that broke off unheard has no `error`
    });
  });
}

async function* decompress(request: IncomingMessage): AsyncGenerator<Uint8Array, void, void> {
  let [seenBytes, madeBytes] = [0, 0];
  async function* count(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of readPaced(request)) {
      seenBytes += chunk.length;
      yield chunk;
    }
  }
  try {
    for await (const chunk of recode(count(), createGunzip())) {
      // A little that has come may become very much: nobody works on for a client that is gone.
      if (request.socket.destroyed) throw new AppError('invalid_data', 'The body broke off.');
      madeBytes += chunk.length;
      if (madeBytes > GZIP_FREE_BYTES && madeBytes > seenBytes * GZIP_RATIO_LIMIT) {
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
