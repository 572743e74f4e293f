/** Suggests the known name nearest to a mistyped one, by edit distance. */

const EDITS_LIMIT = 2;
/** Shorter words are within two edits of too many others. */
const SHORT_WORD_CHARACTERS = 4;

/** The nearest of the names; undefined if none is near. */
export function findNearest(word: string, names: Iterable<string>): string | undefined {
  let limit = word.length < SHORT_WORD_CHARACTERS ? 1 : EDITS_LIMIT;
  let nearest: string | undefined;
  for (const name of names) {
    if (Math.abs(name.length - word.length) > limit) continue;
    const edits = countEdits(word, name);
    if (edits > limit || (edits === limit && nearest !== undefined)) continue;
    nearest = name;
    limit = edits;
  }
  return nearest;
}

/**
 * Counts insertions, deletions, replacements and swaps of adjacent characters (optimal string
 * alignment distance).
 */
function countEdits(from: string, to: string): number {
  let older: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isExchanged = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next.push(Math.min(
        at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (isSame ? 0 : 1),
        isExchanged ? at(older, column - 2) + 1 : Infinity,
      ));
    }
    [older, last] = [last, next];
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
