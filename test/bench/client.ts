/**
 * Single requests to a measured server. Each opens a connection of its own: one that is kept alive
 * may be closed by the server while the benchmark is busy.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import {
  type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request,
} from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { PRODUCTS_PATH } from './load/workloads.ts';

/** A server, and the key that every request sends. */
export interface Target {
  readonly port: number;
  readonly key: string;
}

const SEARCH_POLL_MS = 20;
const TAIL_CHARACTERS = 10_000;

/** A response that is not 2xx. */
class ResponseError extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`The server responded ${status}: ${text}`);
    this.status = status;
  }
}

/** Begins a request. The caller writes its body and ends it. */
export function open(
  { port, key }: Target, method: string, path: string, fields: OutgoingHttpHeaders = {},
): ClientRequest {
  const headers = { 'x-api-key': key, ...fields };
  return request({ host: '127.0.0.1', port, agent: false, method, path, headers });
}

/**
 * The last characters of the response: a report may have a line for every row.
 * @throws {ResponseError} If the response is not 2xx.
 */
export async function readTail(
  outgoing: ClientRequest, limitCharacters = TAIL_CHARACTERS,
): Promise<string> {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text = `${text}${chunk}`.slice(-limitCharacters);
  }
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) throw new ResponseError(status, text);
  return text;
}

/** The whole response. */
export function get(target: Target, path: string): Promise<string> {
  return readTail(open(target, 'GET', path).end(), Infinity);
}

/** The path of the first product. */
export async function findFirstPath(target: Target): Promise<string> {
  const { products: [first] } = JSON.parse(await get(target, `${PRODUCTS_PATH}?limit=1`));
  return `${PRODUCTS_PATH}/${first.id}`;
}

export function postJson(target: Target, path: string, value: object): Promise<string> {
  const outgoing = open(target, 'POST', path, { 'content-type': 'application/json' });
  return readTail(outgoing.end(JSON.stringify(value)));
}

/** Sends a file, and returns the last characters of the response. */
export function uploadFile(
  target: Target, path: string, type: string, file: string,
): Promise<string> {
  const outgoing = open(target, 'POST', path, { 'content-type': type });
  createReadStream(file).pipe(outgoing);
  return readTail(outgoing);
}

/** Reads a response as it arrives, and returns its number of lines. */
export async function countLines(target: Target, path: string): Promise<number> {
  const [response] = (await once(open(target, 'GET', path).end(), 'response')) as [IncomingMessage];
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  return lines;
}

/** Resolves once the search projection has caught up: until then searches get 503. */
export async function waitForSearch(target: Target): Promise<void> {
  for (;;) {
    try {
      await get(target, `${PRODUCTS_PATH}?q=number&limit=1`);
      return;
    } catch (error) {
      if (!(error instanceof ResponseError && error.status === 503)) throw error;
      await wait(SEARCH_POLL_MS);
    }
  }
}
