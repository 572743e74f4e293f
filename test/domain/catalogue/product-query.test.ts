/** The case-folded form of texts, which is searched and sorted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldText } from '../../../src/domain/catalogue/product-query.ts';
import { forRandom } from '../random.ts';

const equivalents: readonly (readonly string[])[] = [
  ['Mug', 'MUG', 'mug', 'ＭＵＧ'],
  ['Straße', 'STRASSE', 'strasse'],
  ['ΟΔΟΣ', 'οδος', 'οδοσ'],
  ['İstanbul', 'istanbul', 'ISTANBUL', 'ıstanbul'],
  ['Crème brûlée', 'creme brulee'],
  ['ﬁx', 'fix'],
  ['Ёлка', 'елка'],
  ['が', 'か\u3099'],
  ['한국', '한국'.normalize('NFD')],
];

for (const texts of equivalents) {
  test(`folds ${texts.join(', ')} to the same`, () => {
    assert.equal(new Set(texts.map(foldText)).size, 1);
  });
}

test('distinguishes different letters', () => {
  for (const [one, other] of [['か', 'が'], ['ش', 'س'], ['中', '国'], ['क', 'का'], ['a', 'b']]) {
    assert.notEqual(foldText(one ?? ''), foldText(other ?? ''));
  }
});

test('leaves folded text unchanged', () => {
  forRandom(200, (random) => {
    const text = Array.from({ length: 8 }, () => String.fromCodePoint(
      random.pick([0, 0x370, 0x1e00]) + random.below(0x1000),
    )).join('');
    assert.equal(foldText(foldText(text)), foldText(text), JSON.stringify(text));
  });
});
