/** The fields of an account: e-mail, new password, locale, time zone and low-stock threshold. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  type Account, lacksTwoFactor, normalisePassword, parseEmail, parseLocale, parseLowStock,
  parseTimeZone,
} from '../../../src/domain/access/account.ts';
import { parseNewPassword } from '../../../src/domain/access/new-password.ts';
import { PASSWORD_MIN_CODE_POINTS } from '../../../src/domain/limits.ts';
import type { ParseResult } from '../../../src/domain/validation.ts';

/** The parsed value, or the code of the error. */
function outcome<Value>(parsed: ParseResult<Value>): unknown {
  return 'value' in parsed ? parsed.value : parsed.error.code;
}

test('lowercases e-mail addresses, and trims white space', () => {
  const longest = `${'a'.repeat(241)}@shop.example`;
  for (const [text, email] of [
    [' Anna@Shop.Example\n', 'anna@shop.example'], ["o'neil+mugs@a-b.co", "o'neil+mugs@a-b.co"],
    ['a@b', 'a@b'], [longest, longest],
  ] as const) {
    assert.equal(outcome(parseEmail(text)), email);
  }
});

test('rejects malformed e-mail addresses', () => {
  for (const text of [
    '', ' ', 'anna', '@shop.example', 'anna@', 'anna@-shop.example', 'anna@shop-.example',
    'anna@shop..example', 'anna@shop.example.', 'an na@shop.example', 'anna@shop.example\0',
    'anna@shop.example, bob@shop.example', '"anna"@shop.example', 'änna@shop.example',
    `anna@${'a'.repeat(64)}.example`, `${'a'.repeat(242)}@shop.example`,
  ]) {
    assert.equal(outcome(parseEmail(text)), 'format', text);
  }
});

test('accepts passwords of 12 to 256 characters, counted in code points', () => {
  const sentence = 'Seven green boats';
  assert.equal(outcome(parseNewPassword(sentence, [])), sentence);
  assert.equal(outcome(parseNewPassword('abcdeabcdea', [])), 'length');
  assert.equal(outcome(parseNewPassword('tomato-house', [])), 'tomato-house');
  const emoji = '🐙🦀🐡🐬🐳🦈🐊🐢🦎🐍🐉🦕';
  assert.equal(outcome(parseNewPassword(emoji, [])), emoji);
  assert.equal(outcome(parseNewPassword('🐙🦀🐡🐬🐳🦈', [])), 'length');
  const longest = 'tomato-house'.repeat(22).slice(0, 256);
  assert.equal(outcome(parseNewPassword(longest, [])), longest);
  assert.equal(outcome(parseNewPassword(`${longest}x`, [])), 'length');
});

test('treats equivalent Unicode forms as the same password', () => {
  assert.equal(normalisePassword('Zoe\u0308 and ﬁsh ½'), 'Zoë and fish 1⁄2');
  assert.equal(outcome(parseNewPassword('Zoe\u0308s green boats', [])), 'Zoës green boats');
});

test('rejects passwords that attackers would try first', () => {
  for (const text of [
    'password123456', 'Password and more', 'qwertyqwerty', 'letmein-letmein', 'aaaaaaaaaaaa',
    'abababababab', '123456789012', 'abcdefghijklmnop', '987654321098', 'changeme-please',
  ]) {
    assert.equal(outcome(parseNewPassword(text, [])), 'format', text);
  }
});

test('rejects the 3,000 most common passwords that are long enough, in any case', () => {
  const file = new URL('../../../src/domain/access/common-passwords.txt', import.meta.url);
  const [source = '', ...passwords] = readFileSync(file, 'utf8').trimEnd().split('\n');
  assert.match(source, /^# .* CC BY-SA 4\.0: https:/);
  assert.equal(new Set(passwords).size, 3_000);
  assert.ok(passwords.every((text) => [...text].length >= PASSWORD_MIN_CODE_POINTS));
  for (const text of ['stratocaster', 'Counterstrike', 'JAMESBOND007', passwords.at(-1) ?? '']) {
    assert.equal(outcome(parseNewPassword(text, [])), 'format', text);
  }
  assert.equal(outcome(parseNewPassword('stratocaster tune', [])), 'stratocaster tune');
});

test('accepts a password of which two thirds are a sequence, and no more', () => {
  assert.equal(outcome(parseNewPassword('abcdefghizqzq', [])), 'abcdefghizqzq');
  assert.equal(outcome(parseNewPassword('abcdefghijzqz', [])), 'format');
});

test('rejects passwords that are little more than the shop or the e-mail', () => {
  const names = ['Blue Mug Company', 'anna.b@shop.example', 'anna.b', ''];
  for (const text of ['blue mug company', 'BLUE MUG COMPANY 2026', 'anna.b@shop.example!1',
    'anna.banna.b']) {
    assert.equal(outcome(parseNewPassword(text, names)), 'format', text);
  }
  for (const text of ['blue mug company sells 7 green boats', 'anna.b likes 7 green boats']) {
    assert.equal(outcome(parseNewPassword(text, names)), text);
  }
});

test('lacks two factors with a password alone, if the shop requires them', () => {
  // The cast: nothing else of the account matters.
  const lacks = (requiresTwoFactor: boolean, hasTotp: boolean, isPasswordOff: boolean) =>
    lacksTwoFactor({ requiresTwoFactor, hasTotp, isPasswordOff, passkeys: 1 } as Account);
  assert.equal(lacks(true, false, false), true);
  assert.equal(lacks(true, true, false), false);
  assert.equal(lacks(true, false, true), false);
  assert.equal(lacks(false, false, false), false);
});

test('accepts known locales, in their canonical form', () => {
  for (const [text, locale] of [
    ['en-gb', 'en-GB'], ['DE-ch', 'de-CH'], ['fr', 'fr'], ['zh-Hans-CN', 'zh-Hans-CN'],
  ] as const) {
    assert.equal(outcome(parseLocale(text)), locale);
  }
  for (const text of ['', '*', 'english', 'en_GB', 'xx-XX', 'zz', 'en-GB;q=1', '<b>',
    'de-CH-u-nu-latn-co-phonebk-kf-upper-hc-h23']) {
    assert.equal(outcome(parseLocale(text)), 'format', text);
  }
});

test('accepts known time zones', () => {
  for (const [text, zone] of [
    ['Europe/Zurich', 'Europe/Zurich'], ['europe/zurich', 'Europe/Zurich'], ['UTC', 'UTC'],
    ['Asia/Tokyo', 'Asia/Tokyo'],
  ] as const) {
    assert.equal(outcome(parseTimeZone(text)), zone);
  }
  for (const text of ['', 'Zurich', 'Europe/Nowhere', 'GMT+25', 'Europe/Zurich ', '../etc']) {
    assert.equal(outcome(parseTimeZone(text)), 'format', text);
  }
});

test('accepts a low-stock threshold from 0 to a billion', () => {
  for (const [text, value] of [
    ['0', 0], [' 12 ', 12], ['1000000000', 1_000_000_000], ['1000000001', 'range'],
    ['', 'precision'], ['-1', 'precision'], ['1.5', 'precision'], ['1e3', 'precision'],
    ['99999999999', 'precision'],
  ] as const) {
    assert.equal(outcome(parseLowStock(text)), value, text);
  }
});
