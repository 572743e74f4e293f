/** Durations as people type them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from '../../src/domain/duration.ts';
import { catchRefusal } from './validation-errors.ts';

const ACCEPTED: readonly (readonly [text: string, durationMs: number])[] = [
  ['0s', 0], ['1s', 1_000], ['30s', 30_000], ['15m', 900_000], ['24h', 86_400_000],
  ['90d', 7_776_000_000],
  ['007d', 604_800_000], ['3653d', 315_619_200_000], ['87672h', 315_619_200_000],
];
for (const [text, durationMs] of ACCEPTED) {
  test(`reads ${text} as ${durationMs} ms`, () => assert.equal(parseDuration(text), durationMs));
}

const REFUSED = [
  '', '1', 's', '-1d', '+1d', '1.5h', '1e3s', ' 1h', '1h ', '1h\n', '1 h', '1H', '1w', '1y',
  '1h30m',
  '3654d', '87673h', '999999999s', '1000000000s', '١s', 'Infinityd', 'NaNs',
];
for (const text of REFUSED) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    const refusal = catchRefusal(() => parseDuration(text));
    assert.equal(refusal.code, 'invalid_data');
    assert.ok(refusal.publicDetail.includes(`"${text}"`), refusal.publicDetail);
  });
}
