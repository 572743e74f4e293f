/**
 * Requests of the API as data, what sends them, and lists: their pages are requested one after the
 * other. The client sends them over HTTP (`transport.ts`).
 */
import { createApiError, describeUnexpected, parseObject } from './errors.ts';
import {
  invalidArguments, type OptionTable, READ_OPTIONS, type ReadOptions, type RequestOptions, SENT,
} from './options.ts';
import type { Position } from './product.ts';
import type { Page } from './types.ts';

/** Parameters: strings, numbers, booleans, dates and arrays of strings; undefined is not sent. */
export type Query = Readonly<Record<string, unknown>>;

/** Sends requests of the API, over HTTP or within this process. */
export interface Sender {
  /** @param read Reads the response; it may be called again if the request is repeated. */
  send<Result>(
    request: ApiRequest, read: (response: ApiResponse) => Promise<Result>,
  ): Promise<Result>;
}

export interface ApiRequest extends RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/api`; its segments are percent-encoded already. */
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each attempt; undefined for no body. */
  readonly body?: (() => string | AsyncIterable<Uint8Array>) | undefined;
  /** Whether `body` can be called again. Default true. */
  readonly isRepeatable?: boolean;
}

/** A response with a status below 400. Read it to its end, or abort the request's signal. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Chunks of the body. @throws ConnectionError if it breaks off or stalls */
  chunks(): AsyncGenerator<Uint8Array, void, void>;
  /** The whole body. @throws ApiError `unexpected_response` if it is longer than the limit */
  text(): Promise<string>;
}

/** Sends JSON, as a merge patch (RFC 7396) with PATCH, and parses the JSON of the response. */
export function sendJson<Result>(
  sender: Sender, request: ApiRequest, value: object,
): Promise<Result> {
  const type = request.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const body = stringify(request, value);
  return sendForJson(sender, {
    ...request, headers: { ...request.headers, 'content-type': type }, body: () => body,
  });
}

/** @throws InvalidDataError for what JSON cannot have, such as a cycle or a bigint */
export function stringify(
  { method, path }: Pick<ApiRequest, 'method' | 'path'>, value: unknown,
): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    const issue = { pointer: '', code: 'type', detail: String(error) } as const;
    throw invalidArguments(`${method} ${path}`, [issue]);
  }
}

/** Sends a request, and parses the JSON of the response. */
export function sendForJson<Result>(sender: Sender, request: ApiRequest): Promise<Result> {
  return sender.send(request, readJson<Result>);
}

export async function readJson<Result>({ headers, text }: ApiResponse): Promise<Result> {
  const body = parseObject(await text());
  // The cast: the tests of the server prove that its responses have these types.
  const revision = headers.get('etag') ?? headers.get('seller-position') ?? body['next'];
  return markPositions(body, revision) as Result;
}

/** In a restored catalogue, positions get the mark of this ETag or position, to be passed on. */
export function markPositions(
  body: Readonly<Record<string, unknown>>, revision: unknown,
): Readonly<Record<string, unknown>> {
  const [, mark] = /^"?([a-z2-7]{5})-\d/.exec(String(revision)) ?? [];
  if (mark === undefined) return body;
  const copy: unknown = JSON.parse(JSON.stringify(body), (name, value: unknown) =>
    (name === 'position' && typeof value === 'number' ? `${mark}-${value}` : value));
  return copy as typeof body; // the copy of an object
}

/** Undefined for text that is no position. */
export function parsePosition(text: string | null): Position | undefined {
  if (!/^(?:[a-z2-7]{5}-)?\d+$/.test(text ?? '')) return undefined;
  return Number.isNaN(Number(text)) ? text ?? '' : Number(text);
}

/** Options of lists that have pages. */
export interface ListOptions extends ReadOptions {
  /** Items per request, 1 to 1,000. Default 100. */
  readonly limit?: number | undefined;
}

export const LIST_OPTIONS: OptionTable<ListOptions> = { ...READ_OPTIONS, limit: SENT };

/** The items of a page: an array, unless something else than the API responds. */
export function readItems<Item>(items: unknown): readonly Item[] {
  if (Array.isArray(items)) return items;
  throw createApiError(describeUnexpected(200));
}

/** The items of all pages. A page is requested once the one before is consumed. */
export async function* listItems<Item>(
  sender: Sender, path: string, name: string,
  [request, query]: readonly [request: ReadOptions, query: Query],
): AsyncGenerator<Item, void, void> {
  let cursor: string | undefined;
  do {
    const page = await sendForJson<Page<string, Item>>(sender, {
      ...request, method: 'GET', path, query: { ...query, cursor },
    });
    yield* readItems<Item>(page[name]);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
