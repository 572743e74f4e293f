/** Lists: a table that a phone can scroll, what stands there when it is empty, and its pages. */
import type { AnonymousPageRequest } from '../route.ts';
import { type Content, html, type Html } from './html.ts';

interface Column {
  readonly label: Content;
  /** How the rows are sorted by it, where they are. */
  readonly sort?: 'ascending' | 'descending' | undefined;
  /** Numbers stand at the right, so that their digits do below each other. */
  readonly isNumber?: boolean;
}

interface Table {
  /** What the table is of, for those who do not see where it stands. */
  readonly caption: string;
  readonly columns: readonly Column[];
  /** A row is its cells, as `cell` makes them; the first one may be a header of the row. */
  readonly rows: readonly Content[];
  /** Of the rows, where they stand for products that `live.js` keeps as they are. */
  readonly productIds?: readonly string[];
  /** What stands instead of a table without rows: why it is empty, and what to do next. */
  readonly empty: Content;
}

export function table({ caption, columns, rows, productIds, empty }: Table): Html {
  if (rows.length === 0) return html`<div class="empty">${empty}</div>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
    <caption class="hidden">${caption}</caption>
    <thead><tr>${columns.map(({ label, isNumber, sort }) => html`
      <th scope="col"${isNumber && html` class="number"`}${
  sort && html` aria-sort="${sort}"`}>${label}</th>`)}
    </tr></thead>
    <tbody>${rows.map((row, index) => html`<tr${
  productIds && html` data-product="${productIds[index]}"`}>${row}</tr>`)}</tbody>
  </table></div>`;
}

export function cell(content: Content): Html {
  return html`<td>${content}</td>`;
}

export function numberCell(content: Content): Html {
  return html`<td class="number">${content}</td>`;
}

/** The cell that names its row. */
export function headCell(content: Content): Html {
  return html`<th scope="row">${content}</th>`;
}

/** Links to the first page and to the next one, where there are such. */
export function pager(label: string, first: string | undefined, next: string | undefined): Content {
  if (first === undefined && next === undefined) return undefined;
  return html`<nav class="pager" aria-label="${label}">
    ${first !== undefined && html`<a class="button" href="${first}" rel="first">First page</a>`}
    ${next !== undefined && html`<a class="button" href="${next}" rel="next">Next page</a>`}
  </nav>`;
}

/** Names and values, such as those of one product. */
export function facts(pairs: readonly (readonly [name: string, value: Content])[]): Html {
  return html`<dl class="facts">${pairs.map(([name, value]) => html`
    <div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** `id` tells it from the others of the page. */
export function copyable(id: string, text: string): Html {
  return html`<div class="copyable"><pre id="copy-${id}" tabindex="0">${text}</pre>
    <button type="button" class="small" data-copy="copy-${id}" hidden>Copy</button></div>`;
}

/** Nothing for a word that is none of these. */
export function flashNotice(
  { query }: Pick<AnonymousPageRequest, 'query'>, texts: ReadonlyMap<string, string>,
): Content {
  const text = texts.get(query.get('done') ?? '');
  return text !== undefined && notice(html`<p>${text}</p>`);
}

/** Something that went well, or that is good to know. */
export function notice(content: Content): Html {
  return html`<div class="notice" role="status">${content}</div>`;
}
