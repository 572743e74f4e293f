/**
 * Answers `Request` objects without a socket: each travels over a pair of streams in memory to a
 * `node:http` server that listens nowhere. So Node parses it, and every check and limit of the
 * server applies, as if it came from a network.
 */
import {
  createServer, type IncomingMessage, request as sendRequest, type RequestListener,
} from 'node:http';
import type { Socket } from 'node:net';
import { duplexPair, type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

/** Statuses whose responses have no body: `Response` accepts none. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

interface FetchHandler {
  fetch(request: Request): Promise<Response>;
  close(): void;
}

/** Makes a `fetch` of a request handler. */
export function createFetch(handle: RequestListener): FetchHandler {
  const server = createServer({ requestTimeout: 0 }, handle);
  return {
    async fetch(request) {
      const [client, remote] = duplexPair();
      server.emit('connection', remote);
      const response = await send(request, client);
      const { statusCode: status = 500, rawHeaders } = response;
      const body = WITHOUT_BODY.has(status) || request.method === 'HEAD' ? null : toWeb(response);
      if (!body) response.resume();
      return new Response(body, { status, headers: toPairs(rawHeaders) });
    },
    close: () => void server.close(),
  };
}

function send(request: Request, connection: Duplex): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, headers, body, signal } = request;
  const url = new URL(request.url);
  const outgoing = sendRequest({
    method, signal, host: url.hostname, path: url.pathname + url.search,
    headers: { host: url.host, ...Object.fromEntries(headers), connection: 'close' },
    // The cast: Node accepts any duplex stream, and its types do not say so.
    createConnection: () => connection as Socket,
  });
  outgoing.on('response', resolve);
  outgoing.on('error', reject);
  if (!body) outgoing.end();
  // An error of the body, or of the connection, arrives where the response is awaited.
  else pipeline(Readable.fromWeb(body as NodeReadableStream), outgoing).catch(reject);
  return promise;
}

function toWeb(response: IncomingMessage): ReadableStream<Uint8Array> {
  // The cast: Node's type of the same class.
  return Readable.toWeb(response) as ReadableStream<Uint8Array>;
}

function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, n) =>
    [rawHeaders[2 * n] ?? '', rawHeaders[2 * n + 1] ?? '']);
}
