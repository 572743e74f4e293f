/** The origins that serve the portal: its base URL over TLS, and loopback names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkPage, resolveOrigin } from '../../../src/features/portal/origin.ts';

const REFUSED = { code: 'browser_refused' };

interface Connection {
  readonly isEncrypted?: boolean;
  readonly isLocal?: boolean;
}

/** A request with this host; by default from this machine, and without TLS. */
function find(
  host: string | undefined, baseUrl?: string,
  { isEncrypted = false, isLocal = true }: Connection = {},
): string {
  return resolveOrigin({ host, isEncrypted, isLocal }, baseUrl);
}

test('is available at loopback names, on any port', () => {
  for (const host of ['localhost:8080', '127.0.0.1', '127.0.0.1:1', '[::1]:8080', 'LOCALHOST']) {
    const origin = find(host);
    assert.equal(origin, `http://${host.toLowerCase()}`);
  }
});

test('is not available under another name that resolves here (DNS rebinding)', () => {
  for (const host of [
    undefined, '', 'evil.example', 'evil.example:8080', 'localhost.evil.example',
    '127.0.0.1.nip.io', '127.0.0.2', '0.0.0.0:8080', '192.0.2.7', 'evil.example#localhost',
    'evil.example/localhost', 'a b',
  ]) {
    assert.throws(() => find(host), REFUSED, host);
    assert.throws(() => find(host, 'https://shop.example'), REFUSED, host);
  }
});

test('is available at its base URL', () => {
  assert.equal(find('shop.example', 'https://shop.example/mugs/'), 'https://shop.example');
  assert.equal(find('Shop.Example:443', 'https://shop.example'), 'https://shop.example');
  assert.throws(() => find('shop.example:8443', 'https://shop.example'), REFUSED);
  const origin = find('shop.example:8443', 'https://shop.example:8443');
  assert.equal(origin, 'https://shop.example:8443');
});

test('is available at loopback names with a base URL, too', () => {
  assert.equal(find('127.0.0.1:8080', 'https://shop.example/mugs'), 'http://127.0.0.1:8080');
});

test('is available at loopback names over TLS if the server has a certificate', () => {
  const origin = find('localhost:8443', undefined, { isEncrypted: true });
  assert.equal(origin, 'https://localhost:8443');
  assert.throws(() => find('shop.example:8443', undefined, { isEncrypted: true }), REFUSED);
});

test('is not served without TLS to other machines', () => {
  const base = 'http://shop.example:8080';
  const refusal = { ...REFUSED, message: /requires https/ };
  assert.throws(() => find('shop.example:8080', base), refusal);
  const origin = find('localhost:9000', 'http://localhost:9000');
  assert.equal(origin, 'http://localhost:9000');
});

test('rejects a client on another machine that uses a loopback name', () => {
  for (const host of ['localhost:8080', '127.0.0.1:8080', '[::1]:8080']) {
    for (const baseUrl of [undefined, 'https://shop.example', `http://${host}`]) {
      for (const isEncrypted of [false, true]) {
        assert.throws(() => find(host, baseUrl, { isEncrypted, isLocal: false }), {
          ...REFUSED, message: /--base-url https:/,
        }, `${host} ${baseUrl}`);
      }
    }
  }
  const origin = find('shop.example', 'https://shop.example', { isLocal: false });
  assert.equal(origin, 'https://shop.example');
});

/** Paths that a browser, a proxy or a second decoding takes for another one. */
const OUTSIDE = [
  '/../../admin', '/..', '/%2e%2e/admin', '/%2E./admin', '/.%2e/', '/..\\admin', '\\..\\admin',
  '/.\t./admin', '/.\n.', '/products/../../admin', '/products/../../portal2', '//evil.example',
  '/\\evil.example', '\\\\evil.example', 'https://evil.example', '@evil.example', ':8080/portal',
  '2/x', 'javascript:alert(1)', '/..%2fadmin', '/..%5cadmin', '/%252e%252e/admin', '/..%25252fx',
  '/a//b', '/\r\nset-cookie: a=b', '/\0', '/\u0085',
];

test('links to no path outside of the portal, also below another base path', () => {
  for (const prefix of ['', '/shop', '/a/b']) {
    for (const path of OUTSIDE) {
      assert.equal(linkPage(prefix, path), `${prefix}/portal`, JSON.stringify(path));
    }
  }
});

test('keeps the path, the query and the fragment of a page', () => {
  const query = new URLSearchParams({ q: '../a b', from: '//x' });
  for (const [path, link] of [
    ['/', '/shop/portal'], ['/products', '/shop/portal/products'],
    ['/products?q=a%2Fb&x=..', '/shop/portal/products?q=a%2Fb&x=..'],
    ['/products/../keys', '/shop/portal/keys'],
    ['/join?shop=code#A', '/shop/portal/join?shop=code#A'],
  ] as const) assert.equal(linkPage('/shop', path), link);
  assert.equal(linkPage('', '/', query), '/portal?q=..%2Fa+b&from=%2F%2Fx');
  assert.equal(linkPage('', '/products', query), '/portal/products?q=..%2Fa+b&from=%2F%2Fx');
});
