/** Where the portal is: at its base URL over TLS, or at this machine, and nowhere else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSite } from '../../src/portal/site.ts';

const REFUSED = { code: 'browser_refused' };

test('is found at the names of this machine, whatever the port', () => {
  for (const host of ['localhost:8080', '127.0.0.1', '127.0.0.1:1', '[::1]:8080', 'LOCALHOST']) {
    const { origin } = findSite(host, undefined, false);
    assert.equal(origin, `http://${host.toLowerCase()}`);
  }
});

test('is not found under another name that leads here (DNS rebinding)', () => {
  for (const host of [
    undefined, '', 'evil.example', 'evil.example:8080', 'localhost.evil.example',
    '127.0.0.1.nip.io', '127.0.0.2', '0.0.0.0:8080', '192.0.2.7', 'evil.example#localhost',
    'evil.example/localhost', 'a b',
  ]) {
    assert.throws(() => findSite(host, undefined, false), REFUSED, host);
    assert.throws(() => findSite(host, 'https://shop.example', false), REFUSED, host);
  }
});

test('is found at its base URL, with its path', () => {
  assert.deepEqual(findSite('shop.example', 'https://shop.example/mugs/', false), {
    origin: 'https://shop.example', url: 'https://shop.example/mugs',
  });
  assert.deepEqual(findSite('Shop.Example:443', 'https://shop.example', false), {
    origin: 'https://shop.example', url: 'https://shop.example',
  });
  assert.throws(() => findSite('shop.example:8443', 'https://shop.example', false), REFUSED);
  const { origin } = findSite('shop.example:8443', 'https://shop.example:8443', false);
  assert.equal(origin, 'https://shop.example:8443');
});

test('is found at this machine also where it has a base URL', () => {
  assert.deepEqual(findSite('127.0.0.1:8080', 'https://shop.example/mugs', false), {
    origin: 'http://127.0.0.1:8080', url: 'http://127.0.0.1:8080/mugs',
  });
});

test('is found at this machine by TLS, where the server itself speaks it', () => {
  const { origin } = findSite('localhost:8443', undefined, true);
  assert.equal(origin, 'https://localhost:8443');
  assert.throws(() => findSite('shop.example:8443', undefined, true), REFUSED);
});

test('is not served without TLS to other machines', () => {
  const base = 'http://shop.example:8080';
  const refusal = { ...REFUSED, message: /https only/ };
  assert.throws(() => findSite('shop.example:8080', base, false), refusal);
  const { origin } = findSite('localhost:9000', 'http://localhost:9000', false);
  assert.equal(origin, 'http://localhost:9000');
});
