/** Times as RFC 3339 text, and durations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatFileTime, formatTime, parseDuration, parseFileTime, parseTime,
} from '../../src/domain/time.ts';
import { catchAppError } from './validation-errors.ts';

test('formats UTC with milliseconds', () => {
  assert.equal(formatTime(1_767_323_045_678), '2026-01-02T03:04:05.678Z');
  assert.equal(formatTime(1_767_323_045_000), '2026-01-02T03:04:05.000Z');
  assert.equal(formatTime(0), '1970-01-01T00:00:00.000Z');
});

test('formats alternating times', () => {
  for (const at of [5, 5, 0, 5, 0, 0, 1_767_323_045_678, 5]) {
    assert.equal(formatTime(at), new Date(at).toISOString());
  }
});

test('continues after an invalid time', () => {
  assert.equal(formatTime(7), '1970-01-01T00:00:00.007Z');
  assert.throws(() => formatTime(NaN), RangeError);
  assert.equal(formatTime(7), '1970-01-01T00:00:00.007Z');
});

const times: readonly [text: string, at: number | undefined][] = [
  ['2026-01-02T03:04:05.678Z', 1_767_323_045_678],
  ['2026-01-02T03:04:05Z', 1_767_323_045_000],
  ['2026-01-02T04:04:05+01:00', 1_767_323_045_000],
  ['2026-01-02T03:04:05.678912345Z', 1_767_323_045_678],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-04-31T00:00:00Z', undefined],
  ['2026-13-01T00:00:00Z', undefined],
  ['2026-01-02T25:00:00Z', undefined],
  ['2026-01-02T24:00:00Z', undefined],
  ['2026-01-02T03:60:00Z', undefined],
  ['2026-01-02T03:04:61Z', undefined],
  ['2026-01-02T03:04:05+24:00', undefined],
  ['2026-01-02T03:04:05+01:60', undefined],
  // Leap seconds, which Unix time does not have, are the second that follows.
  ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
  ['2016-12-31T23:59:60.25Z', Date.UTC(2017, 0, 1, 0, 0, 0, 250)],
  ['2015-06-30T23:59:60Z', Date.UTC(2015, 6, 1)],
  ['1990-12-31T15:59:60-08:00', Date.UTC(1991, 0, 1)],
  ['2017-01-01T05:29:60+05:30', Date.UTC(2017, 0, 1)],
  ['2016-12-31T23:59:60+01:00', undefined],
  ['2016-12-31T22:59:60Z', undefined],
  ['2016-12-30T23:59:60Z', undefined],
  ['2016-11-30T23:59:60Z', undefined],
  ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ['9999-12-31T23:59:60Z', undefined],
  ['9999-12-31T23:59:59-01:00', undefined],
  ['2026-01-02T03:04:05', undefined],
  ['2026-01-02', undefined],
  ['2026-01-02 03:04:05Z', undefined],
  ['1969-12-31T23:59:59Z', undefined],
  ['yesterday', undefined],
  ['', undefined],
];

for (const [text, at] of times) {
  test(`reads "${text}" as ${at ?? 'no time'}`, () => assert.equal(parseTime(text), at));
}

test('formats a time for file names', () => {
  assert.equal(formatFileTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), '20260102T030405Z');
  assert.equal(parseFileTime('20260102T030405Z'), Date.UTC(2026, 0, 2, 3, 4, 5));
  for (const text of ['', '20260102T030405', '20260231T030405Z', '20260102T250405Z', 'x']) {
    assert.equal(parseFileTime(text), undefined, text);
  }
});

const DURATIONS: readonly (readonly [text: string, durationMs: number])[] = [
  ['0s', 0], ['1s', 1_000], ['30s', 30_000], ['15m', 900_000], ['24h', 86_400_000],
  ['90d', 7_776_000_000],
  ['007d', 604_800_000], ['3653d', 315_619_200_000], ['87672h', 315_619_200_000],
];
for (const [text, durationMs] of DURATIONS) {
  test(`reads the duration ${text} as ${durationMs} ms`, () => {
    assert.equal(parseDuration(text), durationMs);
  });
}

const NOT_DURATIONS = [
  '', '1', 's', '-1d', '+1d', '1.5h', '1e3s', ' 1h', '1h ', '1h\n', '1 h', '1H', '1w', '1y',
  '1h30m',
  '3654d', '87673h', '999999999s', '1000000000s', '١s', 'Infinityd', 'NaNs',
];
for (const text of NOT_DURATIONS) {
  test(`rejects the duration ${JSON.stringify(text)}`, () => {
    const error = catchAppError(() => parseDuration(text));
    assert.equal(error.code, 'invalid_data');
    assert.ok(error.publicDetail.includes(`"${text}"`), error.publicDetail);
  });
}
