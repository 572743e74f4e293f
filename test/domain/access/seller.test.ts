/** New sellers: a name and a currency. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNewSeller } from '../../../src/domain/access/seller.ts';
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
