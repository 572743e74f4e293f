/**
 * Formats rows as a table, and the members of an object as lines. Text is measured in the cells of
 * a terminal: East Asian characters and emoji take two. On a terminal, texts of a table that is too
 * wide are cut to fit, if that is enough; pipes and files get all of it.
 */
import { printable } from './printable.ts';

/** Where a table is printed; `columns` is its width, if it is a terminal and knows it. */
interface TableOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

type Row = Readonly<Record<string, unknown>>;

const GAP = '  ';
const ELLIPSIS = '…';
/** What remains of a text: enough to tell that there is more; and of a SKU. */
const TEXT_CELLS = 4;
const SKU_CELLS = 12;
/** Numbers, times (RFC 3339) and ids: a part of one would be taken for another, or is useless. */
const UNCUT = /^(?:[+-]?\d[\d.]*|\d{4}-\d\d-\d\dT\S+|[a-z]{3}_[\da-v]{11,})$/;
// East Asian Width W and F (Unicode Standard Annex 11), without the half-width forms.
const WIDE = new RegExp(String.raw`[[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}`
  + String.raw`\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}`
  + String.raw`\p{Script=Nushu}\p{Emoji_Presentation}\u3000-\u303e\u30fb\u30fc\u3200-\u33ff`
  + String.raw`\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6]--[\uff61-\uffdc]]`, 'v');
/** Drawn over the character before them, as vowels and finals of Hangul are. */
const COMBINING = /[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]/u;
const EMOJI = /^\p{RGI_Emoji}$/v;
const PLAIN = /^[ -~]*$/;

/** A table that is printed in parts. A column only gets narrower to fit the terminal. */
export class Table {
  readonly #limit: number;
  #names: readonly string[] | undefined;
  #widths: readonly number[];

  /** @param names The columns. Default: the members of the rows that are formatted first. */
  constructor({ isTTY = false, columns = 0 }: TableOutput, names?: readonly string[]) {
    this.#limit = isTTY && columns > 0 ? columns : Infinity;
    this.#names = names;
    this.#widths = [];
  }

  /** Lines for rows; the first time with a header. */
  format(rows: readonly object[]): string {
    const isFirst = this.#widths.length === 0;
    const names = this.#names ??= [...new Set(rows.flatMap((row) => Object.keys(row)))];
    // The casts here and below: any object can be read by name; its values stay unknown.
    const cells = rows.map((row) => names.map((name) => formatCell((row as Row)[name])));
    const lines = isFirst ? [names.map(printable), ...cells] : cells;
    this.#widths = names.map((_, column) => lines.reduce((widest, line) =>
      Math.max(widest, measure(line[column] ?? '')), this.#widths[column] ?? 0));
    const widths = this.#fit(names, lines);
    return lines.map((line) => line.map((cell, column) =>
      fit(cell, widths[column] ?? 0)).join(GAP).trimEnd()).join('\n');
  }

  /** Narrows the widest text again and again, then SKUs. What cannot fit remains whole. */
  #fit(names: readonly string[], lines: readonly (readonly string[])[]): readonly number[] {
    const limit = this.#limit - GAP.length * (names.length - 1);
    let excess = this.#widths.reduce((sum, width) => sum + width, 0) - limit;
    if (excess <= 0) return this.#widths;
    const columns = names.map((name, at) => {
      const uncut = lines.map((line) => line[at] ?? '').filter((cell) => UNCUT.test(cell));
      const least = name === 'sku' ? SKU_CELLS : TEXT_CELLS;
      return {
        width: this.#widths[at] ?? 0, isSku: Number(name === 'sku'),
        least: uncut.reduce((widest, { length }) => Math.max(widest, length), least),
      };
    });
    for (; excess > 0; excess -= 1) {
      const [widest] = columns.filter(({ width, least }) => width > least)
        .sort((a, b) => a.isSku - b.isSku || b.width - a.width);
      if (!widest) return this.#widths;
      widest.width -= 1;
    }
    return columns.map(({ width }) => width);
  }
}

/** One line for each member. Those of an object are named `object.member`. */
export function formatMembers(members: object): string {
  const lines = Object.entries(members).flatMap(([name, value]) => {
    const inner = isObject(value) ? Object.entries(value) : [];
    return inner.length === 0 ? [[printable(name), value] as const]
      : inner.map(([last, of]) => [printable(`${name}.${last}`), of] as const);
  });
  const width = Math.max(...lines.map(([name]) => measure(name)));
  return lines.map(([name, value]) => `${fit(name, width)}${GAP}${formatCell(value)}`).join('\n');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = Array.isArray(value) ? value.join(',')
    : isObject(value) ? Object.entries(value).map(([name, of]) => `${name}=${of}`).join(', ')
      : String(value);
  return printable(text || '-');
}

/** How many cells of a terminal a text takes. */
function measure(text: string): number {
  return PLAIN.test(text) ? text.length
    : split(text).reduce((sum, grapheme) => sum + cellsOf(grapheme), 0);
}

/** The grapheme clusters of a text: what a reader sees as one character each. */
function split(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function cellsOf(grapheme: string): number {
  if (EMOJI.test(grapheme)) return 2;
  return Array.from(grapheme).reduce((sum, character) =>
    sum + (COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1), 0);
}

/** The text in exactly this many cells, with an ellipsis if it is longer. */
function fit(text: string, cells: number): string {
  const length = measure(text);
  if (length <= cells) return text + ' '.repeat(cells - length);
  let kept = '';
  let used = 1; // the ellipsis
  for (const grapheme of split(text)) {
    used += cellsOf(grapheme);
    if (used > cells) return `${kept}${ELLIPSIS}${' '.repeat(cells - measure(kept) - 1)}`;
    kept += grapheme;
  }
  return kept;
}
