/** Long texts in lists: a page has a bound, however long the names are that sellers give. */
import { html } from './html.ts';

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
