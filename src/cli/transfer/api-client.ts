/**
 * The HTTP client of `import` and `export`. The API key comes from the environment or a file and is
 * sent in a header, never printed. Responses are not trusted: their size is limited, and control
 * characters in them are never printed.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { RESPONSE_TIMEOUT_MS, DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import { type ApiKeySecret, parseApiKey } from '../../domain/access/api-key.ts';
import { CommandFailure, type Input, setting, UsageError } from '../command.ts';
import { findProfile } from '../remote/profile-file.ts';
import { readUrl } from '../settings.ts';
import { readErrorResponse, TemporaryFailure } from './api-error.ts';

export interface ApiServer {
  /** Without a trailing slash; its path, if any, is a prefix of `/api`. */
  readonly url: string;
  readonly key: ApiKeySecret;
}

interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the server's URL, with the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** Sent while the response is already read. */
  readonly body?: AsyncIterable<Uint8Array>;
}

/** The products of the key's seller. */
export const PRODUCTS_PATH = '/api/v1/products';

export const DEFAULT_URL = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;
const KEY_VARIABLE = 'SELLER_API_KEY';

export const URL_FLAG = { url: setting('URL', `address of the server (default: ${DEFAULT_URL})`) };

export const SERVER_FLAGS = {
  ...URL_FLAG,
  profile: setting('NAME', 'use the address and the key of this profile'),
  'key-file': {
    value: 'FILE', help: `file with the API key (default: the variable ${KEY_VARIABLE})`,
  },
};

/** Node's codes of connection errors that may be temporary. */
const TEMPORARY: readonly string[] = [
  'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'ECONNABORTED', 'EHOSTUNREACH',
  'ENETUNREACH', 'EAI_AGAIN', 'ERR_STREAM_PREMATURE_CLOSE', 'Z_BUF_ERROR',
];

/** @throws UsageError, CommandFailure */
export function readServer(input: Input): ApiServer {
  const { url, key } = findServer(input);
  if (key) return { url, key };
  throw new UsageError(`Give your API key in the variable ${KEY_VARIABLE}, with --key-file, or with`
    + ' --profile ("profile add" saves one).');
}

/** For commands that need no key, or only use one. @throws UsageError, CommandFailure */
function findServer(input: Input): Pick<ApiServer, 'url'> & Partial<ApiServer> {
  const { flags, environment } = input;
  const profile = findProfile(input);
  if (profile) return profile;
  const key = findKey(flags, environment);
  return { url: readUrl(flags, 'url') ?? DEFAULT_URL, ...(key && { key }) };
}

/**
 * Resolves with a status 200 response when it starts, possibly while the body is still being sent.
 * @throws CommandFailure, TemporaryFailure; UsageError if the server rejects the value of a flag
 */
export async function sendRequest(
  server: ApiServer, request: ApiRequest,
): Promise<IncomingMessage> {
  const outgoing = open(server, request);
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve);
    outgoing.on('error', reject); // once the response has started, its reader gets the error
  });
  let wasReached = false;
  outgoing.on('socket', (socket) => {
    socket.once('connect', () => {
      wasReached = true;
      if (request.body) void sendBody(outgoing, request.body, responded);
      else outgoing.end();
    });
  });
  try {
    const response = await responded;
    if (response.statusCode === 200) return response;
    throw await readErrorResponse(server.url, response, readBody(server, response));
  } catch (error) {
    outgoing.destroy();
    throw explainError(server, error, wasReached);
  }
}

/** The body of a response, decompressed. @throws CommandFailure, TemporaryFailure */
export async function* readBody(
  server: ApiServer, response: IncomingMessage,
): AsyncGenerator<Buffer, void, void> {
  const isCompressed = response.headers['content-encoding'] === 'gzip';
  // Errors of the response are forwarded to the decoder, and thrown below.
  const body = isCompressed ? pipeline(response, createGunzip(), () => {}) : response;
  try {
    yield* body;
  } catch (error) {
    throw explainError(server, error, true);
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
    ? requestHttps(target, { ...options, rejectUnauthorized: true, minVersion: 'TLSv1.2' })
    : requestHttp(target, options);
  outgoing.on('timeout', () => {
    outgoing.destroy(Object.assign(new Error('No response in time.'), { code: 'ETIMEDOUT' }));
  });
  return outgoing;
}

/** An error of the body's source ends the request; reading the response throws it. */
async function sendBody(
  outgoing: ClientRequest, body: AsyncIterable<Uint8Array>,
  responded: Promise<IncomingMessage>,
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
    if (outgoing.destroyed) return; // its own error, or the response, explains why
    // The cast: the file system, zlib and our own code throw only errors.
    outgoing.destroy(error as Error);
    responded.then((response) => response.destroy(error as Error), () => {});
  }
}

/** Turns a connection error into a command failure. Returns other failures unchanged. */
function explainError({ url }: ApiServer, error: unknown, wasReached: boolean): unknown {
  const isExplained = error instanceof CommandFailure || error instanceof UsageError;
  if (isExplained || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : error.message;
  const isTemporary = TEMPORARY.includes(code);
  if (!wasReached) {
    const text = `No server at ${url} (${code}). Start it, or give its address with --url.`;
    return isTemporary ? new TemporaryFailure(text, { wasReached }) : new CommandFailure(text);
  }
  if (isTemporary) return new TemporaryFailure(`The connection to ${url} broke (${code}).`);
  const hint = 'Is --url right? A private certificate authority must be in NODE_EXTRA_CA_CERTS.';
  return new CommandFailure(`The connection to ${url} failed (${code}). ${hint}`);
}

function findKey(
  flags: Input['flags'], environment: Input['environment'],
): ApiKeySecret | undefined {
  const file = flags['key-file'];
  const text = file === undefined ? environment[KEY_VARIABLE] : readFileSync(file, 'utf8');
  if (file === undefined && !text) return undefined;
  const key = parseApiKey((text ?? '').trim());
  if (key) return key;
  const where = file ?? `The variable ${KEY_VARIABLE}`;
  throw new UsageError(`${where} has no valid API key, which is spk_ and 36 characters.`);
}
