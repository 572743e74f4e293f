/**
 * Lists: their common parameters, pages with a cursor (RFC 8288 links to the next one), and exports
 * of a whole collection as a stream of CSV or NDJSON.
 */
import { hasParameter } from '../http/request/negotiate.ts';
import { invalidQuery } from '../http/request/query.ts';
import type { Reply } from '../http/response/reply.ts';
import { type Generation, toRevision } from '../domain/revision.ts';
import { yieldToEventLoop } from '../runtime/event-loop.ts';
import { formatCsvEnd, formatCsvHeader } from '../transfer/csv-cells.ts';
import { PAGE_LIMIT_CHARACTERS, PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from './limits.ts';
import { CSV_TYPE, END_RECORD, JSON_TYPE, NDJSON_TYPE } from './media-types.ts';
import { choice, integer, text, withDefault } from './parameters.ts';
import type { ApiRequest } from './route.ts';
import type { OpenStream } from './streams.ts';

/** For lists without conditions and exports. */
export const pageParameters = {
  limit: {
    ...withDefault(integer(1, PAGE_SIZE_LIMIT), PAGE_SIZE_DEFAULT),
    description: 'Entries per page.', example: 10,
  },
  cursor: { ...text, description: '`next_cursor` of the previous page.', example: 'IWxzdGFydA' },
} as const;

const FORMATS = ['json', 'ndjson', 'csv'] as const;
const MEDIA_TYPES: Readonly<Record<typeof FORMATS[number], string>> = {
  json: JSON_TYPE, ndjson: NDJSON_TYPE, csv: CSV_TYPE,
};

/** For lists that can also be exported. */
export const listParameters = {
  limit: { ...pageParameters.limit, description: 'Entries per page. Not for exports.' },
  cursor: {
    ...pageParameters.cursor,
    description: '`next_cursor` of the previous page. All other parameters except `limit` must '
      + 'stay the same. Not for exports.',
  },
  format: {
    ...choice(FORMATS), example: 'csv',
    description: 'The response format, if it is easier to set here than in `Accept`.',
  },
} as const;

/**
 * The media type of the response: that of the parameter `format`, or the negotiated one. With
 * `; end=record` if it is that of an export, and `Accept` has the parameter.
 * @throws AppError `invalid_query` if an export, which has no pages, has paging parameters
 */
export function chooseMediaType(
  { query, headers, mediaType: negotiated }: ApiRequest,
  format: keyof typeof MEDIA_TYPES | undefined,
): string {
  const mediaType = format ? MEDIA_TYPES[format] : negotiated;
  if (mediaType === JSON_TYPE) return mediaType;
  const unused = ['limit', 'cursor'].filter((parameter) => query.has(parameter));
  if (unused.length === 0) {
    const hasEnd = hasParameter(headers.accept, mediaType, END_RECORD);
    return hasEnd ? `${mediaType}; ${END_RECORD}` : mediaType;
  }
  const detail = 'Does not apply to an export, which has no pages.';
  throw invalidQuery(unused.map((parameter) => ({ parameter, code: 'mismatch', detail })));
}

interface Page {
  /** The path of the list, without the prefix of the server. */
  readonly path: string;
  readonly limit: number;
  /** The members of the body before `next_cursor`, as JSON without braces. */
  readonly members: string;
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
  readonly headers: Reply['headers'];
}

/** A page of a list, with the cursor of the next one in its body and in its `Link`. */
export function replyPage(
  { query, prefix }: ApiRequest, { path, limit, members, nextCursor, headers }: Page,
): Reply {
  const body = Buffer.from(`{${members},"next_cursor":${JSON.stringify(nextCursor ?? null)}}`);
  const own = { 'content-type': JSON_TYPE, ...headers };
  if (nextCursor === undefined) return { status: 200, headers: own, body };
  const next = new URLSearchParams([...query]);
  next.set('limit', String(limit));
  next.set('cursor', nextCursor);
  return { status: 200, headers: { ...own, link: `<${prefix}${path}?${next}>; rel="next"` }, body };
}

/**
 * The page of a query for `limit + 1` items: the extra item shows that there is a next page. `last`
 * is the page's last item, undefined on the last page.
 */
export function splitPage<Item>(items: readonly Item[], limit: number) {
  const page = items.slice(0, limit);
  return { page, last: items.length > limit ? page.at(-1) : undefined };
}

/**
 * The first items of a page as JSON: all unless they are very long, and at least one. `last` is the
 * last of them, with which the page ends; undefined on the last page, after which no items follow.
 */
export function formatItems<Item>(
  items: readonly Item[], format: (item: Item) => string, hasMore = false,
): { readonly texts: readonly string[]; readonly last: Item | undefined } {
  const texts: string[] = [];
  let characters = 0;
  for (const item of items) {
    if (characters > PAGE_LIMIT_CHARACTERS) break;
    const text = format(item);
    texts.push(text);
    characters += text.length;
  }
  const isLastPage = !hasMore && texts.length === items.length;
  return { texts, last: isLastPage ? undefined : items[texts.length - 1] };
}

/** A collection at one catalogue position. */
interface Collection<Item> {
  readonly position: number;
  /** May hold a read snapshot until it is read to the end or returned. */
  readonly pages: AsyncGenerator<readonly Item[], void, void>;
}

export interface Export<Item> {
  readonly openStream: OpenStream;
  /** Of the catalogue. */
  readonly generation: Generation;
  /** Either CSV or NDJSON, maybe with `; end=record`. */
  readonly mediaType: string;
  readonly headers: Reply['headers'];
  /** The header of CSV. */
  readonly columns: readonly string[];
  /** An item as a line of CSV. */
  formatRow(item: Item): string;
  /** An item as JSON, without the line feed. */
  formatJson(item: Item): string;
  /** Reads the store, once the stream has its slot. */
  open(): Promise<Collection<Item>>;
}

/** @throws AppError `unavailable` */
export function exportCollection<Item>(
  {
    openStream, generation, mediaType, headers, columns, formatRow, formatJson, open,
  }: Export<Item>,
): Promise<Reply> {
  const [type = '', end] = mediaType.split('; ');
  const isCsv = type === CSV_TYPE;
  return openStream('export', async () => {
    const { position, pages } = await open();
    const revision = toRevision(generation, position);
    const formatEnd = end === undefined ? undefined : (rows: number) =>
      (isCsv ? formatCsvEnd({ rows, position: revision }, columns.length)
        : `${JSON.stringify({ end: { rows, position: revision } })}\n`);
    return {
      status: 200,
      headers: {
        ...headers,
        'content-type': [type, ...isCsv ? ['charset=utf-8'] : [], ...end ? [end] : []].join('; '),
        'seller-position': String(revision),
      },
      body: isCsv
        ? renderPages(pages, formatRow, formatCsvHeader(columns), formatEnd)
        : renderPages(pages, (item) => `${formatJson(item)}\n`, '', formatEnd),
      close: () => pages.return(),
    };
  });
}

async function* renderPages<Item>(
  pages: AsyncGenerator<readonly Item[], void, void>, format: (item: Item) => string, head: string,
  formatEnd: ((rows: number) => string) | undefined,
): AsyncGenerator<string, void, void> {
  let rows = 0;
  if (head !== '') yield head;
  for await (const page of pages) {
    rows += page.length;
    yield page.map(format).join('');
    await yieldToEventLoop(); // one fast reader must not starve other requests
  }
  if (formatEnd) yield formatEnd(rows);
}
