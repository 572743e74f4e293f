/** Entity tags and preconditions (RFC 9110 sections 8.8.3 and 13). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RevisionSet } from '../../../src/domain/precondition.ts';
import {
  findNoneMatch, formatCodedTag, formatEntityTag, isNoneMatch, readPrecondition,
} from '../../../src/http/response/conditional.ts';
import { catchAppError } from '../../domain/validation-errors.ts';

test('a position is a strong entity tag', () => {
  assert.equal(formatEntityTag(0), '"0"');
  assert.equal(formatEntityTag(1_234_567_890_123), '"1234567890123"');
});

describe('If-None-Match against "5"', () => {
  const cases: readonly (readonly [header: string | undefined, matches: boolean])[] = [
    ['"5"', true], ['W/"5"', true], ['"4", "5"', true], ['"5","6"', true], ['"4",W/"5" ,"6"', true],
    [' "5" ', true], ['\t"4"\t,\t"5"', true], ['"a, b", "5"', true], [', ,"5"', true], ['*', true],
    [' * ', true],
    [undefined, false], ['', false], ['5', false], ['"55"', false], ['"4"', false],
    ['"4", "6"', false],
    ['"5', false], ['5"', false], ['""', false], ['W/"4"', false], ['"05"', false],
    ['"4, 5"', false],
    ['"W/5"', false], ['"*"', false],
    ['"5-gzip"', true], ['W/"5-br"', true], ['"4-gzip", "5-gzip"', true],
    ['"5-"', false], ['"5-zip"', false], ['"4-gzip"', false], ['"5-gzip-gzip"', false],
  ];
  for (const [header, matches] of cases) {
    test(`${header ?? '(none)'}: ${matches ? '304' : 'the whole response'}`, () => {
      assert.equal(isNoneMatch(header, '"5"'), matches);
    });
  }
});

test('the ETag of a compressed response includes the coding', () => {
  assert.equal(formatCodedTag('"5"', 'gzip'), '"5-gzip"');
  assert.equal(formatCodedTag('W/"a"', 'br'), 'W/"a-br"');
});

test('finds the matching entity tag in If-None-Match', () => {
  assert.equal(findNoneMatch('"4", W/"5-br"', '"5"'), '"5-br"');
  assert.equal(findNoneMatch('"5-gzip", "5"', '"5"'), '"5-gzip"');
  assert.equal(findNoneMatch('*', '"5"'), '"5"');
  assert.equal(findNoneMatch('"4"', '"5"'), undefined);
});

describe('the positions of a precondition', () => {
  const cases: readonly (readonly [field: string, strong: RevisionSet, weak: RevisionSet])[] = [
    ['*', '*', '*'], [' * ', '*', '*'], ['"5"', [5], [5]], ['W/"5"', 'weak', [5]],
    ['"4", "5"', [4, 5], [4, 5]], ['W/"4","5" ,"0"', [5, 0], [4, 5, 0]], [', ,"5",,', [5], [5]],
    ['W/"5", W/"6-gzip"', 'weak', [5, 6]],
    ['"5-gzip"', [5], [5]], ['"5-br", W/"6-gzip"', [5], [5, 6]], ['\t"5"\t', [5], [5]],
    ['"abc"', [], []], ['"abc", "5"', [5], [5]], ['""', [], []], ['"05"', [], []],
    ['"5-zip"', [], []], ['"-5"', [], []], ['"5.0"', [], []], ['"4, 5"', [], []], ['"*"', [], []],
    ['"999999999999999"', [999_999_999_999_999], [999_999_999_999_999]],
    ['"9007199254740993"', [], []],
  ];
  for (const [field, strong, weak] of cases) {
    test(field, () => {
      assert.deepEqual(readPrecondition({ 'if-match': field }).ifMatch, strong);
      assert.deepEqual(readPrecondition({ 'if-none-match': field }).ifNoneMatch, weak);
    });
  }

  test('are absent without the headers', () => {
    assert.deepEqual({ ...readPrecondition({}) }, {});
    assert.equal(readPrecondition({ 'if-match': '"5"' }).ifNoneMatch, undefined);
    assert.equal(readPrecondition({ 'if-none-match': '"5"' }).ifMatch, undefined);
  });

  for (const field of [
    '', ' ', ',', '5', '"5', '5"', '"5" "6"', '"5", 6', '*, "5"', '"5", *', 'w/"5"',
    'W/5', 'W/ "5"', '"5"; a=b', '*'.repeat(16_000), '"a",'.repeat(4_000) + 'x',
  ]) {
    test(`are rejected in ${JSON.stringify(field.slice(0, 50))}`, () => {
      for (const [name, label] of [['if-match', 'If-Match'], ['if-none-match', 'If-None-Match']]) {
        const refusal = catchAppError(() => readPrecondition({ [name ?? '']: field }));
        assert.equal(refusal.code, 'invalid_data');
        assert.ok(refusal.publicDetail.startsWith(`${label} must be`), refusal.publicDetail);
      }
    });
  }
});
