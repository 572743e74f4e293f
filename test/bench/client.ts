/**
 * Single requests to a measured server. Each opens a connection of its own: one that is kept alive
 * may be closed by the server while the benchmark is busy.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import {
  type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request,
} from 'node:http';

/** A server, and the key that every request sends. */
export interface Target {
  readonly port: number;
  readonly key: string;
}

const TAIL_CHARACTERS = 10_000;

/** A response that is not 2xx. */
export class ResponseError extends Error {
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
export async function readTail(outgoing: ClientRequest): Promise<string> {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text = `${text}${chunk}`.slice(-TAIL_CHARACTERS);
  }
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) throw new ResponseError(status, text);
  return text;
}

export function get(target: Target, path: string): Promise<string> {
  return readTail(open(target, 'GET', path).end());
}

export function postJson(target: Target, path: string, value: object): Promise<string> {
  const outgoing = open(target, 'POST', path, { 'content-type': 'application/json' });
  return readTail(outgoing.end(JSON.stringify(value)));
}

/** Sends a file; the last characters of the response. */
export function uploadFile(
  target: Target, path: string, type: string, file: string,
): Promise<string> {
  const outgoing = open(target, 'POST', path, { 'content-type': type });
  createReadStream(file).pipe(outgoing);
  return readTail(outgoing);
}

/** Reads a response as it arrives; its number of lines. */
export async function countLines(target: Target, path: string): Promise<number> {
  const [response] = (await once(open(target, 'GET', path).end(), 'response')) as [IncomingMessage];
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  return lines;
}
