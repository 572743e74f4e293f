/**
 * Sends requests: with the key, a time limit, and retries where a repeated request is safe. Every
 * change carries an Idempotency-Key that stays the same across retries, so the server applies it
 * once. Uses `fetch` alone, so it runs wherever that does.
 */
import { type Backoff, retryDelayMs } from '../runtime/backoff.ts';
import { ApiError, ConnectionError } from './errors.ts';
import {
  COUNT, DELAY, findIssues, FUNCTION, invalidArguments, type OptionTable, type ReceivedResponse,
  required,
} from './options.ts';
import { openResponse, openUpload, readProblem, Silence } from './response.ts';
import type { ApiRequest, ApiResponse, Query, Sender } from './sender.ts';

/** How a client reaches the server. */
export interface TransportOptions {
  /** Where the server is, with its path if it has one: `https://shop.example/shop`. */
  readonly baseUrl: string | URL;
  /**
   * The API key. It is sent as a header and to no other origin. Null for none: in the pages of a
   * program that signs its users in itself (`authenticate` of the shop), with the page's cookies.
   */
  readonly key: string | null;
  /**
   * How long the server may be silent, in milliseconds, before and within a response. Default
   * 60,000: a request may wait for changes for 30 s, and live streams send something every 15 s.
   */
  readonly timeoutMs?: number | undefined;
  /** How often a failed request is repeated at most. Default 4; 0 for never. */
  readonly retries?: number | undefined;
  /**
   * Longest body that is read as a whole, in characters: all but exports and reports, of which only
   * a line is kept. Default 32,000,000; the results of 10,000 stock changes take a few million.
   */
  readonly responseLimitCharacters?: number | undefined;
  /** Default: the runtime's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Called before each attempt: it may add header fields, such as `traceparent`. */
  readonly onRequest?: ((request: SentRequest) => void) | undefined;
  /** Called with each response, before its body is read. */
  readonly onResponse?: ((response: ReceivedResponse) => void) | undefined;
}

/** A request that is about to be sent, without its body. */
export interface SentRequest extends Omit<ReceivedResponse, 'status'> {
  /** Its fields, without the API key. Fields that a hook sets are sent. */
  readonly headers: Headers;
}

const OPEN_OPTIONS: OptionTable<OpenOptions> = {
  baseUrl: [(value) => findBaseUrl(value) !== undefined, 'an http or https URL without a query',
    'required'],
  key: [(value) => value === null || (typeof value === 'string' && /^[!-~]+$/.test(value)),
    'an API key: spk_ and 36 letters and digits'],
  timeoutMs: DELAY, retries: COUNT, responseLimitCharacters: COUNT, fetch: FUNCTION,
  onRequest: FUNCTION, onResponse: FUNCTION,
};

export const CLIENT_OPTIONS: typeof OPEN_OPTIONS = {
  ...OPEN_OPTIONS, key: required(OPEN_OPTIONS.key),
};

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_RETRIES = 4;
const DEFAULT_RESPONSE_LIMIT_CHARACTERS = 32_000_000;
/** The first retry comes soon; a restart of the server takes some seconds. */
const BACKOFF: Backoff = { firstMs: 250, limitMs: 30_000 };
/** Statuses after which the same request may succeed. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** Codes of connections that fail in the same way next time: unknown hosts, TLS, no HTTP. */
const FINAL = /ENOTFOUND|BLOCKED|CERT|SIGNATURE|ALTNAME|TLS|SSL|EPROTO|HPE_/;

/** Browsers send no stream, or not over HTTP/1.1: there, a body is sent as a whole. */
const IS_PAGE = Boolean(Reflect.get(globalThis, 'location')); // Deno has one that is undefined

/** Without a key, for what needs none. */
type OpenOptions = Omit<TransportOptions, 'key'> & Partial<Pick<TransportOptions, 'key'>>;

export class Transport implements Sender {
  readonly #options: OpenOptions;
  /** Without a trailing slash. */
  readonly baseUrl: string;

  /** @throws InvalidDataError if an option cannot be used */
  constructor(options: OpenOptions, table = OPEN_OPTIONS) {
    const issues = findIssues(options, table);
    if (issues.length > 0) throw invalidArguments('The client', issues);
    this.#options = options;
    this.baseUrl = findBaseUrl(options.baseUrl) ?? '';
  }

