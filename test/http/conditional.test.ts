/** Entity tags and If-None-Match (RFC 9110 sections 8.8.3 and 13.1.2). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatEntityTag, isNoneMatch } from '../../src/http/conditional.ts';

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
  ];
  for (const [header, matches] of cases) {
    test(`${header ?? '(none)'}: ${matches ? '304' : 'the whole answer'}`, () => {
      assert.equal(isNoneMatch(header, '"5"'), matches);
    });
  }
});
