/**
 * The descriptions of the OpenAPI document, which are Markdown: of that, what they use. These are
 * paragraphs, lists, `code` and *emphasis*; all else is text, and escaped as such.
 */
import { type Content, html, type Html } from '../html/html.ts';

const ITEM = '- ';

export function renderProse(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => {
    const lines = paragraph.split('\n');
    const items = lines.filter((line) => line.startsWith(ITEM));
    const words = lines.filter((line) => !line.startsWith(ITEM)).join(' ');
    return html`${words !== '' && html`<p>${renderSpans(words)}</p>`}${items.length > 0 && html`
      <ul>${items.map((item) => html`<li>${renderSpans(item.slice(ITEM.length))}</li>`)}</ul>`}`;
  })}`;
}

/** What stands between backticks is code. */
function renderSpans(text: string): Content {
  return text.split('`').map((part, index) =>
    index % 2 === 1 ? html`<code>${part}</code>` : renderEmphasis(part));
}

function renderEmphasis(text: string): Content {
  return text.split(/\*(\w+)\*/).map((part, index) =>
    index % 2 === 1 ? html`<em>${part}</em>` : part);
}
