/**
 * Routes every request event of a Node server to one handler, and answers what is not a request.
 * `100 Continue` (RFC 9110 section 10.1.1) is sent only when the body is read, so that no client
 * sends the body of a request that is rejected. CONNECT, and methods that the parser does not know,
 * get 405 (RFC 9110 section 15.5.6).
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PIPELINED_REQUESTS_LIMIT } from '../limits.ts';
import { methodNotAllowedDetail, PATH_NOT_FOUND } from '../router.ts';
import type { LingeringConnections } from './lingering-close.ts';

interface ParserError extends Error {
  readonly code?: string;
  /** The bytes in which the error is, and how many of them were parsed. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** The methods of a request target; empty if the path does not exist. */
export type FindMethods = (target: string) => readonly string[];

interface RequestOptions {
  readonly lingering: LingeringConnections;
  readonly findMethods?: FindMethods;
}

/** The methods of the whole server: the target of CONNECT is not a path. */
const ALLOW = 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE';

export function handleRequests(
  server: Server, handle: RequestListener, { lingering, findMethods }: RequestOptions,
): void {
  /** The latest response of each connection, finished or not. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const failed = new WeakSet<Duplex>();
  const exceedsPipelineLimit = countPipelined();
  const dispatch: RequestListener = (request, response) => {
    const { socket } = request;
    // A packet may hold a thousand requests, all of which Node dispatches synchronously.
    if (exceedsPipelineLimit(socket, response)) socket.destroy();
    if (socket.destroyed) return;
    latest.set(socket, response);
    handle(request, response);
  };
  server.on('request', dispatch);
  server.on('checkExpectation', dispatch);
  server.on('checkContinue', (request, response) => {
    sendContinueOnFirstRead(request, response);
    dispatch(request, response);
  });
  server.on('connect', ({ socket }) => {
    socket.on('error', () => socket.destroy()); // Node leaves that to this listener
    lingering.writeRawResponse(socket, 405, 'This server is not a proxy.', [ALLOW]);
  });
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    if (failed.has(socket)) return; // emitted again for each further packet
    failed.add(socket);
    const [status, detail, ...fields] = describeUnparsable(error, findMethods);
    respondAfter(lingering, latest.get(socket), socket, () =>
      lingering.writeRawResponse(socket, status, detail, fields));
  });
}

/** Returns a function that counts a request, and says whether too many are unanswered. */
function countPipelined(): (socket: Duplex, response: ServerResponse) => boolean {
  const counts = new WeakMap<Duplex, number>();
  const add = (socket: Duplex, change: number): number => {
    const count = (counts.get(socket) ?? 0) + change;
    counts.set(socket, count);
    return count;
  };
  return (socket, response) => {
    response.once('close', () => add(socket, -1));
    return add(socket, 1) > PIPELINED_REQUESTS_LIMIT;
  };
}

/** If the body was never asked for, what the client sends next may be a new request: closes. */
function sendContinueOnFirstRead(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response;
  const { _read: read } = request;
  response.shouldKeepAlive = false;
  request._read = (sizeBytes) => {
    request._read = read;
    if (!response.headersSent) {
      response.writeContinue();
      response.shouldKeepAlive = shouldKeepAlive;
    }
    request._read(sizeBytes);
  };
}

/** Responds to a parser error after the responses to the valid requests before it. */
function respondAfter(
  lingering: LingeringConnections, latest: ServerResponse | undefined, socket: Duplex,
  respond: () => void,
): void {
  if (!latest || socket.destroyed) {
    respond();
  } else if (latest.writableFinished) {
    // The error may be in the body of a request that was answered: a second response would be
    // taken for that of the next request.
    if (latest.req.complete) respond();
    else lingering.close(socket);
  } else if (latest.req.complete) {
    latest.once('close', respond);
  } else if (!latest.socket) {
    // The error is in the body of the latest request, and an earlier one is not answered yet.
    latest.once('socket', () => respondAfter(lingering, latest, socket, respond));
  } else if (latest.headersSent) {
    socket.destroy(); // in the middle of a response, which the client then sees is incomplete
  } else {
    respond();
  }
}

type Unparsable = readonly [status: number, detail: string, ...fields: string[]];

function describeUnparsable(error: ParserError, findMethods?: FindMethods): Unparsable {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'Send fewer or shorter header fields.'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'Send the body without chunk extensions.'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request arrived too slowly. Send it again.'];
    case 'HPE_INVALID_METHOD': {
      const target = findTarget(error);
      if (target !== undefined) return describeMethod(target, findMethods);
    }
  }
  return [400, 'This is not an HTTP/1.1 request.'];
}

function describeMethod(target: string, findMethods: FindMethods | undefined): Unparsable {
  if (!findMethods) return [501, 'Use a method that this server supports, such as GET.'];
  const methods = findMethods(target).join(', ');
  return methods === '' ? [404, PATH_NOT_FOUND]
    : [405, methodNotAllowedDetail(methods), `Allow: ${methods}`];
}

/**
 * The target of a request line that would be valid if Node knew its method. A method may be any
 * token.
 */
function findTarget({ rawPacket, bytesParsed = 0 }: ParserError): string | undefined {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  const [line = ''] = text.slice(start).split('\n');
  return /^[\w!#$%&'*+.^`|~-]+ (\S+) HTTP\/1\.[01]\r?$/.exec(line)?.[1];
}
