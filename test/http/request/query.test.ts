/** Parsing of the query string: known parameters, each at most once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { invalidQuery, parseQuery } from '../../../src/http/request/query.ts';
import { catchAppError } from '../../domain/validation-errors.ts';

const KNOWN = { limit: {}, cursor: {} };

describe('reads', () => {
  const cases: readonly (readonly [text: string, query: Record<string, string>])[] = [
    ['', {}], ['&', {}], ['&&limit=5&', { limit: '5' }], ['limit=5', { limit: '5' }],
    ['cursor=a&limit=5', { cursor: 'a', limit: '5' }], ['limit', { limit: '' }],
    ['limit=', { limit: '' }],
    ['limit=a=b', { limit: 'a=b' }], ['limit=1+2', { limit: '1 2' }],
    ['limit=1%2B2', { limit: '1+2' }],
    ['li%6Dit=%C3%A9', { limit: 'é' }],
    ['limit=?', { limit: '?' }], ['limit=1;cursor=2', { limit: '1;cursor=2' }],
  ];
  for (const [text, query] of cases) {
    test(JSON.stringify(text), () => {
      assert.deepEqual(Object.fromEntries(parseQuery(text, KNOWN)), query);
    });
  }
});

describe('rejects', () => {
  const cases: readonly (readonly [text: string, faults: [string, string][]])[] = [
    ['limit=5&limit=5', [['limit', 'duplicate']]],
    ['limit=5&li%6Dit=6', [['limit', 'duplicate']]],
    ['a=1', [['a', 'unknown']]],
    ['Limit=1', [['Limit', 'unknown']]],
    ['limit%20=1', [['limit ', 'unknown']]],
    ['limit[]=1', [['limit[]', 'unknown']]],
    ['=', [['', 'unknown']]],
    ['__proto__=1', [['__proto__', 'unknown']]],
    ['a=1&limit=1&limit=2&b=2', [['a', 'unknown'], ['limit', 'duplicate'], ['b', 'unknown']]],
    ['?limit=5', [['?limit', 'unknown']]], // of /products??limit=5
  ];
  for (const [text, faults] of cases) {
    test(text, () => {
      const refusal = catchAppError(() => parseQuery(text, KNOWN));
      assert.equal(refusal.code, 'invalid_query');
      assert.deepEqual(refusal.issues.map(({ parameter, code }) => [parameter, code]), faults);
    });
  }

  test('any parameter if none is known', () => {
    assert.equal(catchAppError(() => parseQuery('limit=5', {})).issues[0]?.code, 'unknown');
  });

  test('a query with at most 50 listed errors', () => {
    const text = Array.from({ length: 51 }, (_, n) => `p${n}=1`).join('&');
    assert.equal(catchAppError(() => parseQuery(text, KNOWN)).issues.length, 50);
  });
});

test('names each invalid parameter once, quoted', () => {
  const issue = { code: 'range', detail: 'No.' } as const;
  const issues = ['a', 'b"', 'a'].map((parameter) => ({ parameter, ...issue }));
  const error = invalidQuery(issues);
  assert.equal(error.code, 'invalid_query');
  assert.equal(error.issues, issues);
  assert.ok(error.publicDetail.endsWith('"a", "b\\"".'), error.publicDetail);
});

for (const text of ['limit=%FF', 'limit=%ZZ', 'limit=100%', 'limit=%ED%A0%80', '%FF=1']) {
  test(`rejects ${text}, which is not percent-encoded UTF-8`, () => {
    const refusal = catchAppError(() => parseQuery(text, KNOWN));
    assert.equal(refusal.code, 'invalid_query');
    assert.match(refusal.publicDetail, /%25/);
  });
}
