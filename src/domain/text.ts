/**
 * Validates text by Unicode properties. Every text is counted in code points, well-formed (no lone
 * surrogates), not blank, and without control characters and line breaks. SKUs are stricter, since
 * people and machines compare them: graphic characters and inner ASCII spaces only, in NFC (Unicode
 * Standard Annex 15). Look-alike letters of different scripts stay different.
 */
import type { Issue } from './error.ts';

/** The error of a value, without the value's location. */
export type ValidationError = Pick<Issue, 'code' | 'detail'>;

/**
 * Characters that render as nothing, though no property says so: BRAILLE PATTERN BLANK, EGYPTIAN
 * HIEROGLYPH FULL BLANK and HALF BLANK, KHITAN SMALL SCRIPT FILLER, MUSICAL SYMBOL NULL NOTEHEAD.
 */
const BLANK = String.raw`\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}`;
// Cc: control, NUL included; Zl and Zp: the line and paragraph separators U+2028 and U+2029.
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
// Cf: format characters, bidi controls among them; DI: zero-width and other default-ignorable ones.
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
// Private-use characters, and those assigned after this Node was released, count as visible; so do
// control characters, which have their own error.
const VISIBLE = new RegExp(`[^\\s\\p{Cf}\\p{Default_Ignorable_Code_Point}${BLANK}]`, 'u');
/** Letters, marks, numbers, punctuation, symbols: assigned, not private-use, and visible. */
const NOT_IN_IDENTIFIER = new RegExp(
  `[^ [[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]--[\\p{Default_Ignorable_Code_Point}${BLANK}]]]`, 'v',
);
const NO_CONTROL = 'Must not contain control characters or line breaks.';
const LEADING_MARK = /^\p{M}/u;
// Most values, checked without Unicode tables: printable ASCII without outer spaces.
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

/** The first error of a text of 1 to `limitCodePoints`. */
export function validateText(text: string, limitCodePoints: number): ValidationError | undefined {
  if (text.length <= limitCodePoints && PLAIN.test(text)) return undefined;
  return validateLine(text, limitCodePoints);
}

/** The first error of a text that may have line feeds. */
export function validateParagraphs(
  text: string, limitCodePoints: number,
): ValidationError | undefined {
  const error = validateLine(text.replaceAll('\n', ' '), limitCodePoints);
  if (error?.detail !== NO_CONTROL) return error;
  return wrongCharacters('Must not contain control characters, except line breaks.');
}

/** The first error of an identifier, which must be in NFC. */
export function validateIdentifier(
  text: string, limitCodePoints: number,
): ValidationError | undefined {
  if (text.length <= limitCodePoints && PLAIN.test(text)) return undefined;
  const error = validateText(text, limitCodePoints);
  if (error) return error;
  if (text.trim() !== text) return wrongCharacters('Must not begin or end with white space.');
  if (INVISIBLE.test(text)) return wrongCharacters('Must not contain invisible characters.');
  const [character] = NOT_IN_IDENTIFIER.exec(text) ?? [];
  if (character !== undefined) {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    const rule = 'Must consist of visible characters and the plain space U+0020';
    return wrongCharacters(`${rule}; U+${code} is not allowed.`);
  }
  if (!LEADING_MARK.test(text)) return undefined;
  return wrongCharacters('Must not begin with a combining mark.');
}

function wrongCharacters(detail: string): ValidationError {
  return { code: 'characters', detail };
}

/** A text is blank if it has no visible character. */
function validateLine(text: string, limitCodePoints: number): ValidationError | undefined {
  if (!text.isWellFormed()) {
    return wrongCharacters('Contains half of a surrogate pair. Send well-formed text.');
  }
  if (!VISIBLE.test(text)) return { code: 'blank', detail: 'Must not be blank.' };
  if (CONTROL.test(text)) return wrongCharacters(NO_CONTROL);
  // Split only as much of a huge text as is needed to exceed the limit.
  if ([...text.slice(0, 2 * limitCodePoints + 2)].length <= limitCodePoints) return undefined;
  return { code: 'length', detail: `Must have at most ${limitCodePoints} characters.` };
}

/** UTF-8 without its byte order mark; or UTF-16 with one, which PowerShell's `>` writes. */
export function decodeMarkedText(bytes: Buffer): string {
  return new TextDecoder(findByteOrderMark(bytes)?.encoding).decode(bytes);
}

/** The byte order mark at the start of a text (WHATWG Encoding, section 6.1), if it has one. */
export function findByteOrderMark(head: Buffer) {
  const start = head.toString('hex', 0, 3);
  return BYTE_ORDER_MARKS.find(({ digits }) => start.startsWith(digits));
}

const BYTE_ORDER_MARKS = [
  { digits: 'efbbbf', sizeBytes: 3, encoding: 'utf-8' },
  { digits: 'fffe', sizeBytes: 2, encoding: 'utf-16le' },
  { digits: 'feff', sizeBytes: 2, encoding: 'utf-16be' },
] as const;

/** A copy: a substring would keep the whole original in memory. */
export function copyText(text: string): string {
  return Buffer.from(text).toString();
}

/** As the beginning of a sentence. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
