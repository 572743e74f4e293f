/** Whole numbers in addresses and hidden fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findEndOfDay, findWholeNumber,
} from '../../../../src/features/portal/forms/typed-values.ts';

test('reads safe integers', () => {
  for (const number of [0, 7, Number.MAX_SAFE_INTEGER]) {
    assert.equal(findWholeNumber(String(number)), number);
  }
});

test('finds no number in any other text', () => {
  const largest = String(Number.MAX_SAFE_INTEGER + 1);
  const others = ['', '007', ' 1', '-1', '+1', '1.0', '1e3', '0x1', '١', largest, '9'.repeat(17)];
  for (const text of others) {
    assert.equal(findWholeNumber(text), undefined, text);
  }
});

test('ends a day at midnight in its time zone, even around a clock change', () => {
  for (const [day, timeZone, end] of [
    ['2026-01-31', 'UTC', '2026-02-01T00:00:00.000Z'],
    ['2024-02-29', 'Europe/Zurich', '2024-02-29T23:00:00.000Z'],
    ['2026-03-28', 'Europe/Zurich', '2026-03-28T23:00:00.000Z'],
    ['2026-03-29', 'Europe/Zurich', '2026-03-29T22:00:00.000Z'], // summer time begins
    ['2026-10-25', 'Europe/Zurich', '2026-10-25T23:00:00.000Z'], // summer time ends
    ['2026-12-31', 'America/New_York', '2027-01-01T05:00:00.000Z'],
    ['2026-10-03', 'Australia/Sydney', '2026-10-03T14:00:00.000Z'],
    ['2026-04-04', 'Australia/Sydney', '2026-04-04T13:00:00.000Z'],
    ['2026-06-01', 'Asia/Kathmandu', '2026-06-01T18:15:00.000Z'],
  ] as const) {
    const found = findEndOfDay(day, timeZone);
    assert.equal(found !== undefined && new Date(found).toISOString(), end, `${day} ${timeZone}`);
  }
});

test('returns no end for an invalid day', () => {
  const others = ['', '2026-02-29', '2026-13-01', '2026-1-1', '31.01.2026', '2026-01-31T00:00'];
  for (const day of others) {
    assert.equal(findEndOfDay(day, 'UTC'), undefined, day);
  }
});
