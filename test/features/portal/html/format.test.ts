/** Numbers, money and times in a seller's locale and time zone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFormatCache, toDecimal } from '../../../../src/features/portal/html/format.ts';
import { PORTAL_FORMATS_LIMIT } from '../../../../src/features/portal/limits.ts';

const EURO = { code: 'EUR', decimals: 2 };
const AT = Date.parse('2026-03-01T23:30:05Z');

/** Locales use several kinds of spaces before units. */
function plain(text: string): string {
  return text.replace(/\s/gu, ' ');
}

test('formats numbers and signed numbers in the locale', () => {
  const findFormat = makeFormatCache(() => AT);
  const german = findFormat({ locale: 'de-DE', timeZone: 'UTC', currency: EURO });
  const british = findFormat({ locale: 'en-GB', timeZone: 'UTC', currency: EURO });
  assert.deepEqual([german.number(1_234_567), british.number(1_234_567)],
    ['1.234.567', '1,234,567']);
  assert.deepEqual([british.delta(3), british.delta(-3), british.delta(0)], ['+3', '-3', '0']);
  assert.equal(british.number(12_345_678_901_234_567_890n), '12,345,678,901,234,567,890');
});

test('formats amounts exactly, with the decimals of their currency', () => {
  const findFormat = makeFormatCache(() => AT);
  const write = (locale: string, code: string, decimals: number, minor: number | bigint) =>
    plain(findFormat({ locale, timeZone: 'UTC', currency: { code, decimals } }).money(minor));
  assert.equal(write('en-GB', 'EUR', 2, 5), '€0.05');
  assert.equal(write('en-GB', 'EUR', 2, 123_456), '€1,234.56');
  assert.equal(write('de-DE', 'EUR', 2, 1_990), '19,90 €');
  assert.equal(write('en-GB', 'JPY', 0, 1_990), 'JP¥1,990');
  assert.equal(write('en-GB', 'KWD', 3, 1_990), 'KWD 1.990');
  assert.equal(write('en-GB', 'EUR', 2, 9_007_199_254_740_993n), '€90,071,992,547,409.93');
});

test('formats amounts for form fields with a decimal separator only', () => {
  const findFormat = makeFormatCache(() => AT);
  const get = (locale: string, currency = EURO) =>
    findFormat({ locale, timeZone: 'UTC', currency });
  assert.equal(get('en-GB').amount(123_456), '1234.56');
  assert.equal(get('de-DE').amount(123_456), '1234,56');
  assert.equal(get('de-DE', { code: 'JPY', decimals: 0 }).amount(123_456), '123456');
  const marks = ['en-GB', 'de-DE', 'de-CH', 'fr-FR', 'ar-EG'].map((name) => get(name).decimalMark);
  assert.deepEqual(marks, ['.', ',', '.', ',', '.']);
});

test('formats times in the time zone, and machine-readable times in UTC', () => {
  const format = makeFormatCache(() => AT)({
    locale: 'en-GB', timeZone: 'Asia/Tokyo', currency: EURO,
  });
  const shown = '2 Mar 2026, 08:30:05 GMT+9';
  assert.equal(format.time(AT), shown);
  assert.equal(format.timeElement(AT).text,
    `<time datetime="2026-03-01T23:30:05Z" title="${shown}">now</time>`);
  assert.equal(format.day(AT), '2 Mar');
  assert.equal(format.minute(AT), '2 Mar, 08:30');
});

test('formats moments relative to the clock, up to 30 days away', () => {
  const findFormat = makeFormatCache(() => AT);
  const write = (locale: string, seconds: number) => findFormat({
    locale, timeZone: 'UTC', currency: EURO,
  }).relativeTime(AT + seconds * 1_000);
  const [minute, hour, day] = [60, 3_600, 86_400];
  const cases = [
    [-59, 'now'], [59, 'now'], [-minute, '1 minute ago'], [-3 * minute, '3 minutes ago'],
    [-59.4 * minute, '59 minutes ago'], [-59.6 * minute, '1 hour ago'],
    [day - 5, 'in 24 hours'], [-47 * hour, '47 hours ago'], [-48 * hour, '2 days ago'],
    [-30 * day, '30 days ago'], [-31 * day, '29 Jan 2026'], [31 * day, '1 Apr 2026'],
  ] as const;
  for (const [seconds, text] of cases) assert.equal(write('en-GB', seconds), text);
  assert.deepEqual([write('de-DE', -180), write('de-DE', 0)], ['vor 3 Minuten', 'jetzt']);
});

test('marks the language of times that are not English', () => {
  const format = makeFormatCache(() => AT)({
    locale: 'de-DE', timeZone: 'UTC', currency: EURO,
  });
  const time = '<time datetime="2026-03-01T23:29:05Z" '
    + 'title="1. März 2026, 23:29:05 UTC" lang="de-DE">vor 1 Minute</time>';
  assert.equal(format.timeElement(AT - 60_000).text, time);
  assert.equal(format.fullTimeElement(AT - 60_000).text,
    `${time}<br><span class="small quiet">1. März 2026, 23:29:05 UTC</span>`);
});

test('caches formats, up to a limit', () => {
  const findFormat = makeFormatCache(() => AT);
  const get = (timeZone: string) => findFormat({ locale: 'en-GB', timeZone, currency: EURO });
  const first = get('UTC');
  assert.equal(get('UTC'), first);
  for (const zone of Intl.supportedValuesOf('timeZone').slice(0, PORTAL_FORMATS_LIMIT)) get(zone);
  assert.notEqual(get('UTC'), first);
  assert.equal(get('UTC').number(1), '1');
});

test('writes negative amounts exactly', () => {
  assert.deepEqual([-5n, -105, 0, -12_345n].map((minor) => toDecimal(minor, 2)),
    ['-0.05', '-1.05', '0.00', '-123.45']);
  assert.equal(toDecimal(-5, 0), '-5');
  const format = makeFormatCache(() => AT)({ locale: 'en-GB', timeZone: 'UTC', currency: EURO });
  assert.equal(plain(format.money(-5)), '-€0.05');
});
