/** Cookies that only this host gets and sets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCookie, readCookie } from '../../../../src/features/portal/sign-in/cookie.ts';

test('reads back its cookies, under a name that no other host can set', () => {
  const cookie = formatCookie('one', 'a=b==', 60_000);
  assert.equal(cookie, '__Host-one=a=b==; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60');
  assert.equal(readCookie(cookie, 'one'), 'a=b==');
  assert.equal(readCookie(`x=1; ${cookie}; y=2`, 'one'), 'a=b==');
});

test('sets a session cookie without a maximum age', () => {
  assert.doesNotMatch(formatCookie('one', 'a'), /Max-Age|Expires/);
});

test('reads no cookie that is missing, has another name, or was sent several times', () => {
  for (const header of [
    undefined, '', '__Host-on=a', '__Host-ones=a', 'one=a', 'x__Host-one=a',
    '__Host-one=a; __Host-one=a',
  ]) {
    assert.equal(readCookie(header, 'one'), undefined, String(header));
  }
});
