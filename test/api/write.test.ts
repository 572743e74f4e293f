/** Parsing of Idempotency-Key: quoted as in the IETF draft, or bare. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readIdempotencyKey } from '../../src/api/write.ts';
import { catchAppError } from '../domain/validation-errors.ts';
import { send } from '../support/http.ts';
import { serve } from '../http/raw.ts';

const SIGNS = '!#$%&\'()*+-./:;<=>?@[]^_`{|}~';

const read = (field: string): string | undefined =>
  readIdempotencyKey({ 'idempotency-key': field });

test('returns undefined without the header', () => {
  assert.equal(readIdempotencyKey({}), undefined);
});

describe('accepts', () => {
  const cases: readonly (readonly [field: string, key: string])[] = [
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"a b, c;d=e"', 'a b, c;d=e'],
    ['" "', ' '],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ['a', 'a'], [String.raw`a\b`, String.raw`a\b`], [SIGNS, SIGNS],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    [`"${String.raw`\"`.repeat(255)}"`, '"'.repeat(255)],
  ];
  for (const [field, key] of cases) test(field.slice(0, 50), () => assert.equal(read(field), key));
});

describe('rejects, and shows what to send:', () => {
  const fields = [
    '', '""', ' ', 'a b', 'a,b', 'a, a', '"a", "a"', '"a', 'a"', 'a"b', '"a"b"', '"a";b=c',
    '\u00e9', '"\u00e9"', 'a\tb', '"a\tb"', String.raw`"a\b"`, String.raw`"a\"`, '"a"\n', 'a\n',
    'x'.repeat(256), `"${'x'.repeat(256)}"`, `"${String.raw`\"`.repeat(256)}"`,
    `"${'x'.repeat(16_000)}`,
  ];
  for (const field of fields) {
    test(JSON.stringify(field.slice(0, 50)), () => {
      const { code, publicDetail } = catchAppError(() => read(field));
      assert.equal(code, 'invalid_data');
      assert.match(publicDetail, /Idempotency-Key: "/);
    });
  }
});

test('rejects a header that is sent twice', async (t) => {
  const port = await serve(t, ({ headers }, response) => {
    response.end(catchAppError(() => readIdempotencyKey(headers)).code);
  });
  for (const keys of [['a', 'a'], ['"a"', '"a"'], ['a', '"b"']]) {
    const { text } = await send(port, { path: '/', headers: { 'idempotency-key': keys } });
    assert.equal(text, 'invalid_data');
  }
});
