/** Reads the body of a request into memory, never more than its limit. */
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { BODY_LIMIT_BYTES, DISCARD_LIMIT_BYTES } from '../config.ts';
import { AppError } from '../domain/error.ts';
import { parseJson } from './json.ts';

/**
 * The JSON value of the body.
 * @throws AppError `unsupported_media_type`, `body_too_large`, `invalid_json`
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  assertJson(request);
  return parseJson(await readBody(request, BODY_LIMIT_BYTES));
}

/**
 * Reads on after an early answer, so that the client can read it and use the connection again;
 * where too much would follow, ends the connection instead.
 */
export function discardBody(request: IncomingMessage): void {
  let seenBytes = 0;
  request.on('data', (chunk: Buffer) => {
    seenBytes += chunk.length;
    if (seenBytes > DISCARD_LIMIT_BYTES) request.destroy();
  });
  request.resume();
}

function assertJson(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the body without Content-Encoding.');
  }
  const type = request.headers['content-type'];
  if (type === 'application/json') return;
  const parsed = parseMediaType(type);
  const charset = parsed?.params.get('charset')?.toLowerCase() ?? 'utf-8';
  if (parsed?.essence !== 'application/json' || charset !== 'utf-8') {
    const detail = 'Send the header "content-type: application/json".';
    throw new AppError('unsupported_media_type', detail);
  }
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

function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
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
    request.on('data', collect);
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', breakOff);
    request.on('close', () => {
      if (!request.readableEnded) breakOff(); // a body that broke off unheard has no `error`
    });
  });
}
