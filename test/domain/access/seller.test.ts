/** New sellers: a name and a currency. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseNewSeller, parseSellerPatch, parseSellerReference,
} from '../../../src/domain/access/seller.ts';
import { formatSellerId, type SellerId } from '../../../src/domain/id.ts';
import { catchAppError } from '../validation-errors.ts';

test('keeps the name as given and finds the currency', () => {
  assert.deepEqual(parseNewSeller(' Zoë’s shop ', 'KWD'), {
    name: ' Zoë’s shop ', currency: { code: 'KWD', decimals: 3 },
  });
});

test('accepts a name of 200 code points, and rejects one of 201', () => {
  assert.equal(parseNewSeller('😀'.repeat(200), 'EUR').name.length, 400);
  assert.equal(catchAppError(() => parseNewSeller('😀'.repeat(201), 'EUR')).code, 'invalid_data');
});

test('rejects a name that is not a valid title', () => {
  for (const name of ['', ' ', '\u200b', 'a\nb', 'a\0', '\ud800']) {
    const refusal = catchAppError(() => parseNewSeller(name, 'EUR'));
    assert.equal(refusal.code, 'invalid_data');
    assert.match(refusal.publicDetail, /name/);
  }
});

test('rejects an unknown currency, and names it', () => {
  for (const code of ['', 'eur', 'EURO', 'ABC', 'XXX', ' EUR']) {
    const refusal = catchAppError(() => parseNewSeller('A shop', code));
    assert.equal(refusal.code, 'invalid_data');
    assert.ok(refusal.publicDetail.includes(`"${code}"`), refusal.publicDetail);
  }
});

test('accepts an external id of 200 code points, exactly as it is', () => {
  for (const externalId of ['42', 'a@b.example', 'https://host/users/7?x=y z', '😀'.repeat(200)]) {
    assert.equal(parseNewSeller('A shop', 'EUR', externalId).externalId, externalId);
    assert.equal(parseSellerReference(externalId), externalId);
  }
  assert.deepEqual(parseSellerPatch({ externalId: null }), { externalId: null });
  assert.deepEqual(parseSellerPatch({}), {});
});

test('rejects an external id that begins with sel_, or has invisible characters', () => {
  for (const externalId of [
    '', ' ', ' 42', '42 ', 'a\u200bb', 'a\nb', 'a\0', '\ud800', '😀'.repeat(201), 'sel_',
    'sel_x', formatSellerId(7 as SellerId),
  ]) {
    for (const parse of [
      () => parseNewSeller('A shop', 'EUR', externalId), () => parseSellerPatch({ externalId }),
    ]) {
      const refusal = catchAppError(parse);
      assert.equal(refusal.code, 'invalid_data');
      assert.match(refusal.publicDetail, /^The seller's external id: Must|surrogate/);
    }
  }
});

test('parses a reference as an id or an external id, and rejects what can be neither', () => {
  const id = 7 as SellerId;
  assert.equal(parseSellerReference(formatSellerId(id)), id);
  for (const text of ['', 'sel_7', 'a\0', '\ud800']) {
    assert.equal(parseSellerReference(text), undefined);
  }
});
