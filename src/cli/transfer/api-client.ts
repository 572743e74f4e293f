/**
 * Asks a running server on behalf of a command. The key comes from the environment or from a file
 * and goes into a header, nowhere else: no argument, no text and no error has it. What a server
 * sends is not trusted: it is limited, and shown without what could steer a terminal.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as askPlainly,
} from 'node:http';
import { request as askSecurely } from 'node:https';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { RESPONSE_TIMEOUT_MS, DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import { type ApiKeySecret, parseApiKey } from '../../domain/access/api-key.ts';
import { CommandFailure, type Input, UsageError } from '../command.ts';
import { readErrorResponse } from './api-error.ts';
import { TemporaryFailure } from './retry.ts';

export interface ApiServer {
  /** Without a slash at its end; its path, if any, stands before `/api`. */
  readonly url: string;
  readonly key: ApiKeySecret;
}

interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Below the URL of the server, with its query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** Sent while the answer is read already. */
  readonly body?: AsyncIterable<Uint8Array>;
}

/** All products of the key's seller. */
export const PRODUCTS_PATH = '/api/v1/products';

const DEFAULT_URL = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;
const KEY_VARIABLE = 'SELLER_API_KEY';

export const SERVER_FLAGS = {
  url: { value: 'URL', help: `where the server is (default: ${DEFAULT_URL})`, isSetting: true },
  'key-file': {
    value: 'FILE', help: `file that has the API key (default: the variable ${KEY_VARIABLE})`,
  },
};

/** Failures of a connection that may pass, by the codes that Node gives them. */
const TEMPORARY: readonly string[] = [
  'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'ECONNABORTED', 'EHOSTUNREACH',
  'ENETUNREACH', 'EAI_AGAIN', 'ERR_STREAM_PREMATURE_CLOSE', 'Z_BUF_ERROR',
];

/** The server and the key that the flags and the environment name. @throws UsageError */
export function readServer({ flags, environment }: Input): ApiServer {
  return { url: readUrl(flags['url'] ?? DEFAULT_URL), key: readKey(flags, environment) };
}

/**
 * Resolves with an answer of status 200 as soon as it begins, while the body may still be sent.
 * @throws CommandFailure, TemporaryFailure; UsageError where the server refuses a flag's value
 */
export async function ask(server: ApiServer, request: ApiRequest): Promise<IncomingMessage> {
  const outgoing = open(server, request);
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve);
    outgoing.on('error', reject); // once there is an answer, its own end tells
  });
  let wasReached = false;
  outgoing.on('socket', (socket) => {
    socket.once('connect', () => {
      wasReached = true;
      if (request.body) void sendBody(outgoing, request.body, answered);
      else outgoing.end();
    });
  });
  try {
    const answer = await answered;
    if (answer.statusCode === 200) return answer;
    throw await readErrorResponse(server.url, answer, readAnswer(server, answer));
  } catch (error) {
    outgoing.destroy();
    throw explainBreak(server, error, wasReached);
  }
}

/** The body of an answer, decoded. @throws CommandFailure, TemporaryFailure */
export async function* readAnswer(
  server: ApiServer, answer: IncomingMessage,
): AsyncGenerator<Buffer, void, void> {
  const isCompressed = answer.headers['content-encoding'] === 'gzip';
  // What goes wrong in the answer goes on to the decoder, and comes out of it below.
  const body = isCompressed ? pipeline(answer, createGunzip(), () => {}) : answer;
  try {
    yield* body;
  } catch (error) {
    throw explainBreak(server, error, true);
  }
}

function open(
  { url, key }: ApiServer, { method, path, headers }: ApiRequest,
): ClientRequest {
  const target = new URL(url + path);
  const options = {
    method, headers: { ...headers, 'x-api-key': key }, agent: false, timeout: RESPONSE_TIMEOUT_MS,
  };
  const outgoing = target.protocol === 'https:'
    ? askSecurely(target, { ...options, rejectUnauthorized: true, minVersion: 'TLSv1.2' })
    : askPlainly(target, options);
  outgoing.on('timeout', () => {
    outgoing.destroy(Object.assign(new Error('No answer for too long.'), { code: 'ETIMEDOUT' }));
  });
  return outgoing;
}

/** A fault of the body's source ends the request, and comes out where its answer is read. */
async function sendBody(
  outgoing: ClientRequest, body: AsyncIterable<Uint8Array>, answered: Promise<IncomingMessage>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  try {
    for await (const chunk of body) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(chunk)) await once(outgoing, 'drain', { signal: gone.signal });
    }
    outgoing.end();
  } catch (error) {
    if (outgoing.destroyed) return; // its own error, or the answer, says why
    // What is thrown here is an error: of the file system, of zlib, or one of ours.
    outgoing.destroy(error as Error);
    answered.then((answer) => answer.destroy(error as Error), () => {}); // or it has failed too
  }
}

/** What broke, in words; a failure that was put into words before stays as it is. */
function explainBreak({ url }: ApiServer, error: unknown, wasReached: boolean): unknown {
  if (!(error instanceof Error) || isExplained(error)) return error;
  const code = 'code' in error ? String(error.code) : error.message;
  const isTemporary = TEMPORARY.includes(code);
  if (!wasReached) {
    const text = `No server answers at ${url} (${code}). Start it, or say with --url where it is.`;
    return isTemporary ? new TemporaryFailure(text, { wasReached }) : new CommandFailure(text);
  }
  if (isTemporary) return new TemporaryFailure(`The connection to ${url} broke (${code}).`);
  const hint = 'Is --url right? Name the certificate of an authority of your own in'
    + ' NODE_EXTRA_CA_CERTS.';
  return new CommandFailure(`The connection to ${url} failed (${code}). ${hint}`);
}

function isExplained(error: Error): boolean {
  return error instanceof CommandFailure || error instanceof UsageError;
}

function readUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && !url.search && !url.hash && !url.username && !url.password;
  if (isPlain && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new UsageError('--url takes an address such as https://shop.example, without a user.');
}

function readKey(flags: Input['flags'], environment: Input['environment']): ApiKeySecret {
  const file = flags['key-file'];
  const text = file === undefined ? environment[KEY_VARIABLE] || undefined
    : readFileSync(file, 'utf8');
  if (text === undefined) {
    throw new UsageError(`Give your API key: in the variable ${KEY_VARIABLE}, or by --key-file.`);
  }
  const key = parseApiKey(text.trim());
  if (key) return key;
  const where = file === undefined ? `The variable ${KEY_VARIABLE}` : file;
  throw new UsageError(`${where} has no API key of this kind of server: spk_ and 36 characters.`);
}
