/**
 * Pages of lists. A signed cursor in the URL says beyond which key a page begins, in which
 * direction it is read, and how many rows precede it. A list is read by key in both directions, so
 * a page costs the same wherever it is.
 */
import { splitPage } from '../../../api/list.ts';
import { AppError, undefinedIf } from '../../../domain/error.ts';
import type { ListCount } from '../../../store/write.ts';
import type { Format } from '../html/format.ts';
import { type Content, html } from '../html/html.ts';
import type { PageRequest, Portal } from '../route.ts';

/** Where a page begins. */
export interface PageStart<Key> {
  /** Exclusive. */
  readonly key: Key;
  /** Whether the rows before the key are read, the nearest one first. */
  readonly isBackward: boolean;
  /** Rows of the list before the key or, forward, up to it; undefined if they are not known. */
  readonly preceding?: number;
}

/** Rows in the direction of reading, and the key to continue beyond; undefined at the end. */
export interface ReadRows<Row, Key> {
  readonly rows: readonly Row[];
  readonly next: Key | undefined;
}

export interface ListPage<Row> {
  /** In the order of the list. */
  readonly rows: readonly Row[];
  /** Rows of the list before them; undefined if they are not known. */
  readonly preceding: number | undefined;
  readonly isFirst: boolean;
  /** Cursors. */
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

interface List<Row, Key extends object | number, Extra = unknown> {
  /** What is listed, for whom and in which order: cursors are bound to it. */
  readonly scope: string;
  readonly start: PageStart<Key> | undefined;
  /** Without a start: the first page. */
  read(start: PageStart<Key> | undefined): Promise<ReadRows<Row, Key> & Extra>;
  keyOf(row: Row): Key;
}

const INVALID: ReadonlySet<string> = new Set(['invalid_query', 'history_pruned']);
/** The message for a cursor that is none of this list, or from before a restore. */
const INVALID_CURSOR = 'This page link is no longer valid. This is the first page.';

/** The start in the query; adds an error if the cursor is invalid. */
export function readStart<Key>(
  { query }: PageRequest, { cursors }: Portal, scope: string, errors: Map<string, string>,
): PageStart<Key> | undefined {
  try {
    return cursors.parse<PageStart<Key>>(pagesOf(scope), query.get('cursor') || undefined);
  } catch (error) {
    if (!(error instanceof AppError && INVALID.has(error.code))) throw error;
    errors.set('cursor', INVALID_CURSOR);
    return undefined;
  }
}

/** The page of a list, with what else was read for it. */
export async function readListPage<Row, Key extends object | number, Extra = unknown>(
  { cursors }: Portal, { scope, start: requestedStart, read, keyOf }: List<Row, Key, Extra>,
): Promise<ListPage<Row> & Extra> {
  let start = requestedStart;
  let page = await read(start);
  // A page that reaches the start of the list would be shorter than the first page.
  if (start?.isBackward && page.next === undefined) {
    start = undefined;
    page = await read(undefined);
  }
  const isBackward = start?.isBackward === true;
  const rows = isBackward ? page.rows.toReversed() : page.rows;
  const startPreceding = start ? start.preceding : 0;
  const preceding = startPreceding && Math.max(startPreceding - (isBackward ? rows.length : 0), 0);
  const format = (key: Key, back: boolean, count: number | undefined): string | undefined =>
    cursors.format(pagesOf(scope), { key, isBackward: back, preceding: count });
  // Without rows, the page is beyond its key in the other direction.
  const keyAt = (row: Row | undefined): Key | undefined =>
    row === undefined ? start?.key : keyOf(row);
  const first = isBackward ? page.next && keyAt(rows[0]) : start && keyAt(rows[0]);
  const next = isBackward ? keyAt(rows.at(-1)) : page.next;
  return {
    ...page, rows, preceding,
    isFirst: start === undefined,
    previous: first === undefined ? undefined : format(first, true, preceding),
    next: next === undefined ? undefined
      : format(next, false, preceding === undefined ? undefined : preceding + rows.length),
  };
}

/** A list whose keys grow with time. */
interface NewestFirst<Row, Key extends number> extends Pick<List<Row, Key>, 'scope' | 'keyOf'> {
  readonly limit: number;
  /** Reads rows before a key, the newest first, or after one, the oldest first. */
  read(range: {
    readonly before: Key | undefined; readonly after?: Key; readonly limit: number;
  }): Promise<readonly Row[]>;
}

/** The page of the query's cursor; adds an error if the cursor is invalid. */
export function readNewestFirst<Row, Key extends number>(
  request: PageRequest, portal: Portal, errors: Map<string, string>,
  { scope, limit, read, keyOf }: NewestFirst<Row, Key>,
): Promise<ListPage<Row>> {
  return readListPage<Row, Key>(portal, {
    scope, keyOf, start: readStart(request, portal, scope, errors),
    async read(start) {
      const beyond = start?.isBackward ? { before: undefined, after: start.key }
        : { before: start?.key };
      // The extra row shows that there are more.
      const { page, last } = splitPage(await read({ ...beyond, limit: limit + 1 }), limit);
      return { rows: page, next: last && keyOf(last) };
    },
  });
}

/** The total of a list, which a first page without a next one shows by itself. */
export async function countList(
  { isFirst, rows, next }: ListPage<unknown>, count: () => Promise<ListCount | undefined>,
): Promise<ListCount | undefined> {
  if (isFirst && next === undefined) return { count: rows.length, isExact: true };
  // A list is useful without its total.
  return undefinedIf('unavailable', count());
}

interface Pager {
  /** The path of the list, below `/portal`. */
  readonly path: string;
  readonly filters?: URLSearchParams;
  /** Of the list in a page that begins with something else, such as `#movements`. */
  readonly fragment?: string;
  /** In the plural. */
  readonly noun: string;
  readonly page: ListPage<unknown>;
  /** Of the whole list; undefined if it is not known. */
  readonly total: ListCount | undefined;
  /** Whether a row may be several of the things counted: then rows are not numbered. */
  readonly isGrouped?: boolean;
}

/** Which rows of how many the page has, and links to the pages around it. */
export function renderPager(
  { format, link }: PageRequest,
  { path, filters, fragment = '', noun, page, total, isGrouped = false }: Pager,
): Content {
  const { rows, isFirst, previous, next } = page;
  if (rows.length === 0 && isFirst) return undefined;
  const count = describeRows(format, page, total, isGrouped);
  const linkTo = (cursor: string | undefined): string =>
    link(path, withCursor(filters, cursor)) + fragment;
  return html`<nav class="pager" aria-label="Pages of ${noun}">
    ${count !== '' && html`<p class="quiet">${count} ${noun}</p>`}
    ${!isFirst && html`<a class="button" href="${linkTo(undefined)}" rel="first">First page</a>`}
    ${previous !== undefined
    && html`<a class="button" href="${linkTo(previous)}" rel="prev">Previous page</a>`}
    ${next !== undefined && html`<a class="button" href="${linkTo(next)}" rel="next">Next page</a>`}
  </nav>`;
}

/** Such as `26–50 of 60`; empty if neither the range nor the total is known. */
function describeRows(
  format: Format, { rows, next, ...page }: ListPage<unknown>, total: ListCount | undefined,
  isGrouped: boolean,
): string {
  // The last page ends at the total, even if rows have come and gone since the first one.
  const preceding = next === undefined && total?.isExact
    ? Math.max(total.count - rows.length, 0) : page.preceding;
  const end = (preceding ?? 0) + rows.length;
  const [from, to] = [end - rows.length + 1, end].map(format.number);
  const isNumbered = !isGrouped && preceding !== undefined && rows.length > 0;
  const range = !isNumbered ? '' : from === to ? from : `${from}–${to}`;
  const count = total && `${total.isExact ? '' : 'more than '}${
    format.number(Math.max(total.count, end))}`;
  return [range, count].filter((part) => part !== '' && part !== undefined).join(' of ');
}

/** The query of a list's filters, with a cursor. */
export function withCursor(
  filters = new URLSearchParams(), cursor: string | undefined,
): URLSearchParams {
  return new URLSearchParams([...filters, ...cursor === undefined ? [] : [['cursor', cursor]]]);
}

function pagesOf(scope: string): string {
  return `pages of ${scope}`;
}
