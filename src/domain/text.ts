/**
 * The rules for text that a seller sends: counted in code points, well-formed (no lone surrogates),
 * not blank, without control characters. SKUs are stricter, since people and machines compare them:
 * nothing invisible, no outer white space, one normal form (NFC, Unicode Standard Annex 15).
 */
import type { Issue } from './error.ts';

/** A fault of a value, without the place where the value stood. */
export type Fault = Pick<Issue, 'code' | 'detail'>;

// Cc: control, NUL included; Zl and Zp: the line and paragraph separators U+2028 and U+2029.
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
// Cf: format characters, bidi controls among them; DI: zero-width and other default-ignorable ones.
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const VISIBLE = /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
// What most values are made of, checked without Unicode tables: printable ASCII, no outer space.
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

/** The first fault of a text of 1 to `limitCodePoints` that is kept exactly as sent. */
export function findTextFault(text: string, limitCodePoints: number): Fault | undefined {
  if (text.length <= limitCodePoints && PLAIN.test(text)) return undefined;
  if (!text.isWellFormed()) {
    return { code: 'characters', detail: 'Has half of a surrogate pair; send well-formed text.' };
  }
  if (!VISIBLE.test(text)) return { code: 'blank', detail: 'Must not be blank.' };
  if (CONTROL.test(text)) {
    return { code: 'characters', detail: 'Must not contain control characters or line breaks.' };
  }
  if (countCodePoints(text, limitCodePoints) > limitCodePoints) {
    return { code: 'length', detail: `Must have at most ${limitCodePoints} characters.` };
  }
  return undefined;
}

/** The first fault of a text that serves as a key; give it in NFC. */
export function findIdentifierFault(text: string, limitCodePoints: number): Fault | undefined {
  const fault = findTextFault(text, limitCodePoints);
  if (fault) return fault;
  if (text.trim() !== text) {
    return { code: 'characters', detail: 'Must not begin or end with white space.' };
  }
  if (INVISIBLE.test(text)) {
    return { code: 'characters', detail: 'Must not contain invisible characters.' };
  }
  return undefined;
}

/** A text of its own: a part of another text would keep all of that one in memory. */
export function copyText(text: string): string {
  return Buffer.from(text).toString();
}

/** Counts no further than one past the limit, so that a huge text costs no more than a long one. */
function countCodePoints(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  let count = 0;
  for (let at = 0; at < text.length && count <= limit; count += 1) {
    // codePointAt is defined here: `at` is below the length.
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return count;
}
