/** Estimates the width of plot labels, so that a plot omits those that would overlap. */

/** In units of the drawing, for phones, where its text is largest. */
const CHARACTER_WIDTH = 9;
const WIDE_CHARACTER_WIDTH = 16;
const GAP = 8;

/**
 * The width of a text and the gap to the next one. East Asian characters are as wide as they are
 * high.
 */
export function measureLabel(text: string): number {
  const widths = [...text].map((character) =>
    character >= '\u2e80' ? WIDE_CHARACTER_WIDTH : CHARACTER_WIDTH);
  return widths.reduce((sum, width) => sum + width, GAP);
}
