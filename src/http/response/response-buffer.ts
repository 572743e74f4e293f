/**
 * Answers that begin while their request is still coming. A client that reads and writes at once
 * gets them at once. A proxy mostly does not: nginx stops handing on the request where its answer
 * has begun and the server is slower, and both then wait for ever. For a request that came by a
 * proxy, or by HTTP/1.0, an answer is held until the end of the request.
 */
import type { IncomingMessage } from 'node:http';
import { RESPONSE_BUFFER_LIMIT_BYTES } from '../limits.ts';

type Chunk = string | Uint8Array;

/** Fields that proxies add. */
const PROXY_FIELDS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'] as const;

/** The same chunks, the first of them when the request has come; themselves where they need not. */
export function bufferUntilRequestEnd(
  chunks: AsyncIterable<Chunk>, request: IncomingMessage,
): AsyncIterable<Chunk> {
  if (request.complete) return chunks;
  const { headers, httpVersion } = request;
  const isProxied = PROXY_FIELDS.some((name) => headers[name] !== undefined);
  return isProxied || httpVersion === '1.0' ? hold(chunks, request) : chunks;
}

async function* hold(
  chunks: AsyncIterable<Chunk>, request: IncomingMessage,
): AsyncGenerator<Chunk, void, undefined> {
  let held: Chunk[] | undefined = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    if (!held) {
      yield chunk;
      continue;
    }
    held.push(chunk);
    heldBytes += Buffer.byteLength(chunk);
    if (!request.complete && heldBytes <= RESPONSE_BUFFER_LIMIT_BYTES) continue;
    yield* held;
    held = undefined;
  }
  if (held) yield* held;
}
