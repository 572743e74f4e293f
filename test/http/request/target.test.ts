/** Request paths below the base URL, and below the mount paths of frameworks. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { findTarget } from '../../../src/http/request/target.ts';

/** The path, query and prefix of a request that a framework may have changed. */
function find(url: string, originalUrl: string | undefined, basePath: string) {
  const request = Object.assign(new IncomingMessage(new Socket()), { url, originalUrl });
  const target = findTarget(request, basePath);
  return target && [target.path, target.query, target.prefix];
}

test('finds paths below the path of the base URL', () => {
  for (const originalUrl of [undefined, '/shop/api?q=a']) {
    assert.deepEqual(find('/shop/api?q=a', originalUrl, '/shop'), ['/api', 'q=a', '/shop']);
  }
  assert.deepEqual(find('/api', '/api', ''), ['/api', '', '']);
  assert.equal(find('/shops', '/shops', '/shop'), undefined);
});

test('finds paths below the mount path of a framework', () => {
  assert.deepEqual(find('/api?q=a', '/shop/api?q=a', ''), ['/api', 'q=a', '/shop']);
  assert.deepEqual(find('/', '/shop', ''), ['/', '', '/shop']);
  assert.deepEqual(find('/?q=a', '/shop?q=a', ''), ['/', 'q=a', '/shop']);
  assert.deepEqual(find('/api', '/a/b/api', ''), ['/api', '', '/a/b']);
});

test('uses the path of the base URL in links, wherever the handler is mounted', () => {
  assert.deepEqual(find('/api', '/shop/api', '/shop'), ['/api', '', '/shop']);
  assert.deepEqual(find('/shop/api', '/v/shop/api', '/v/shop'), ['/api', '', '/v/shop']);
  // A proxy has removed /public.
  assert.deepEqual(find('/api', '/shop/api', '/public/shop'), ['/api', '', '/public/shop']);
});

test('ignores an original target that was rewritten, or has another prefix', () => {
  assert.deepEqual(find('/api', '/other?old=1', ''), ['/api', '', '']);
  assert.equal(find('/api', '/other?old=1', '/shop'), undefined);
  for (const mountPath of ['/<b>', '//evil.example/', '/a b', 'http://evil.example', '/a?b']) {
    assert.deepEqual(find('/api', `${mountPath}/api`, ''), ['/api', '', '']);
  }
});
