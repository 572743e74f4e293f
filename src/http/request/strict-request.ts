/**
 * Refuses, before anything else looks at it, what Node's parser lets pass and another server on the
 * way could read differently: hosts, targets, lengths and fields that are in doubt (RFC 9112
 * sections 3.2, 6.1, 6.3 and 11.2; RFC 9110 sections 5.3, 9.3 and 10.1.1). The connection of such a
 * request is ended, and nothing that follows on it is done.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../domain/error.ts';
import { HEADER_COUNT_LIMIT } from '../limits.ts';

/**
 * Fields that have one value: who sends two means one of them for somebody else. Node joins two of
 * `x-api-key`, which are no key: that is answered with 401.
 */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization', 'content-length', 'content-type', 'cookie', 'host', 'idempotency-key',
  'last-event-id', 'origin', 'referer', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site',
  'sec-fetch-user', 'transfer-encoding', 'user-agent',
]);

/** Content means nothing to them. RFC 9110 lets it be refused, as it may be another request. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'TRACE']);

/** `uri-host [ ":" port ]` of RFC 3986 section 3.2, but for the comma, which separates hosts. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(?::(\d{0,5}))?$/i;
const PORT_LIMIT = 65_535;
/** All but what is visible in ASCII; a fragment stays with its client. */
const FORBIDDEN_IN_TARGET = /[^!-~]|#/;
/** A segment of dots, however it is spelled: some servers take it, and its neighbour, away. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

export class StrictRequests {
  readonly #refused = new WeakSet<Socket>();

  /** Whether a request before this one was refused: then this may be a part of it. */
  isPipelinedAfterRejection({ socket }: IncomingMessage): boolean {
    return this.#refused.has(socket);
  }

  /** @throws AppError `bad_request`, `expectation_failed` */
  assert(request: IncomingMessage): void {
    const error = findFault(request);
    const { expect } = request.headers;
    const isExpected = expect === undefined || expect.toLowerCase() === '100-continue';
    if (error === undefined && isExpected) return;
    this.#refused.add(request.socket);
    if (error !== undefined) throw new AppError('bad_request', error);
    throw new AppError('expectation_failed', 'Send the request without the header "expect".');
  }
}

/** What to do about the first thing that is wrong; undefined where nothing is. */
function findFault(request: IncomingMessage): string | undefined {
  if (request.httpVersionMajor !== 1) return 'Send the request as HTTP/1.1.';
  return findFieldFault(request) ?? findTargetFault(request.url ?? '') ?? findBodyFault(request);
}

function findFieldFault({ headers, rawHeaders, httpVersionMinor }: IncomingMessage) {
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
  // Where there are as many names as lines, which is nearly always, no name came twice.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (seen.has(name) && SINGLE.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function findTargetFault(target: string): string | undefined {
  if (!target.startsWith('/') || target.startsWith('//')) {
    return 'Send the target of the request as a path that begins with one slash.';
  }
  if (FORBIDDEN_IN_TARGET.test(target)) {
    return 'Percent-encode the target of the request, and leave a fragment out.';
  }
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (path.includes('\\')) return 'Percent-encode the backslashes of the path.';
  if (!path.includes('/.') && !path.includes('/%2')) return undefined;
  return DOT_SEGMENT.test(path) ? 'Leave out the parts of the path that are only dots.' : undefined;
}

function findBodyFault({ method = '', headers, httpVersionMinor }: IncomingMessage) {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (httpVersionMinor === 0) return 'Send chunks as HTTP/1.1.';
    if (coding.toLowerCase() !== 'chunked') return 'Send the transfer coding "chunked" or none.';
    if (length !== undefined) return 'Send a length or chunks, and not both.';
  }
  const hasBody = coding !== undefined || Number(length ?? 0) !== 0;
  return hasBody && WITHOUT_BODY.has(method) ? `Send ${method} without a body.` : undefined;
}
