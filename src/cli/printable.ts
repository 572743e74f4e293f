/** Makes text of a server safe to print: a terminal obeys control characters. */

/** Replaces characters that control a terminal or change the writing direction. */
export function printable(text: unknown): string {
  if (typeof text !== 'string') return '';
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
