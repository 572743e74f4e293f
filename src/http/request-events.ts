/**
 * Every event by which a server of Node tells of a request, led to one handler; and answers to what
 * is none. A body is invited (`100 Continue`, RFC 9110 section 10.1.1) only by whoever reads it, so
 * that none is sent for a request that is refused. CONNECT, and methods that the parser does not
 * know, are answered with 405 (RFC 9110 section 15.5.6).
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PIPELINED_REQUESTS_LIMIT } from './limits.ts';
import { answerRaw, endInTime } from './raw-answer.ts';

interface ParserError extends Error {
  readonly code?: string;
  /** What had come of the connection with the fault, and how much of it was understood. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Of the whole server: which path is meant is known to nobody here. */
const ALLOW = 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE';

export function handleRequests(server: Server, handle: RequestListener): void {
  /** The last answer that each connection waits for, or has had. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const failed = new WeakSet<Duplex>();
  const isTooMuch = countUnanswered();
  const lead: RequestListener = (request, response) => {
    const { socket } = request;
    // A packet may hold a thousand requests, and Node hands all of them on in one turn.
    if (isTooMuch(socket, response)) socket.destroy();
    if (socket.destroyed) return;
    latest.set(socket, response);
    handle(request, response);
  };
  server.on('request', lead);
  server.on('checkExpectation', lead);
  server.on('checkContinue', (request, response) => {
    inviteOnceRead(request, response);
    lead(request, response);
  });
  server.on('connect', (_, socket: Duplex) => {
    socket.on('error', () => socket.destroy()); // Node has left it to this listener
    answerRaw(socket.resume(), 405, 'This server is no proxy.', [ALLOW]);
  });
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    if (failed.has(socket)) return; // each further packet is told of, too
    failed.add(socket);
    const [status, detail] = describeUnparsable(error);
    const fields = status === 405 ? [ALLOW] : [];
    answerAfter(latest.get(socket), socket, () => answerRaw(socket, status, detail, fields));
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
function inviteOnceRead(request: IncomingMessage, response: ServerResponse): void {
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
  response: ServerResponse | undefined, socket: Duplex, answer: () => void,
): void {
  if (!response || socket.destroyed) {
    answer();
  } else if (response.writableFinished) {
    // In the body of a request that was answered, it has no answer of its own: one more would be
    // taken for that of the next request.
    if (response.req.complete) answer();
    else endInTime(socket);
  } else if (response.req.complete) {
    response.once('close', answer);
  } else if (!response.socket) {
    // The fault is in the body of the last request, and an earlier one is not answered yet.
    response.once('socket', () => answerAfter(response, socket, answer));
  } else if (response.headersSent) {
    socket.destroy(); // in the middle of an answer, which so is seen not to be whole
  } else {
    answer();
  }
}

function describeUnparsable(error: ParserError): readonly [status: number, detail: string] {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'Send fewer or shorter header fields.'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'Send the body without chunk extensions.'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request came too slowly. Send it again at once.'];
    case 'HPE_INVALID_METHOD':
      if (isRequestLine(error)) return [405, 'Send a method that this server has, such as GET.'];
  }
  return [400, 'This is not a request of HTTP/1.1.'];
}

/** Whether this is a line that the parser would take if it knew the method, which is any token. */
function isRequestLine({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  return /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?$/m.test(text.slice(start).split('\n')[0] ?? '');
}
