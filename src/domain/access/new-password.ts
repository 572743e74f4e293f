/**
 * Which passwords an account may have, by NIST SP 800-63B-4 section 3.1.1: length counts,
 * composition does not, and common passwords are rejected. Apart from `account.ts`, since only what
 * sets passwords needs the list of common ones.
 */
import { readAsset } from '../../runtime/asset.ts';
import { PASSWORD_LIMIT_CODE_POINTS, PASSWORD_MIN_CODE_POINTS } from '../limits.ts';
import { invalid, type ParseResult } from '../validation.ts';
import { normalisePassword } from './account.ts';

const DISTINCT_CHARACTERS_MIN = 5;
/** Read when the program starts, since no request may wait for a file. In lower case. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  readAsset(new URL('common-passwords.txt', import.meta.url)).split('\n'),
);
const COMMON = /^(?:password|passwort|qwerty|letmein|welcome|iloveyou|administrator|changeme)/i;

/** @param names Texts, such as the shop name, that do not count towards the length. */
export function parseNewPassword(text: string, names: readonly string[]): ParseResult<string> {
  const password = normalisePassword(text);
  const length = [...password].length;
  if (length < PASSWORD_MIN_CODE_POINTS || length > PASSWORD_LIMIT_CODE_POINTS) {
    const range = `${PASSWORD_MIN_CODE_POINTS} to ${PASSWORD_LIMIT_CODE_POINTS}`;
    return invalid('length', `Must have ${range} characters: use a sentence of a few words.`);
  }
  const isNamed = names.some((name) => name !== ''
    && password.toLowerCase().replaceAll(name.toLowerCase(), '').length < PASSWORD_MIN_CODE_POINTS
    && password.toLowerCase().includes(name.toLowerCase()));
  const isPoor = new Set(password).size < DISTINCT_CHARACTERS_MIN || isSequence(password);
  const isCommon = COMMON.test(password) || COMMON_PASSWORDS.has(password.toLowerCase());
  if (!isNamed && !isPoor && !isCommon) return { value: password };
  return invalid('format', 'Is easy to guess. Use a password unrelated to you or the shop.');
}

/** Such as `123456789012` and `abcdefghijkl`. */
function isSequence(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => Math.abs(code - (codes[index] ?? 0)));
  return steps.filter((step) => step <= 1).length > (steps.length * 2) / 3;
}
