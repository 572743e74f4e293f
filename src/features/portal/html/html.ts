/**
 * HTML as a tagged template: the only way in which a page is made. What stands in the template is
 * markup, and every value that is put into it is text and is escaped, unless it is `Html` itself.
 * Put values between tags or into quoted attributes, where the escaped characters suffice (OWASP
 * Cross Site Scripting Prevention); never into a script, a style or the name of a tag.
 */

/** Markup. Only `html` makes it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Nothing is shown for `undefined` and `false`; the items of a list stand one after the other. */
export type Content = Html | string | number | undefined | false | readonly Content[];

export function html(markup: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = markup[0] ?? '';
  values.forEach((value, index) => {
    text += render(value) + (markup[index + 1] ?? '');
  });
  return new Html(text);
}

function render(value: Content): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escapeText(value);
  return value.map(render).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

const ELLIPSIS = '…';

/** A text that takes at most so many bytes in a page: whole, or its beginning. */
export function shorten(text: string, limitBytes: number): string {
  if (countBytes(text) <= limitBytes) return text;
  const restBytes = limitBytes - countBytes(ELLIPSIS);
  let [end, bytes] = [0, 0];
  for (const character of text) {
    bytes += countBytes(character);
    if (bytes > restBytes) break;
    end += character.length;
  }
  return text.slice(0, end) + ELLIPSIS;
}

function countBytes(text: string): number {
  return Buffer.byteLength(html`${text}`.text);
}
