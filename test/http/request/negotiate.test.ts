/** Content negotiation (RFC 9110 section 12.5). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasParameter, negotiate, negotiateCoding } from '../../../src/http/request/negotiate.ts';
import { catchAppError } from '../../domain/validation-errors.ts';

const JSON_TYPE = 'application/json';
const LINES = 'application/x-ndjson';
const CSV = 'text/csv';
const TYPES = [JSON_TYPE, LINES, CSV];

describe('Accept', () => {
  const cases: readonly (readonly [accept: string | undefined, type: string])[] = [
    [undefined, JSON_TYPE], ['', JSON_TYPE], ['*/*', JSON_TYPE], [' , ', JSON_TYPE],
    [JSON_TYPE, JSON_TYPE], [CSV, CSV], ['TEXT/CSV', CSV], ['text/csv;charset=utf-8', CSV],
    ['text/*', CSV], ['application/*', JSON_TYPE], [LINES, LINES],
    ['text/csv, application/json', JSON_TYPE],
    ['text/csv, application/json;q=0.9', CSV],
    ['text/csv;q=0.5,application/x-ndjson; q=0.8,application/json;q=0.1', LINES],
    ['*/*, application/json;q=0.1', LINES],
    ['application/*, application/json;q=0', LINES],
    ['application/json;q=0, */*;q=0.1', LINES],
    ['text/*;q=0.9, application/*;q=0.2, */*;q=1', CSV],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', JSON_TYPE],
    ['text/csv;Q=0.001, text/html', CSV],
    ['text/csv;header=present;q=0.3, application/json;q=0.2', CSV],
    ['text/csv;q=1.000, application/json;q=0.999', CSV],
    ['text/csv ; q=0.7 , application/json ; q=0.6', CSV],
    ['application/json;q=2, text/csv;q=0.1', CSV], ['application/json;q=x, text/csv', CSV],
    ['text/csv;q=0.5000, application/json;q=0.1', JSON_TYPE],
  ];
  for (const [accept, type] of cases) {
    test(`${accept ?? '(none)'}: ${type}`, () => assert.equal(negotiate(accept, TYPES), type));
  }

  for (const accept of [
    'text/html', 'image/*', 'json', '*', 'application/json;q=0', '*/*;q=0', 'text/csv2',
    'application/jsonx', 'application/*;q=0.0, text/*;q=0', '*/json',
  ]) {
    test(`${accept}: rejected, and lists what is available`, () => {
      const { code, publicDetail } = catchAppError(() => negotiate(accept, TYPES));
      assert.equal(code, 'not_acceptable');
      for (const type of TYPES) assert.ok(publicDetail.includes(type), publicDetail);
    });
  }

  test('is ignored if no body is produced', () => {
    for (const accept of [undefined, 'text/html', '*/*;q=0']) {
      assert.equal(negotiate(accept, []), '');
    }
  });
});

describe('Accept-Encoding', () => {
  const cases: readonly (readonly [header: string | undefined, coding: string | undefined])[] = [
    [undefined, undefined], ['', undefined], ['identity', undefined], ['deflate', undefined],
    ['gzip', 'gzip'], ['br', 'br'], ['gzip, deflate, br, zstd', 'br'], ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'], ['br;q=0, gzip', 'gzip'], ['gzip;q=0', undefined],
    ['*', 'br'], ['*;q=0', undefined], ['br;q=0, *', 'gzip'], ['identity, gzip', 'gzip'],
    ['identity, gzip;q=0.5', undefined], ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0', undefined], ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=5', undefined], ['brotli', undefined], ['gzipped', undefined],
  ];
  for (const [header, coding] of cases) {
    test(`${header ?? '(none)'}: ${coding ?? 'not compressed'}`, () => {
      assert.equal(negotiateCoding(header, ['br', 'gzip']), coding);
    });
  }

  test('chooses among the available codings', () => {
    assert.equal(negotiateCoding('br, gzip;q=0.1', ['gzip']), 'gzip');
    assert.equal(negotiateCoding('br', ['gzip']), undefined);
  });
});

test('finds a parameter in the range of its media type only', () => {
  for (const [accept, has] of [
    ['text/csv;end=record', true], ['TEXT/CSV ; q=0.5 ; END="record"', true],
    ['*/*, text/csv; end=record', true], ['text/csv', false], [undefined, false],
    ['text/csv;end=records', false], ['application/x-ndjson;end=record, text/csv', false],
    ['*/*;end=record', false],
  ] as const) {
    assert.equal(hasParameter(accept, CSV, 'end=record'), has, String(accept));
  }
});
