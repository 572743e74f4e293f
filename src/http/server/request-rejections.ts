/**
 * Routes every request event of a Node server to one handler, and answers what is not a request.
 * `100 Continue` (RFC 9110 section 10.1.1) is sent only when the body is read, so no client sends
 * the body of a rejected request. CONNECT and methods unknown to the parser get 405 (section
 * 15.5.6).
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PIPELINED_REQUESTS_LIMIT } from '../limits.ts';
import { resetConnection } from '../response/guarded-stream.ts';
import { methodNotAllowedDetail, PATH_NOT_FOUND } from '../router.ts';
import type { IdleConnections } from './idle-connections.ts';
import type { LingeringConnections } from './lingering-close.ts';

interface ParserError extends Error {
  readonly code?: string;
  /** The bytes that contain the error, and how many of them were parsed. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** The methods of a request target; empty if the path does not exist. */
export type FindMethods =
  (target: string) => readonly string[] | Promise<readonly string[]>;

interface RequestOptions {
  readonly lingering: LingeringConnections;
  readonly findMethods?: FindMethods | undefined;
  /** Called once for each connection that sends something unparsable. */
  readonly onUnreadable?: () => void;
  /** Gets the connections without a request in flight. */
  readonly idle?: IdleConnections;
}

interface Connection {
  /** The latest response, complete or not. */
  latest?: ServerResponse;
  unanswered: number;
  isUnreadable: boolean;
}

/** The methods of the whole server: the target of CONNECT is not a path. */
const ALLOW = 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE';

export function handleRequests(
  server: Server, handle: RequestListener,
  { lingering, findMethods, onUnreadable, idle }: RequestOptions,
): void {
  const connections = new WeakMap<Duplex, Connection>();
  const findConnection = (socket: Duplex): Connection => {
    let connection = connections.get(socket);
    if (connection) return connection;
    connection = { unanswered: 0, isUnreadable: false };
    connections.set(socket, connection);
    return connection;
  };
  const dispatch: RequestListener = (request, response) => {
    const { socket } = request;
    const connection = findConnection(socket);
    connection.unanswered += 1;
    const addIfIdle = (): void => {
      if (connection.unanswered === 0 && request.complete) idle?.add(socket);
    };
    response.once('close', () => {
      connection.unanswered -= 1;
      if (!request.complete) request.once('end', addIfIdle); // the response was early
      addIfIdle();
    });
    // A packet may hold a thousand requests, all of which Node dispatches synchronously.
    if (connection.unanswered > PIPELINED_REQUESTS_LIMIT) resetConnection(socket);
    if (socket.destroyed) return;
    response.once('timeout', resetConnection); // Node would end the connection regularly
    connection.latest = response;
    handle(request, response);
  };
  server.on('request', dispatch);
  server.on('checkExpectation', dispatch);
  server.on('checkContinue', (request, response) => {
    sendContinueOnFirstRead(request, response);
    dispatch(request, response);
  });
  server.on('connect', ({ socket }) => {
    socket.on('error', () => socket.destroy()); // Node leaves this to the listener
    lingering.writeRawResponse(socket, 405, 'This server is not a proxy.', [ALLOW]);
  });
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    const connection = findConnection(socket);
    const isReset = error.code === 'ECONNRESET';
    if (isReset) socket.destroy();
    if (connection.isUnreadable) return; // emitted again for each further packet
    connection.isUnreadable = true;
    if (!isReset) onUnreadable?.();
    const described = describeUnparsable(error, findMethods).catch(() => UNKNOWN_METHOD);
    described.then(([status, detail, ...fields]) => {
      respondAfter(lingering, connection.latest, socket, () =>
        lingering.writeRawResponse(socket, status, detail, fields));
    }).catch(() => socket.destroy());
  });
}

/** Closes: if the body was never requested, what the client sends next may be a new request. */
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
    // The error may be in the body of an answered request: the client would take a second response
    // for that of its next request.
    if (latest.req.complete) respond();
    else lingering.close(socket);
  } else if (latest.req.complete) {
    latest.once('close', respond);
  } else if (!latest.socket) {
    // The error is in the body of the latest request, and an earlier one has no response yet.
    latest.once('socket', () => respondAfter(lingering, latest, socket, respond));
  } else if (latest.headersSent) {
    resetConnection(socket); // mid-response: the client sees that it is incomplete
  } else {
    respond();
  }
}

type Unparsable = readonly [status: number, detail: string, ...fields: string[]];

const UNPARSABLE: Readonly<Record<string, Unparsable>> = {
  HPE_HEADER_OVERFLOW: [431, 'Send fewer or shorter header fields.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Send the body without chunk extensions.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The headers did not arrive in time. Send the request again.'],
};

/** Also if the methods of the path cannot be found. */
const UNKNOWN_METHOD: Unparsable = [501, 'Use a method that this server supports, such as GET.'];

/** Rejects if `findMethods` does. */
async function describeUnparsable(
  error: ParserError, findMethods?: FindMethods,
): Promise<Unparsable> {
  const { code = '' } = error;
  const target = code === 'HPE_INVALID_METHOD' ? findTarget(error) : undefined;
  if (target === undefined) return UNPARSABLE[code] ?? [400, 'This is not an HTTP/1.1 request.'];
  if (!findMethods) return UNKNOWN_METHOD;
  const methods = (await findMethods(target)).join(', ');
  return methods === '' ? [404, PATH_NOT_FOUND]
    : [405, methodNotAllowedDetail(methods), `Allow: ${methods}`];
}

/** The target of a request line that is valid except for its unknown method, which is any token. */
function findTarget({ rawPacket, bytesParsed = 0 }: ParserError): string | undefined {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  const [line = ''] = text.slice(start).split('\n');
  return /^[\w!#$%&'*+.^`|~-]+ (\S+) HTTP\/1\.[01]\r?$/.exec(line)?.[1];
}
