/**
 * The tagged template for all HTML. The template is markup; every value in it is escaped unless it
 * is `Html`. Put values only between tags or into quoted attributes, where escaping these
 * characters suffices (OWASP Cross Site Scripting Prevention); never into scripts, styles or tag
 * names.
 */

/** Markup. Only `html` creates it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** `undefined` and `false` render nothing; list items are concatenated. */
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

/**
 * Shortens a text to a size in bytes, measured after escaping, so pages stay small however long
 * the names that sellers choose.
 */
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
