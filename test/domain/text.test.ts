/** The rules for titles (names, categories) and for identifiers (SKUs). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findIdentifierFault, findTextFault } from '../../src/domain/text.ts';

const LIMIT = 5;
const show = (text: string): string => JSON.stringify(text).replaceAll(/[^ -~]/g, (character) =>
  `\\u{${character.codePointAt(0)?.toString(16)}}`);

describe('a title', () => {
  const accepted = [
    'a', 'a b', ' a ', '~', 'Käse', '部品', 'e\u0301', 'a\u00a0b', 'a\u200bb', '\u202ea', '👍\ufe0f',
    'aaaaa', '😀😀😀😀😀', '😀aaaa', 'aaaa😀', '\ufffd',
  ];
  for (const text of accepted) {
    test(`accepts ${show(text)}`, () => assert.equal(findTextFault(text, LIMIT), undefined));
  }

  const refused: [code: string, texts: string[]][] = [
    ['length', ['aaaaaa', '😀😀😀😀😀😀', '😀aaaaa', 'aaaaa ', 'äaaaaa', 'a'.repeat(100_000)]],
    ['blank', [
      '', ' ', '\t\r\n', '\u00a0\u3000', '\u200b', '\u200b \u200d', '\ufeff', '\u2060', '\u00ad',
      '\ufe0f', '\u3164', '\u2028', ' '.repeat(100_000),
    ]],
    ['characters', [
      '\0', 'a\0', 'a\nb', 'a\t', '\u001b[0m', 'a\u007f', 'a\u0085b', 'a\u009f', 'a\u2028b',
      'a\u2029b',
      '\ud800', '\udc00', 'a\ud83d', '\ude00\ud83d', 'a\udc00b',
    ]],
  ];
  for (const [code, texts] of refused) {
    for (const text of texts) {
      test(`refuses ${show(text.slice(0, 10))} (${text.length}): ${code}`, () => {
        assert.equal(findTextFault(text, LIMIT)?.code, code);
      });
    }
  }
});

describe('an identifier', () => {
  for (const text of ['A-1', 'a b', 'ä', '部品', '😀', 'aaaaa', '😀😀😀😀😀', 'a\u00a0b']) {
    test(`accepts ${show(text)}`, () => assert.equal(findIdentifierFault(text, LIMIT), undefined));
  }

  test('is refused for what a title is refused for', () => {
    assert.equal(findIdentifierFault('', LIMIT)?.code, 'blank');
    assert.equal(findIdentifierFault('aaaaaa', LIMIT)?.code, 'length');
    assert.equal(findIdentifierFault('a\0', LIMIT)?.code, 'characters');
  });

  const refused = [
    ' a', 'a ', '\u00a0a', 'a\u3000', '\ufeffa', // outer white space
    'a\u200bb', 'a\u200cb', 'a\u200db', 'a\u2060b', 'a\ufeffb', 'a\u00adb', // zero-width
    'a\u034fb', 'a\u115fb', 'a\u3164b', 'a\u180eb',
    'a\u200eb', 'a\u200fb', 'a\u061cb', 'a\u202ab', 'a\u202eb', 'a\u2066b', 'a\u2069b', // bidi
    'a\ufe00', 'a\ufe0f', 'a\u{e0100}', 'a\u{e01ef}', 'a\u{e0041}', // variation selectors and tags
  ];
  for (const text of refused) {
    test(`refuses ${show(text)}`, () => {
      assert.equal(findIdentifierFault(text, LIMIT)?.code, 'characters');
    });
  }
});
