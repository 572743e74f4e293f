/**
 * Rejects requests that Node's parser accepts but another server on the path could interpret
 * differently: ambiguous hosts, targets, lengths and fields (RFC 9112 sections 3.2, 6.1, 6.3 and
 * 11.2; RFC 9110 sections 5.3, 9.3 and 10.1.1). Runs before anything else reads the request. The
 * connection is closed, and nothing that follows on it is processed.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../domain/error.ts';
import { HEADER_COUNT_LIMIT } from '../limits.ts';
import { readOriginalUrl } from './target.ts';

/**
 * Fields with a single value: if there are two, another server may use the other one. A repeated
 * `x-api-key` gets 401 instead, because Node joins the two into an invalid key.
 */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization', 'content-length', 'content-type', 'cookie', 'host', 'idempotency-key',
  'last-event-id', 'origin', 'referer', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site',
  'sec-fetch-user', 'transfer-encoding', 'user-agent',
]);

/** A body has no meaning here and could hide another request; RFC 9110 allows rejecting it. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'TRACE']);

/** `uri-host [ ":" port ]` (RFC 3986 section 3.2) without commas, which would separate hosts. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(?::(\d{0,5}))?$/i;
const PORT_LIMIT = 65_535;
/** Everything but visible ASCII; clients do not send fragments. */
const FORBIDDEN_IN_TARGET = /[^!-~]|#/;
/** A dot segment in any spelling: some servers remove it together with its neighbour. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

export class StrictRequests {
  readonly #rejected = new WeakSet<Socket>();

  /** Whether an earlier request on the connection was rejected, which this one may be part of. */
  isPipelinedAfterRejection({ socket }: IncomingMessage): boolean {
    return this.#rejected.has(socket);
  }

  /** @throws AppError `bad_request`, `expectation_failed` */
  assert(request: IncomingMessage): void {
    const error = validateRequest(request);
    const { expect = '100-continue' } = request.headers;
    const isExpected = expect.toLowerCase() === '100-continue';
    if (error === undefined && isExpected) return;
    this.#rejected.add(request.socket);
    throw error !== undefined ? new AppError('bad_request', error)
      : new AppError('expectation_failed', 'Send the request without the header "expect".');
  }
}

/** What the client must change to correct the first error. */
function validateRequest(request: IncomingMessage): string | undefined {
  if (request.httpVersionMajor !== 1) return 'Send the request as HTTP/1.1.';
  return validateFields(request) ?? validateTarget(readOriginalUrl(request))
    ?? validateBody(request);
}

function validateFields({ headers, rawHeaders, httpVersionMinor }: IncomingMessage) {
  if (rawHeaders.length > 2 * HEADER_COUNT_LIMIT) {
    return `Send at most ${HEADER_COUNT_LIMIT} header fields.`;
  }
  const repeated = findRepeated(headers, rawHeaders);
  if (repeated !== undefined) return `Send the header "${repeated}" once.`;
  const { host } = headers;
  if (host === undefined ? httpVersionMinor === 0 : isHost(host)) return undefined;
  return 'Send the header "host" with the name of this server.';
}

function isHost(host: string): boolean {
  const [matched, port = ''] = HOST.exec(host) ?? [];
  return matched !== undefined && Number(port) <= PORT_LIMIT;
}

function findRepeated(
  headers: IncomingMessage['headers'], rawHeaders: readonly string[],
): string | undefined {
  // Usually there are as many names as lines, so no name is repeated.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined;
  const names = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (names.has(name) && SINGLE.has(name)) return name;
    names.add(name);
  }
  return undefined;
}

function validateTarget(target: string): string | undefined {
  if (!target.startsWith('/') || target.startsWith('//')) {
    return 'Send the request target as a path that begins with one slash.';
  }
  if (FORBIDDEN_IN_TARGET.test(target)) {
    return 'Percent-encode the request target, and omit its fragment.';
  }
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (path.includes('\\')) return 'Percent-encode backslashes in the path.';
  if (!path.includes('/.') && !path.includes('/%2')) return undefined;
  return DOT_SEGMENT.test(path) ? 'Remove the dot segments from the path.' : undefined;
}

function validateBody({ method = '', headers, httpVersionMinor }: IncomingMessage) {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (httpVersionMinor === 0) return 'Send chunks as HTTP/1.1.';
    if (coding.toLowerCase() !== 'chunked') return 'Send the transfer coding "chunked" or none.';
    if (length !== undefined) return 'Send Content-Length or Transfer-Encoding, not both.';
  }
  const hasBody = coding !== undefined || Number(length ?? 0) !== 0;
  if (!hasBody || !WITHOUT_BODY.has(method)) return undefined;
  // An HTTP/2 stream that ends with an empty DATA frame becomes an empty chunked body (HAProxy,
  // Envoy). Whether it is empty is known only once it has been read.
  return coding === undefined ? `Send ${method} without a body.`
    : `Send ${method} without a body and without Transfer-Encoding, even if the body is empty. A `
      + 'gateway from HTTP/2 adds it unless the client ends the stream with its headers.';
}
