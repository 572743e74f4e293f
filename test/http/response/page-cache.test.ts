/** Cached pages: valid at one position, with a limit in bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePageCache, type PageCache } from '../../../src/http/response/page-cache.ts';
import type { Reply } from '../../../src/http/response/reply.ts';

const makeReply = (body?: string | Uint8Array): Reply =>
  ({ status: 200, headers: {}, ...(body !== undefined && { body }) });

/** Which of these keys are cached at position 1. */
const kept = (cache: PageCache, keys: string): string =>
  [...keys].filter((key) => cache.find(key, 1)).join('');

test('finds a page only at the position at which it was read', () => {
  const cache = makePageCache(10_000);
  const reply = makeReply('x');
  cache.set('a', 1, reply);
  assert.equal(cache.find('a', 1), reply);
  for (const position of [0, 2]) assert.equal(cache.find('a', position), undefined);
  assert.equal(cache.find('b', 1), undefined);
});

test('replaces the page with the same key', () => {
  const cache = makePageCache(10_000);
  const [first, second] = [makeReply('1'), makeReply('2')];
  cache.set('a', 1, first);
  cache.set('a', 2, second);
  assert.equal(cache.find('a', 1), undefined);
  assert.equal(cache.find('a', 2), second);
});

test('evicts the oldest pages once the limit is exceeded', () => {
  const cache = makePageCache(100_000);
  for (const key of 'abcd') cache.set(key, 1, makeReply('x'.repeat(30_000)));
  assert.equal(kept(cache, 'abcd'), 'bcd');
  cache.set('e', 1, makeReply('x'.repeat(60_000)));
  assert.equal(kept(cache, 'abcde'), 'de');
});

test('counts a replaced page once', () => {
  const cache = makePageCache(100_000);
  cache.set('a', 1, makeReply('x'.repeat(30_000)));
  for (let n = 0; n < 20; n += 1) cache.set('b', 1, makeReply('x'.repeat(30_000)));
  assert.equal(kept(cache, 'ab'), 'ab');
});

test('counts bytes rather than characters, for text and buffers', () => {
  for (const body of ['部'.repeat(20_000), Buffer.from('部'.repeat(20_000))]) {
    const cache = makePageCache(100_000);
    cache.set('a', 1, makeReply(body));
    cache.set('b', 1, makeReply(body));
    assert.equal(kept(cache, 'ab'), 'b');
  }
});

test('does not cache a page larger than its limit', () => {
  const cache = makePageCache(100_000);
  cache.set('a', 1, makeReply('x'.repeat(100_001)));
  assert.equal(kept(cache, 'a'), '');
  cache.set('b', 1, makeReply('x'.repeat(10_000)));
  assert.equal(kept(cache, 'b'), 'b');
});

test('limits pages with hardly any body, too', () => {
  const cache = makePageCache(1_000);
  for (let n = 0; n < 10_000; n += 1) cache.set(`page ${n}`, 1, makeReply());
  assert.equal(cache.find('page 0', 1), undefined);
});
