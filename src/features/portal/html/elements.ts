/** Page elements: tables that are cards on phones, pagers, facts, cards, notices, copyable text. */
import type { AnonymousPageRequest, PageRequest } from '../route.ts';
import { type Content, html, type Html } from './html.ts';

/** The cells of a row, in column order. */
export type Row = readonly Content[];

interface Column {
  readonly label: Content;
  /** The label in cards on phones. Default: `label`; false for values that need none. */
  readonly cardLabel?: string | false;
  /** The member that the cells show, which `live.js` keeps current. */
  readonly live?: string;
  /** Set if the rows are sorted by this column. */
  readonly sort?: 'ascending' | 'descending' | undefined;
  /** Numbers are right-aligned, so their digits line up. */
  readonly isNumber?: boolean;
}

export interface Table {
  /** The accessible name. */
  readonly caption: string;
  readonly columns: readonly (Column | string)[];
  /** The first cell of each row is its header. */
  readonly rows: readonly Row[];
  /** Empty state, instead of a table without rows: why it is empty, and what to do next. */
  readonly empty?: Content;
}

/** A table with more columns shows each row as a card on phones. */
const PHONE_COLUMNS_LIMIT = 3;

export function table({ caption, columns: definitions, rows, empty }: Table): Html {
  if (rows.length === 0) return html`<div class="empty">${empty}</div>`;
  const columns = definitions.map((column) =>
    typeof column === 'string' ? { label: column } : column);
  const hasCards = columns.length > PHONE_COLUMNS_LIMIT;
  const renderCell = (content: Content, index: number): Html => {
    const { isNumber, label, cardLabel = label, live } = columns[index] ?? {};
    const isLabelled = hasCards && cardLabel !== false && (index > 0 || isNumber);
    return index === 0
      ? html`<th scope="row"${isNumber && html` class="number"`}${
        isLabelled && html` data-label="${cardLabel}"`}>${content}</th>`
      : html`<td${isNumber && html` class="number"`}${
        isLabelled && html` data-label="${cardLabel}"`}${live && html` data-live="${live}"`}>${
        content}</td>`;
  };
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table${
    hasCards && html` class="cards"`}>
    <caption class="hidden">${caption}</caption>
    <thead><tr>${columns.map(({ label, isNumber, sort }) => html`
      <th scope="col"${isNumber && html` class="number"`}${
  sort && html` aria-sort="${sort}"`}>${label}</th>`)}
    </tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map(renderCell)}</tr>`)}</tbody>
  </table></div>`;
}

export function numeric(label: string): Column {
  return { label, isNumber: true };
}

/** Links to the first and the next page; undefined URLs are omitted. */
export function pager(label: string, first: string | undefined, next: string | undefined): Content {
  if (first === undefined && next === undefined) return undefined;
  return html`<nav class="pager" aria-label="${label}">
    ${first !== undefined && html`<a class="button" href="${first}" rel="first">First page</a>`}
    ${next !== undefined && html`<a class="button" href="${next}" rel="next">Next page</a>`}
  </nav>`;
}

/** Names and values, such as those of one product; `false` is left out. */
export type Facts = readonly (readonly [name: string, value: Content] | false)[];

export function facts(pairs: Facts): Html {
  return html`<dl class="facts">${pairs.map((pair) => pair && html`
    <div><dt>${pair[0]}</dt><dd>${pair[1]}</dd></div>`)}</dl>`;
}

/** What only programs and support need, such as positions; closed unless `isOpen`. */
export function details(content: Content, isOpen = false): Html {
  return html`<details${isOpen && html` open`}><summary>Details</summary>${content}</details>`;
}

/** The positions of changes; nothing without a first one. */
export function renderPositions(
  { format }: PageRequest, first: number | undefined, last: number | undefined,
): Content {
  if (first === undefined) return undefined;
  const positions = [...new Set([first, last ?? first])];
  return details(facts([['Positions', positions.map(format.number).join('–')]]));
}

/** When something was made, and by whom if that is known. */
export function madeBy(time: Html, name: string | undefined): Html {
  return html`${time}${name !== undefined && html` by <bdi>${name}</bdi>`}`;
}

/** A section with a heading. @param id Unique on the page. */
export function card(id: string, heading: string, content: Content): Html {
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
    ${content}</section>`;
}

/** Text with a copy button, which needs scripts. @param id Unique on the page. */
export function copyable(id: string, text: string): Html {
  return html`<div class="copyable"><pre id="copy-${id}" tabindex="0">${text}</pre>
    <button type="button" class="small" data-copy="copy-${id}" hidden>Copy</button></div>`;
}

/** A success or information message. */
export function notice(content: Content): Html {
  return html`<div class="notice" role="status">${content}</div>`;
}

/** Instead of a list that the search reads, until it has caught up with a large change. */
export function renderIndexing(
  { link, path, query }: Pick<AnonymousPageRequest, 'link' | 'path' | 'query'>,
): Html {
  return notice(html`<p>Products are being indexed after a large change.
    <a href="${link(path, query)}">Try again</a> in a moment.</p>`);
}

/** An error (`bad`) or a warning (`low`). Takes the focus, so that screen readers announce it. */
export function alert(kind: 'bad' | 'low', content: Content): Html {
  return html`<div class="notice ${kind}" role="alert" tabindex="-1" autofocus>${content}</div>`;
}

/**
 * What a form did, at the top of the next page, and how to undo it. It stays until the user leaves
 * the page or dismisses it, which needs scripts.
 */
export function toast(content: Content, undo?: Content): Html {
  return html`<div class="toast" role="status"><div>${content}</div>${undo}
    <button type="button" class="small" data-dismiss hidden>Dismiss</button></div>`;
}

/** The toast after a redirect: the text for the value of `?done=`; nothing for unknown values. */
export function flashNotice(
  { query }: Pick<AnonymousPageRequest, 'query'>, texts: ReadonlyMap<string, string>,
  offer?: Content,
): Content {
  const text = texts.get(query.get('done') ?? '');
  return text !== undefined && toast(html`<p>${text}</p>`, offer);
}
