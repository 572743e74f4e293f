/** CSRF protection: telling requests from the portal's own pages from forged ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertCsrfToken, assertSameOrigin, makeCsrfToken, makeAnonymousSecret, readAnonymousSecret,
} from '../../../../src/features/portal/forms/csrf.ts';

const ORIGIN = 'https://shop.example';
const REFUSED = { code: 'browser_refused' };

test('accepts the token of a secret, and no other', () => {
  const [{ secret }, other] = [makeAnonymousSecret(), makeAnonymousSecret()];
  const token = makeCsrfToken(secret);
  assertCsrfToken(secret, token);
  const wrong = [
    '', token.slice(1), `${token}=`, `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    makeCsrfToken(other.secret), secret, 'é'.repeat(token.length),
  ];
  for (const sent of wrong) assert.throws(() => assertCsrfToken(secret, sent), REFUSED, sent);
});

test('rejects every token without a secret', () => {
  assert.throws(() => assertCsrfToken(undefined, ''), REFUSED);
  assert.throws(() => assertCsrfToken(undefined, makeCsrfToken('')), REFUSED);
});

test('does not reveal the secret in its token', () => {
  const { secret } = makeAnonymousSecret();
  assert.ok(!makeCsrfToken(secret).includes(secret.slice(0, 8)));
});

test('generates a new secret each time, in a cookie for this host only', () => {
  const [one, other] = [makeAnonymousSecret(), makeAnonymousSecret()];
  assert.notEqual(one.secret, other.secret);
  const [pair, ...attributes] = one.cookie.split('; ');
  assert.equal(pair, `__Host-visit=${one.secret}`);
  assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']);
  assert.equal(readAnonymousSecret(`a=b; ${pair}; c=d`), one.secret);
});

test('ignores malformed and duplicate secrets', () => {
  const { secret } = makeAnonymousSecret();
  for (const header of [
    undefined, '', '__Host-visit=', `visit=${secret}`, `__Host-visit=${secret}x`,
    `__Host-visit=${secret.slice(1)}`, `__Host-visit=${secret}; __Host-visit=${secret}`,
    `__Host-visit=${secret.slice(1)}%`,
  ]) {
    assert.equal(readAnonymousSecret(header), undefined, String(header));
  }
});

test('relies on Fetch Metadata if the browser sends it', () => {
  assertSameOrigin({ 'sec-fetch-site': 'same-origin' }, ORIGIN);
  // A browser sends both; Fetch Metadata takes precedence.
  assertSameOrigin({ 'sec-fetch-site': 'same-origin', origin: 'null' }, ORIGIN);
  for (const base of ['same-site', 'cross-site', 'none', '', 'Same-Origin', 'same-origin, none']) {
    const headers = { 'sec-fetch-site': base, origin: ORIGIN };
    assert.throws(() => assertSameOrigin(headers, ORIGIN), REFUSED, base);
  }
});

test('relies on Origin without Fetch Metadata, and rejects a request without either', () => {
  assertSameOrigin({ origin: ORIGIN }, ORIGIN);
  for (const origin of [
    undefined, '', 'null', 'http://shop.example', 'https://shop.example:8443',
    'https://shop.example.evil.example', 'https://evil.example', `${ORIGIN}/`,
  ]) {
    assert.throws(() => assertSameOrigin({ origin }, ORIGIN), REFUSED, origin);
  }
});
