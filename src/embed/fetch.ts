/**
 * Answers `Request` objects without a socket: each travels over a pair of streams in memory to a
 * `node:http` server that listens nowhere. So Node parses it, and every check and limit of the
 * server applies, as if it came from a network.
 */
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { addAbortSignal, duplexPair, type Duplex, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { wrongArgument } from '../domain/arguments.ts';
import { DISCARD_LIMIT_BYTES } from '../http/limits.ts';
import { createServer, request as sendRequest } from '../runtime/node-http.ts';

/** Statuses whose responses have no body: `Response` accepts none. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Fields about the connection in memory (RFC 9110 section 7.6.1), not about the message. */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set(['connection', 'transfer-encoding']);

/** Makes a `fetch` of a request handler. */
export function createFetch(handle: RequestListener) {
  const server = createServer({ requestTimeout: 0 }, handle);
  return {
    async fetch(request: Request): Promise<Response> {
      if (typeof request?.url !== 'string') throw wrongArgument('fetch', 'Must be a Request.');
      request.signal.throwIfAborted();
      const response = await send(request, () =>
        connect((remote) => server.emit('connection', remote)));
      const { statusCode: status = 500, rawHeaders } = response;
      const body = WITHOUT_BODY.has(status) || request.method === 'HEAD' ? null
        // The cast: Node's type of the same class.
        : Readable.toWeb(addAbortSignal(request.signal, response)) as ReadableStream<Uint8Array>;
      if (!body) response.resume();
      return new Response(body, { status, headers: toPairs(rawHeaders) });
    },
    close: () => void server.close(),
  };
}

/** The client's end of a connection in memory. Like a socket, it closes when the other end does. */
function connect(accept: (remote: Duplex) => void): Duplex {
  const [client, remote] = duplexPair();
  client.once('close', () => remote.destroy());
  remote.once('close', () => {
    if (!remote.writableFinished) client.destroy();
  });
  accept(remote);
  return client;
}

/** @throws The reason of the request's signal, or the error of its body */
function send(request: Request, createConnection: () => Duplex): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, headers, body, signal } = request;
  const url = new URL(request.url);
  // A program that replaces the body of a request may leave the length of the old one.
  const fields = [...headers].filter(([name]) =>
    name !== 'content-length' && !CONNECTION_FIELDS.has(name));
  const outgoing = sendRequest({
    method, signal, host: url.hostname, path: url.pathname + url.search,
    headers: {
      host: url.host, ...Object.fromEntries(fields), connection: 'close',
      ...(body && { 'transfer-encoding': 'chunked' }),
    },
    // The cast: Node accepts any duplex stream, and its types do not say so.
    createConnection: createConnection as () => Socket,
  });
  outgoing.on('response', resolve);
  outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error));
  if (!body) outgoing.end();
  else writeBody(body, outgoing, signal).catch((error) => outgoing.destroy(error));
  return promise;
}

/**
 * Writes a body until the response has ended. Then it discards the rest of a short one, so that its
 * client's connection takes the next request. The rest of a long one is left and not cancelled: a
 * host may take cancellation for the loss of its client, and close the connection too early.
 */
async function writeBody(
  body: ReadableStream<Uint8Array>, outgoing: ClientRequest, signal: AbortSignal,
): Promise<void> {
  const reader = body.getReader(); // throws if the program has read it
  const closed = once(outgoing, 'close').then(() => undefined);
  outgoing.flushHeaders(); // the first chunk may take long
  try {
    for (;;) {
      const step = await Promise.race([closed, reader.read()]);
      if (!step || step.done) break;
      if (outgoing.write(step.value)) continue;
      await Promise.race([once(outgoing, 'drain'), closed]);
      await setImmediate(); // nothing here waits for a network: others need the event loop
    }
    outgoing.end();
    for (let sizeBytes = 0; sizeBytes < DISCARD_LIMIT_BYTES;) {
      const { done, value } = await reader.read();
      if (done) break;
      sizeBytes += value.length;
    }
  } finally {
    if (signal.aborted) await reader.cancel(signal.reason);
    reader.releaseLock();
  }
}

function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, n): [string, string] =>
    [rawHeaders[2 * n] ?? '', rawHeaders[2 * n + 1] ?? ''])
    .filter(([name]) => !CONNECTION_FIELDS.has(name.toLowerCase()));
}
