/** Tokens of sessions: random, in a cookie that only this host gets, and stored as a hash. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../../../src/store/limits.ts';
import {
  startSession, CLEAR_SESSION_COOKIE, isAlive, makeSessionToken, readSessionToken,
} from '../../../../src/features/portal/sign-in/session.ts';

test('gives the token to the browser only, and its hash to the store', () => {
  const { session, cookie } = startSession('192.0.2.7', 'Mozilla/5.0');
  const [pair = '', ...attributes] = cookie.split('; ');
  const token = readSessionToken(pair) ?? '';
  assert.match(token, /^[\w-]{43}$/);
  assert.deepEqual(attributes.sort(), [
    'HttpOnly', `Max-Age=${7 * 24 * 60 * 60}`, 'Path=/', 'SameSite=Lax', 'Secure',
  ]);
  const hash = createHash('sha256').update(token).digest('hex');
  assert.deepEqual(session, { hash, address: '192.0.2.7', userAgent: 'Mozilla/5.0' });
});

test('makes a new token each time', () => {
  const hashes = new Set(Array.from({ length: 100 }, () => makeSessionToken().hash));
  assert.equal(hashes.size, 100);
});

test('cuts the User-Agent to what the store keeps', () => {
  assert.equal(startSession('', undefined).session.userAgent, '');
  assert.equal(startSession('', 'x'.repeat(201)).session.userAgent, 'x'.repeat(200));
});

test('reads a token only from its own cookie, complete and sent once', () => {
  const pair = makeSessionToken().cookie.split('; ')[0] ?? '';
  const token = pair.split('=')[1] ?? '';
  assert.equal(readSessionToken(`a=1;${pair} ;b=2`), token);
  for (const header of [
    undefined, '', `session=${token}`, `x__Host-session=${token}`, `__Host-session="${token}"`,
    `__Host-session=${token}A`, `__Host-session=${token.slice(1)}`, `${pair}; ${pair}`,
    CLEAR_SESSION_COOKIE, `\u00a0${pair}`, `a=1;\u0085${pair}`, `a=1; \u00a0${pair}`,
    `\ufeff${pair}`,
  ]) {
    assert.equal(readSessionToken(header), undefined, String(header));
  }
});

test('expires a session that is idle for too long or too old', () => {
  const session = { id: 1, createdAt: 0, seenAt: 0, address: '', userAgent: '' };
  assert.equal(isAlive(session, SESSION_IDLE_MS - 1), true);
  assert.equal(isAlive(session, SESSION_IDLE_MS), false);
  const busy = { ...session, seenAt: SESSION_LIFE_MS - 1 };
  assert.equal(isAlive(busy, SESSION_LIFE_MS - 1), true);
  assert.equal(isAlive(busy, SESSION_LIFE_MS), false);
});