  /**
   * Sends a request until it succeeds or must not be repeated.
   * @param read Reads the response; part of the attempt that is repeated.
   * @throws ApiError, ConnectionError; the reason of the signal if the caller aborts it
   */
  async send<Result>(
    request: ApiRequest, read: (response: ApiResponse) => Promise<Result>,
  ): Promise<Result> {
    const { retries = this.#options.retries ?? DEFAULT_RETRIES, method, idempotencyKey } = request;
    const isChange = method !== 'GET';
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...request.headers,
      ...(isChange && { 'idempotency-key': `"${idempotencyKey ?? crypto.randomUUID()}"` }),
    };
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#attempt(request, headers, failures + 1, read);
      } catch (error) {
        request.signal?.throwIfAborted();
        const retryAfterMs = findRetryDelay(error);
        const isLast = failures >= retries || request.isRepeatable === false;
        if (retryAfterMs === undefined || retryAfterMs > BACKOFF.limitMs || isLast) throw error;
        const hints = { retryAfterMs, random: Math.random() };
        await wait(retryDelayMs(BACKOFF, failures, hints), request.signal);
      }
    }
  }

  async #attempt<Result>(
    request: ApiRequest, fields: Record<string, string>, attempt: number,
    read: (response: ApiResponse) => Promise<Result>,
  ): Promise<Result> {
    const { timeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal, method } = request;
    const { key, onRequest, onResponse } = this.#options;
    const url = `${this.baseUrl}${request.path}${formatQuery(request.query)}`;
    const headers = new Headers(fields);
    onRequest?.({ method, url, attempt, headers });
    if (key) headers.set('x-api-key', key);
    const silence = new Silence(timeoutMs, this.baseUrl, signal);
    try {
      const content = request.body?.();
      const stream = typeof content === 'object' ? openUpload(content, silence) : undefined;
      const text = typeof content === 'string' ? content : null;
      const response = await (this.#options.fetch ?? fetch)(url, {
        method,
        headers,
        // A redirect would send the key to wherever it leads.
        redirect: 'manual',
        signal: silence.signal,
        body: stream && IS_PAGE ? await new Response(stream).blob() : stream ?? text,
        // `duplex` is required for streams, and missing in the DOM's types.
        ...(stream && !IS_PAGE && { duplex: 'half' } as object),
      });
      silence.stop(); // until the body is read
      const received = { method, url, attempt, status: response.status, headers: response.headers };
      silence.guard(() => [onResponse, request.onResponse].forEach((hook) => hook?.(received)));
      const { responseLimitCharacters = DEFAULT_RESPONSE_LIMIT_CHARACTERS } = this.#options;
      const readable = openResponse(response, silence, responseLimitCharacters);
      if (response.ok || response.status === 304) return await read(readable);
      throw await readProblem(response, readable);
    } catch (error) {
      throw silence.explain(error);
    }
  }
}

/** The shortest wait before a retry, in milliseconds; undefined if a retry would not help. */
export function findRetryDelay(error: unknown): number | undefined {
  if (error instanceof ConnectionError) return FINAL.test(error.code ?? '') ? undefined : 0;
  if (!(error instanceof ApiError) || !TEMPORARY.has(error.status)) return undefined;
  return (error.retryAfterSeconds ?? 0) * 1000;
}

/** @throws the reason of the signal */
export async function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(resolve, delayMs);
  signal?.addEventListener('abort', resolve);
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', resolve);
  signal?.throwIfAborted();
}

function findBaseUrl(baseUrl: unknown): string | undefined {
  if (!URL.canParse(String(baseUrl))) return undefined;
  const { protocol, origin, pathname, search, hash } = new URL(String(baseUrl));
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '') return undefined;
  return origin + pathname.replace(/\/+$/, '');
}

/** With its question mark; empty without parameters. */
export function formatQuery(query: Query = {}): string {
  const parameters = Object.entries(query).flatMap(([name, value]) => (
    value === undefined ? [] : [[name, value instanceof Date ? value.toISOString() : `${value}`]]));
  return parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : '';
}
