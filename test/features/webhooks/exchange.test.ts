/** The request and the response as the delivery log stores them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRequest, recordResponse } from '../../../src/features/webhooks/exchange.ts';

const URL_OF_ENDPOINT = new URL('https://shop.example/hook');

test('truncates a long message between characters', () => {
  const body = `a${'é'.repeat(5_000)}`;
  const { request } = describeRequest(URL_OF_ENDPOINT, { 'content-length': 10_001 }, body);
  assert.equal(request.body, `a${'é'.repeat(4_095)}`);
  assert.equal(request.bodyBytes, 10_001);
  assert.deepEqual(request.headers, [{ name: 'content-length', value: '10001' }]);
});

test('keeps the first KiB of a response, in any chunks', () => {
  const bytes = Buffer.from('🧾'.repeat(1_000));
  for (const size of [1, 7, 1_024, 4_000]) {
    const record = recordResponse({ rawHeaders: [] });
    for (let from = 0; from < bytes.length; from += size) {
      record.add(bytes.subarray(from, from + size));
    }
    assert.equal(record.read().body, '🧾'.repeat(256), String(size));
  }
});

test('replaces bytes of a response that are not UTF-8', () => {
  const record = recordResponse({ rawHeaders: [] });
  record.add(Buffer.from([0x61, 0xff, 0, 0x62, 0xed, 0xa0, 0x80, 0xf0, 0x9f]));
  assert.equal(record.read().body, 'a\uFFFD\0b\uFFFD\uFFFD\uFFFD');
});

test('keeps the first 4 KiB of response headers, without credentials', () => {
  const raw = [
    'Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'Authorization', 'Basic eA==', 'WWW-Authenticate',
    'Basic', ...Array.from({ length: 50 }, (_, n) => [`x-${n}`, 'y'.repeat(200)]).flat(),
  ];
  const { headers } = recordResponse({ rawHeaders: raw }).read();
  assert.deepEqual(headers.slice(0, 4).map(({ value }) => value),
    ['(not stored)', '(not stored)', '(not stored)', 'Basic']);
  const characters = headers.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  assert.ok(characters <= 4_096 && characters > 3_800, String(characters));
});
