/** Responses on the plain HTTP port that redirects to TLS. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { createRedirect } from '../../../src/http/server/redirect.ts';
import { send } from '../../support/http.ts';
import { exchange, serve } from '../raw.ts';

const ORIGIN = 'https://shop.example:8443';

test('redirects to the configured host, whatever the request says', async (t) => {
  const port = await serve(t, createRedirect(ORIGIN));
  for (const [target, expected] of [
    ['/', '/'], ['/portal?to=%2Fx', '/portal?to=%2Fx'], ['/a%0d%0ab:c', '/a%0d%0ab:c'],
    ['//evil.example/a', '//evil.example/a'], ['/\\evil.example', '//evil.example'],
    ['/.evil.example', '/.evil.example'], ['/@evil.example', '/@evil.example'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const headers = { host: 'evil.example' };
      const answer = await send(port, { method, path: target, headers });
      assert.deepEqual([answer.status, answer.text], [308, ''], target);
      assert.equal(answer.headers.location, ORIGIN + expected);
      assert.equal(new URL(answer.headers.location ?? '').host, 'shop.example:8443');
    }
  }
  for (const target of ['http://evil.example/', '@evil.example', '.evil.example', '*']) {
    const end = 'Connection: close\r\n\r\n';
    const text = await exchange(t, port, `GET ${target} HTTP/1.1\r\nHost: evil.example\r\n${end}`);
    if (text.startsWith('HTTP/1.1 400 ')) continue; // Node rejects it
    assert.match(text, /\r\nlocation: https:\/\/shop\.example:8443\/\r\n/);
  }
});

test('asks for the revocation of a key sent without TLS, and does not repeat it', async (t) => {
  const port = await serve(t, createRedirect(ORIGIN));
  const key = generateApiKey();
  for (const [path, headers] of [
    ['/api/v1/products', { 'x-api-key': key }], ['/', { 'x-api-key': 'anything' }],
    ['/', { authorization: `Bearer ${key}` }], [`/?key=${key}`, {}],
  ] as const) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await send(port, { method, path, headers });
      assert.equal(answer.status, 403);
      assert.equal(answer.headers['content-type'], 'application/problem+json');
      assert.match(answer.json().detail, /without TLS.*Revoke it.*https:\/\/shop\.example:8443\./);
      assert.ok(!answer.text.includes(key) && answer.headers.location === undefined);
    }
  }
});

test('rejects requests that could change something instead of redirecting them', async (t) => {
  const port = await serve(t, createRedirect(ORIGIN));
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await send(port, { method, path: '/portal/sign-in', body: 'password=hidden' });
    assert.equal(answer.status, 403, method);
    assert.equal(answer.json().type, 'urn:problem-type:seller-product-api:tls-required');
    assert.equal(answer.headers.location, undefined);
  }
});
