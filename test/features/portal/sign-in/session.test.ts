/** Session tokens: random, in a cookie for this host only, and stored as a hash. */
import assert from 'node:assert/strict';
import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../../../src/store/limits.ts';
import {
  assertSignedIn, CLEAR_SESSION_COOKIE, findSession, formatSessionToken, isAlive, makeSessionSecret,
  readSessionToken, startSession,
} from '../../../../src/features/portal/sign-in/session.ts';
import { livedUntil } from '../../../support/clock.ts';
import type { SellerId } from '../../../../src/domain/id.ts';
import type { AnonymousPageRequest, Portal } from '../../../../src/features/portal/route.ts';

const SELLER = 1_809_738_798_774_277 as SellerId;
const SESSION = {
  id: 1, createdAt: 0, seenAt: 0, livedAt: 0, seenLivedAt: 0, address: '', userAgent: '',
};

test('puts the seller and the secret in the cookie, and only its hash in the store', () => {
  const { session, secret } = startSession('192.0.2.7', 'Mozilla/5.0');
  assert.match(secret, /^[\w-]{43}$/);
  const { token, cookie } = formatSessionToken(SELLER, secret);
  assert.equal(token, `sel_1jduaj3pe05.${secret}`);
  const [pair = '', ...attributes] = cookie.split('; ');
  assert.equal(readSessionToken(pair), token);
  assert.deepEqual(attributes.sort(), [
    'HttpOnly', `Max-Age=${7 * 24 * 60 * 60}`, 'Path=/', 'SameSite=Lax', 'Secure',
  ]);
  const hash = createHash('sha256').update(secret).digest('hex');
  assert.deepEqual(session, { hash, address: '192.0.2.7', userAgent: 'Mozilla/5.0' });
});

test('makes each secret of 256 new random bits', (t) => {
  const bytes = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const { mock } = t.mock.method(crypto, 'randomBytes', () => bytes[mock.callCount()]);
  syncBuiltinESMExports();
  try {
    const secrets = bytes.map(() => makeSessionSecret().secret);
    assert.deepEqual(secrets, bytes.map((random) => random.toString('base64url')));
    assert.deepEqual(mock.calls.map(({ arguments: [sizeBytes] }) => sizeBytes), [32, 32]);
  } finally {
    mock.restore();
    syncBuiltinESMExports();
  }
});

test('truncates the User-Agent to the limit of the store', () => {
  assert.equal(startSession('', undefined).session.userAgent, '');
  assert.equal(startSession('', 'x'.repeat(201)).session.userAgent, 'x'.repeat(200));
});

test('reads a token only from its own cookie, complete and not repeated', () => {
  const { secret } = makeSessionSecret();
  const { token, cookie } = formatSessionToken(SELLER, secret);
  const pair = cookie.split('; ')[0] ?? '';
  assert.equal(readSessionToken(`a=1;${pair} ;b=2`), token);
  for (const header of [
    undefined, '', `session=${token}`, `x__Host-session=${token}`, `__Host-session="${token}"`,
    `__Host-session=${token}A`, `__Host-session=${token.slice(1)}`, `${pair}; ${pair}`,
    CLEAR_SESSION_COOKIE, `\u00a0${pair}`, `a=1;\u0085${pair}`, `a=1; \u00a0${pair}`,
    `\ufeff${pair}`, `__Host-session=${secret}`, `__Host-session=.${secret}`,
    `__Host-session=sel_1jduaj3pe0w.${secret}`,
  ]) {
    assert.equal(readSessionToken(header), undefined, String(header));
  }
});

test('looks up a session by the seller and the hash of the secret in its token', async () => {
  const asked: unknown[] = [];
  const store = {
    findSignedInSession: async (...args: unknown[]) => void asked.push(args),
    now: () => ({ wall: 0, lived: 0 }),
  };
  // The cast: only these members are used.
  const portal = { store, clock: () => 0 } as unknown as Pick<Portal, 'store' | 'clock'>;
  const { hash, secret } = makeSessionSecret();
  await findSession(portal, formatSessionToken(SELLER, secret).token);
  await findSession(portal, undefined);
  await findSession(portal, secret); // a token without a seller
  await findSession(portal, `sel_vvvvvvvvvvv.${secret}`); // an invalid seller id
  assert.deepEqual(asked, [[SELLER, hash]]);
});

test('ends a long response once its session has ended', async () => {
  const { secret } = makeSessionSecret();
  const [cookie = ''] = formatSessionToken(SELLER, secret).cookie.split('; ');
  const account = {
    role: 'editor', requiresTwoFactor: true, hasTotp: true, isPasswordOff: false,
  };
  let found: object | undefined = { session: SESSION, account };
  const store = { findSignedInSession: async () => found, now: () => ({ wall: 0, lived: 0 }) };
  // The casts: only these members are used.
  const portal = { store, clock: () => 0 } as unknown as Portal;
  const request = { headers: { cookie } } as AnonymousPageRequest;
  await assertSignedIn(request, portal, 'editor');
  await assert.rejects(assertSignedIn(request, portal, 'owner'), { code: 'browser_refused' });
  found = { session: SESSION, account: { ...account, hasTotp: false } };
  await assert.rejects(assertSignedIn(request, portal, 'editor'), { code: 'browser_refused' });
  found = undefined;
  await assert.rejects(assertSignedIn(request, portal, 'viewer'), { code: 'browser_refused' });
});

test('expires a session that is idle too long, or too old', () => {
  const busy = { ...SESSION, seenAt: SESSION_LIFE_MS - 1, seenLivedAt: SESSION_LIFE_MS - 1 };
  // By the wall clock or by lived time, whichever says so.
  const atLived = (life: number) => ({ wall: 0, lived: livedUntil(0, life) });
  for (const moment of [(wall: number) => ({ wall, lived: 0 }), atLived]) {
    assert.equal(isAlive(SESSION, moment(SESSION_IDLE_MS - 1)), true);
    assert.equal(isAlive(SESSION, moment(SESSION_IDLE_MS)), false);
    assert.equal(isAlive(busy, moment(SESSION_LIFE_MS - 1)), true);
    assert.equal(isAlive(busy, moment(SESSION_LIFE_MS)), false);
  }
});
