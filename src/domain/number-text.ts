/**
 * Validates numbers by their text. A double has about 16 significant digits, so parsing a longer
 * number changes it silently: 0.9999999999999999999999 becomes 1, and 1e-400 becomes 0 (RFC 7493
 * section 2.2). A text is accepted if the shortest text of its double is the same decimal number:
 * 12.50, 1.0, 1e2 and -0 are accepted, 0.10000000000000001 is not.
 */
import type { ValidationError } from './text.ts';

/** A double keeps every decimal of up to 15 significant digits (C: DBL_DIG). */
const SAFE_SIGNIFICAND = 1e15;
/** Numbers within these limits are far from underflow and overflow. */
const SHORT_CHARACTERS = 24;
const SHORT_EXPONENT = 250;

const ZERO = 0x30;
const [PLUS, MINUS, POINT] = [0x2b, 0x2d, 0x2e];
/** The bit that makes an ASCII letter lower-case, and the letter before an exponent. */
const [LOWER_CASE, EXPONENT] = [0x20, 0x65];

/** The error of a decimal number; undefined if it is valid, or the text is not a number. */
export function validateNumberText(text: string): ValidationError | undefined {
  if (skipShortNumber(text, 0) === text.length) return undefined;
  const value = Number(text);
  const valueText = String(value);
  if (valueText === text || Number.isNaN(value)) return undefined;
  if (!Number.isFinite(value)) {
    return { code: 'range', detail: 'Is too large for a double-precision number.' };
  }
  if (formatCanonical(valueText) === formatCanonical(text)) return undefined;
  const detail = 'A double-precision number cannot hold it exactly. Use at most 15 digits.';
  return { code: 'precision', detail };
}

/**
 * The end of the number that begins at `start`, or `start` itself if a scan of its characters does
 * not prove that a double holds it exactly.
 */
export function skipShortNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  let significand = 0;
  let isWhole = true;
  let code = text.charCodeAt(at);
  for (; isDigit(code) || code === POINT; code = text.charCodeAt(at += 1)) {
    if (code === POINT) isWhole = false;
    else significand = significand * 10 + code - ZERO;
  }
  if (at - start > SHORT_CHARACTERS) return start;
  if ((code | LOWER_CASE) !== EXPONENT) {
    const isSafe = isWhole && significand <= Number.MAX_SAFE_INTEGER;
    return isSafe || significand < SAFE_SIGNIFICAND ? at : start;
  }
  code = text.charCodeAt(at += 1);
  if (code === PLUS || code === MINUS) code = text.charCodeAt(at += 1);
  let exponent = 0;
  for (; isDigit(code); code = text.charCodeAt(at += 1)) exponent = exponent * 10 + code - ZERO;
  return significand < SAFE_SIGNIFICAND && exponent <= SHORT_EXPONENT ? at : start;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

/** The same text for all spellings of a number: its significant digits and an exponent. */
function formatCanonical(text: string): string {
  const [mantissa = '', power = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', decimals = ''] = mantissa.split('.');
  const digits = (whole + decimals).replace(/^0+/, '');
  if (digits === '') return '0';
  let end = digits.length;
  while (digits.endsWith('0', end)) end -= 1; // /0+$/ takes quadratic time
  return `${digits.slice(0, end)}e${Number(power) - decimals.length + digits.length - end}`;
}
