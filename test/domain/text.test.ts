/** The rules for titles (names and categories), identifiers (SKUs) and references to SKUs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseNewApiKey } from '../../src/domain/access/api-key.ts';
import { AppError } from '../../src/domain/error.ts';
import { parseNewSeller } from '../../src/domain/access/seller.ts';
import { stockReason } from '../../src/domain/catalogue/stock-change.ts';
import { stockSource } from '../../src/domain/catalogue/stock-sync.ts';
import { decodeMarkedText, validateIdentifier, validateText } from '../../src/domain/text.ts';
import { parseNewWebhook } from '../../src/domain/webhooks/webhook-input.ts';
import { catchAppError } from './validation-errors.ts';

const LIMIT = 5;
const show = (text: string): string => JSON.stringify(text).replaceAll(/[^ -~]/g, (character) =>
  `\\u{${character.codePointAt(0)?.toString(16)}}`);

describe('a title', () => {
  const accepted = [
    'a', 'a b', ' a ', '~', 'Käse', '部品', 'e\u0301', 'a\u00a0b', 'a\u200bb', '\u202ea', '👍\ufe0f',
    'aaaaa', '😀😀😀😀😀', '😀aaaa', 'aaaa😀', '\ufffd',
    'a\u2800b', '👩\u200d🚀', 'ש\u200f!', '\u2067ש\u2069', '\ue000', '🇨🇭', 'a\uffff',
    '\u0378', // unassigned: an older Unicode than the seller's must not reject a letter
  ];
  for (const text of accepted) {
    test(`accepts ${show(text)}`, () => assert.equal(validateText(text, LIMIT), undefined));
  }

  const refused: [code: string, texts: string[]][] = [
    ['length', ['aaaaaa', '😀😀😀😀😀😀', '😀aaaaa', 'aaaaa ', 'äaaaaa', 'a'.repeat(100_000)]],
    ['blank', [
      '', ' ', '\t\r\n', '\u00a0\u3000', '\u200b', '\u200b \u200d', '\ufeff', '\u2060', '\u00ad',
      '\ufe0f', '\u3164', '\u2028', ' '.repeat(100_000), '\u115f', '\u1160', '\uffa0',
      '\u2800', '\u2800 \u200b', '\u1680', '\u2007\u202f', '\u202e\u2066',
      '\u{13441}\u{13442}', '\u{16fe4}', '\u{1d159}', '\u{e0041}', '\u180e', '\u2061',
    ]],
    ['characters', [
      '\0', 'a\0', 'a\nb', 'a\t', '\u001b[0m', 'a\u007f', 'a\u0085b', 'a\u009f', 'a\u2028b',
      'a\u2029b',
      '\ud800', '\udc00', 'a\ud83d', '\ude00\ud83d', 'a\udc00b',
    ]],
  ];
  for (const [code, texts] of refused) {
    for (const text of texts) {
      test(`rejects ${show(text.slice(0, 10))} (${text.length}): ${code}`, () => {
        assert.equal(validateText(text, LIMIT)?.code, code);
      });
    }
  }
});

describe('an identifier', () => {
  for (const text of [
    'A-1', 'a b', 'ä', '部品', '😀', 'aaaaa', '😀😀😀😀😀', '½#²', '«€»', 'x\u0325', 'ชื่อ', 'मकई',
    '⠁⠂',
  ]) {
    test(`accepts ${show(text)}`, () => assert.equal(validateIdentifier(text, LIMIT), undefined));
  }

  test('is rejected if a title would be', () => {
    assert.equal(validateIdentifier('', LIMIT)?.code, 'blank');
    assert.equal(validateIdentifier('aaaaaa', LIMIT)?.code, 'length');
    assert.equal(validateIdentifier('a\0', LIMIT)?.code, 'characters');
  });

  const refused = [
    ' a', 'a ', '\u00a0a', 'a\u3000', '\ufeffa', // outer white space
    'a\u200bb', 'a\u200cb', 'a\u200db', 'a\u2060b', 'a\ufeffb', 'a\u00adb', // zero-width
    'a\u034fb', 'a\u115fb', 'a\u3164b', 'a\u180eb',
    'a\u200eb', 'a\u200fb', 'a\u061cb', 'a\u202ab', 'a\u202eb', 'a\u2066b', 'a\u2069b', // bidi
    'a\u00a0b', 'a\u1680b', 'a\u2003b', 'a\u2007b', 'a\u202fb', 'a\u205fb', 'a\u3000b', // spaces
    'a\u2800b', 'a\u{13441}', 'a\u{1d159}b', // characters that only look like spaces
    'a\ue000', 'a\u0378', 'a\u{10fffd}', 'a\uffff', // private use, unassigned
    '\u0301a', '\u0e34', // a combining mark without a base character
    'a\ufe00', 'a\ufe0f', 'a\u{e0100}', 'a\u{e01ef}', 'a\u{e0041}', // variation selectors and tags
  ];
  for (const text of refused) {
    test(`rejects ${show(text)}`, () => {
      assert.equal(validateIdentifier(text, LIMIT)?.code, 'characters');
    });
  }
});

test('the error for an identifier names the rejected character', () => {
  assert.match(validateIdentifier('a\u00a0b', LIMIT)?.detail ?? '', /; U\+00A0 is not allowed/);
  assert.match(validateIdentifier('a\u{1d159}', LIMIT)?.detail ?? '', /; U\+1D159 is not allowed/);
});

test('every text that renders as nothing is blank', async () => {
  const key = { scopes: [], addressRanges: [], expiresAt: undefined };
  for (const text of ['\u2800', '\u3164', '\u115f', '\u200b', '\u00a0', '\ufeff', '\u{1d159}']) {
    for (const parsed of [stockReason.parse(text), stockSource.parse(text)]) {
      assert.equal('error' in parsed && parsed.error.code, 'blank', show(text));
    }
    assert.match(catchAppError(() => parseNewSeller(text, 'EUR')).publicDetail, /blank/);
    const { issues: [issue] } = catchAppError(() => parseNewApiKey({ name: text, ...key }));
    assert.equal(issue?.code, 'blank');
    const webhook = { url: 'https://shop.example/', description: text };
    await assert.rejects(parseNewWebhook(webhook, async () => undefined), (error) =>
      error instanceof AppError && error.issues[0]?.code === 'blank');
  }
});

test('a byte order mark says whether a text is UTF-16, and is no part of it', () => {
  const text = 'spk_ä\n';
  const little = Buffer.from(text, 'utf16le');
  for (const bytes of [
    Buffer.from(text), Buffer.from(`\uFEFF${text}`), Buffer.from(`\uFEFF${text}`, 'utf16le'),
    Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(little).swap16()]),
  ]) {
    assert.equal(decodeMarkedText(bytes), text);
  }
  assert.equal(decodeMarkedText(Buffer.alloc(0)), '');
});
