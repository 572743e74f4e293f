/**
 * Every event by which a server of Node tells of a request, led to one handler; and answers to what
 * is none. A body is invited (`100 Continue`, RFC 9110 section 10.1.1) only by whoever reads it, so
 * that none is sent for a request that is refused. CONNECT, and methods that the parser does not
 * know, are answered with 405 (RFC 9110 section 15.5.6).
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PIPELINED_REQUESTS_LIMIT } from '../limits.ts';
import type { LingeringConnections } from './lingering-close.ts';
import { writeRawResponse } from './raw-response.ts';

interface ParserError extends Error {
  readonly code?: string;
  /** What had come of the connection with the fault, and how much of it was understood. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** The methods of a request target; empty if the path does not exist. */
export type FindMethods = (target: string) => readonly string[];

interface RequestOptions {
  readonly lingering: LingeringConnections;
  readonly findMethods?: FindMethods;
}

/** The methods of the whole server, for CONNECT, whose target is not a path. */
const ALLOW = 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE';

export function handleRequests(
  server: Server, handle: RequestListener, { lingering, findMethods }: RequestOptions,
): void {
  /** The last answer that each connection waits for, or has had. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const failed = new WeakSet<Duplex>();
  const exceedsPipelineLimit = countUnanswered();
  const dispatch: RequestListener = (request, response) => {
    const { socket } = request;
    // A packet may hold a thousand requests, and Node hands all of them on in one turn.
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
    socket.on('error', () => socket.destroy()); // Node has left it to this listener
    writeRawResponse(lingering, socket, 405, 'This server is no proxy.', [ALLOW]);
  });
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    if (failed.has(socket)) return; // each further packet is told of, too
    failed.add(socket);
    const [status, detail, ...fields] = describeUnparsable(error, findMethods);
    answerAfter(lingering, latest.get(socket), socket, () =>
      writeRawResponse(lingering, socket, status, detail, fields));
  });
}

/** Whether a connection has more requests now than may wait for their answers. */
function countUnanswered(): (socket: Duplex, response: ServerResponse) => boolean {
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

/** A client that did not have to send its body may take what it sends next for a new request. */
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

/** Lets the answers to good requests, which came before the fault, be sent first. */
function answerAfter(
  lingering: LingeringConnections, response: ServerResponse | undefined, socket: Duplex,
  answer: () => void,
): void {
  if (!response || socket.destroyed) {
    answer();
  } else if (response.writableFinished) {
    // In the body of a request that was answered, it has no answer of its own: one more would be
    // taken for that of the next request.
    if (response.req.complete) answer();
    else lingering.close(socket);
  } else if (response.req.complete) {
    response.once('close', answer);
  } else if (!response.socket) {
    // The fault is in the body of the last request, and an earlier one is not answered yet.
    response.once('socket', () => answerAfter(lingering, response, socket, answer));
  } else if (response.headersSent) {
    socket.destroy(); // in the middle of an answer, which so is seen not to be whole
  } else {
    answer();
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
      return [408, 'The request came too slowly. Send it again at once.'];
    case 'HPE_INVALID_METHOD': {
      const target = findTarget(error);
      if (target !== undefined) return describeMethod(target, findMethods);
    }
  }
  return [400, 'This is not a request of HTTP/1.1.'];
}

function describeMethod(target: string, findMethods: FindMethods | undefined): Unparsable {
  if (!findMethods) return [501, 'Send a method that this server has, such as GET.'];
  const methods = findMethods(target).join(', ');
  return methods === '' ? [404, 'There is nothing at this path. Look for a misspelling.']
    : [405, `This path answers ${methods}.`, `Allow: ${methods}`];
}

/**
 * The target of a request line that would be valid if Node knew its method, which may be any token.
 */
function findTarget({ rawPacket, bytesParsed = 0 }: ParserError): string | undefined {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  const [line = ''] = text.slice(start).split('\n');
  return /^[\w!#$%&'*+.^`|~-]+ (\S+) HTTP\/1\.[01]\r?$/.exec(line)?.[1];
}
