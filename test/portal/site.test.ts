/** Where the portal is: at its base URL over TLS, or at this machine, and nowhere else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSite } from '../../src/portal/site.ts';

const REFUSED = { code: 'browser_refused' };

test('is found at the names of this machine, whatever the port', () => {
  for (const host of ['localhost:8080', '127.0.0.1', '127.0.0.1:1', '[::1]:8080', 'LOCALHOST']) {
    const { origin } = findSite(host, undefined);
    assert.equal(origin, `http://${host.toLowerCase()}`);
  }
});

test('is not found under another name that leads here (DNS rebinding)', () => {
  for (const host of [
    undefined, '', 'evil.example', 'evil.example:8080', 'localhost.evil.example',
    '127.0.0.1.nip.io', '127.0.0.2', '0.0.0.0:8080', '192.0.2.7', 'evil.example#localhost',
    'evil.example/localhost', 'a b',
  ]) {
    assert.throws(() => findSite(host, undefined), REFUSED, host);
    assert.throws(() => findSite(host, 'https://shop.example'), REFUSED, host);
  }
});

test('is found at its base URL, with its path', () => {
  assert.deepEqual(findSite('shop.example', 'https://shop.example/mugs/'), {
    origin: 'https://shop.example', url: 'https://shop.example/mugs',
  });
  assert.deepEqual(findSite('Shop.Example:443', 'https://shop.example'), {
    origin: 'https://shop.example', url: 'https://shop.example',
  });
  assert.throws(() => findSite('shop.example:8443', 'https://shop.example'), REFUSED);
  const { origin } = findSite('shop.example:8443', 'https://shop.example:8443');
  assert.equal(origin, 'https://shop.example:8443');
});

test('is found at this machine also where it has a base URL', () => {
  assert.deepEqual(findSite('127.0.0.1:8080', 'https://shop.example/mugs'), {
    origin: 'http://127.0.0.1:8080', url: 'http://127.0.0.1:8080/mugs',
  });
});

test('is not served without TLS to other machines', () => {
  const base = 'http://shop.example:8080';
  assert.throws(() => findSite('shop.example:8080', base), { ...REFUSED, message: /https only/ });
  assert.equal(findSite('localhost:9000', 'http://localhost:9000').origin, 'http://localhost:9000');
});
