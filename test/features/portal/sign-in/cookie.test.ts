/** Cookies that only this host gets and sets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decryptValue, encryptValue, formatCookie, readCookie,
} from '../../../../src/features/portal/sign-in/cookie.ts';
import { livedUntil, makeClock } from '../../../support/clock.ts';

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

test('decrypts no value that is empty, too long or expired', async () => {
  const clock = makeClock();
  const decrypted: string[] = [];
  let lived = 5;
  const END = livedUntil(lived, 1_000);
  const store = {
    now: () => ({ wall: clock.now, lived }),
    encrypt: async (text: string) => text,
    async decrypt(sealed: string) {
      decrypted.push(sealed);
      return sealed;
    },
  };
  const sealed = await encryptValue({ store }, { name: 'A' }, 'a context', 1_000);
  const decrypt = (text: string, limit?: number) =>
    decryptValue({ store }, text, 'a context', limit);
  const value = { name: 'A', endsAt: clock.now + 1_000, livedUntil: END };
  assert.deepEqual(await decrypt(sealed, sealed.length), value);
  decrypted.length = 0;
  assert.equal(await decrypt('', 10), undefined);
  assert.equal(await decrypt(sealed, sealed.length - 1), undefined);
  assert.deepEqual(decrypted, []);
  clock.now += 999;
  assert.deepEqual(await decrypt(sealed), value);
  clock.now += 1;
  assert.equal(await decrypt(sealed), undefined);
  clock.step(-1); // it ends by lived time, too
  lived = END - 1;
  assert.deepEqual(await decrypt(sealed), value);
  lived += 1;
  assert.equal(await decrypt(sealed), undefined);
});
