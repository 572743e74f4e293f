/** Rate limits on sign-in, and which requests they leave alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppError } from '../../../../src/domain/error.ts';
import type { AccountId, SellerId } from '../../../../src/domain/id.ts';
import {
  PASSWORD_CHECKS_LIMIT, REGISTRATIONS_PER_ADDRESS_PER_HOUR, SIGN_IN_WINDOW_MS,
  FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE, FAILED_SIGN_INS_LIMIT,
  FAILED_TOTP_LIMIT, PORTAL_STREAMS_PER_SELLER_LIMIT, STREAMS_PER_ACCOUNT_LIMIT, TOTP_WINDOW_MS,
} from '../../../../src/features/portal/limits.ts';
import { PortalLimits } from '../../../../src/features/portal/sign-in/rate-limits.ts';
import { makeMemoryThrottles } from '../../../../src/store/nodes/memory-throttles.ts';
import { makeClock } from '../../../support/clock.ts';
import { ownerOf } from '../../../support/owner.ts';

// These ids need not exist.
const SELLER = 1 as SellerId;
const OTHER = 2 as SellerId;
const [ACCOUNT, OTHER_ACCOUNT] = [ownerOf(SELLER), ownerOf(OTHER)];
const COLLEAGUE = { sellerId: SELLER, accountId: 2 as AccountId };
const RATE_LIMITED = { code: 'rate_limited' };
const no = async (): Promise<boolean> => false;
const yes = async (): Promise<boolean> => true;

function prepare() {
  const clock = makeClock();
  return { clock, limits: new PortalLimits(makeMemoryThrottles(clock), clock) };
}

/** The number of wrong passwords before the limit, each from a new address. */
async function guess(limits: PortalLimits, email: string, device?: string): Promise<number> {
  for (let count = 0; ; count += 1) {
    const origin = { address: `192.0.2.${count} ${email}`, device };
    try {
      await limits.tryPassword(email, ACCOUNT, origin, no);
    } catch {
      return count;
    }
  }
}

test('limits guesses at one e-mail from any address, and no other e-mail', async () => {
  const { clock, limits } = prepare();
  assert.equal(await guess(limits, 'anna@shop.example'), FAILED_SIGN_INS_LIMIT);
  const rejected = limits.tryPassword(
    'anna@shop.example', ACCOUNT, { address: '198.51.100.1', device: undefined }, yes,
  );
  await assert.rejects(rejected, { ...RATE_LIMITED, retryAfterSeconds: 90 });
  assert.equal(await guess(limits, 'bert@shop.example'), FAILED_SIGN_INS_LIMIT);
  clock.now += SIGN_IN_WINDOW_MS / FAILED_SIGN_INS_LIMIT;
  assert.equal(await guess(limits, 'anna@shop.example'), 1);
});

test('checks no password beyond the limit', async () => {
  const { limits } = prepare();
  await guess(limits, 'anna@shop.example');
  let checks = 0;
  const origin = { address: '198.51.100.1', device: undefined };
  await assert.rejects(limits.tryPassword('anna@shop.example', ACCOUNT, origin, async () => {
    checks += 1;
    return true;
  }), RATE_LIMITED);
  assert.equal(checks, 0);
});

test('limits guesses from one address at any e-mails', async () => {
  const { clock, limits } = prepare();
  const origin = { address: '192.0.2.7', device: undefined };
  for (let n = 0; n < FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE; n += 1) {
    assert.equal(await limits.tryPassword(`${n}@shop.example`, undefined, origin, no), false);
  }
  await assert.rejects(limits.tryPassword('x@shop.example', undefined, origin, yes), RATE_LIMITED);
  const elsewhere = { address: '192.0.2.8', device: undefined };
  assert.equal(await limits.tryPassword('x@shop.example', undefined, elsewhere, yes), true);
  clock.now += 60_000 / FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE;
  assert.equal(await limits.tryPassword('x@shop.example', undefined, origin, yes), true);
});

test('limits an IPv6 client by its network prefix', async () => {
  const { limits } = prepare();
  const from = (address: string) => ({ address, device: undefined });
  for (let n = 0; n < FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE; n += 1) {
    await limits.tryPassword(`${n}@shop.example`, undefined, from(`2001:db8:0:1::${n}`), no);
  }
  const next = limits.tryPassword('x@shop.example', undefined, from('2001:db8:0:1:a:b:c:d'), yes);
  await assert.rejects(next, RATE_LIMITED);
  const other = from('2001:db8:0:2::1');
  assert.equal(await limits.tryPassword('x@shop.example', undefined, other, yes), true);
  for (let n = 0; n < REGISTRATIONS_PER_ADDRESS_PER_HOUR; n += 1) {
    await limits.takeRegistration(`2001:db8:0:1::${n}`);
  }
  await assert.rejects(limits.takeRegistration('2001:db8:0:1::ffff'), RATE_LIMITED);
});

test('lets a known browser sign in while strangers exhaust the limits of the account', async () => {
  const { limits } = prepare();
  await guess(limits, 'anna@shop.example');
  const shared = { address: '192.0.2.7', device: undefined };
  for (let n = 0; n < FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE; n += 1) {
    await limits.tryPassword(`${n}@shop.example`, undefined, shared, no);
  }
  const own = { address: '192.0.2.7', device: 'own' };
  assert.equal(await limits.tryPassword('anna@shop.example', ACCOUNT, own, yes), true);
});

test('counts the failures of a known browser separately', async () => {
  const { limits } = prepare();
  assert.equal(await guess(limits, 'anna@shop.example', 'one'), FAILED_SIGN_INS_LIMIT);
  assert.equal(await guess(limits, 'anna@shop.example', 'two'), FAILED_SIGN_INS_LIMIT);
  assert.equal(await guess(limits, 'anna@shop.example'), FAILED_SIGN_INS_LIMIT);
});

test('counts no right password, and no failed check, as a wrong one', async () => {
  const { limits } = prepare();
  const origin = { address: '192.0.2.7', device: undefined };
  const anna = ['anna@shop.example', ACCOUNT, origin] as const;
  for (let n = 0; n < FAILED_SIGN_INS_LIMIT + 1; n += 1) {
    assert.equal(await limits.tryPassword(...anna, yes), true);
  }
  for (let n = 0; n < PASSWORD_CHECKS_LIMIT; n += 1) {
    const busy = limits.tryPassword(...anna, async () => {
      throw new Error('busy');
    });
    await assert.rejects(busy, /busy/);
  }
  assert.equal(await guess(limits, 'anna@shop.example'), FAILED_SIGN_INS_LIMIT);
});

test('limits right passwords too, of an account in each of its browsers', async () => {
  const { clock, limits } = prepare();
  const signIn = (device?: string, email = 'anna@shop.example', account = ACCOUNT) =>
    limits.tryPassword(email, account, { address: '192.0.2.7', device }, yes);
  for (let n = 0; n < PASSWORD_CHECKS_LIMIT; n += 1) await signIn(`browser ${n}`);
  await assert.rejects(signIn('another browser'), { ...RATE_LIMITED, retryAfterSeconds: 15 });
  // Strangers, who know the e-mail, have a limit of their own.
  for (let n = 0; n < PASSWORD_CHECKS_LIMIT; n += 1) await signIn();
  await assert.rejects(signIn(), RATE_LIMITED);
  assert.equal(await signIn(undefined, 'bert@shop.example', COLLEAGUE), true);
  assert.equal(await signIn('browser of Bert', 'bert@shop.example', COLLEAGUE), true);
  assert.equal(await limits.tryConfirmation(ACCOUNT, yes), true);
  clock.now += SIGN_IN_WINDOW_MS / PASSWORD_CHECKS_LIMIT;
  assert.equal(await signIn('another browser'), true);
});

test('limits what strangers can hash for an e-mail without an account just the same', async () => {
  const { limits } = prepare();
  const origin = { address: '192.0.2.7', device: undefined };
  for (let n = 0; n < PASSWORD_CHECKS_LIMIT; n += 1) {
    await limits.tryPassword('x@shop.example', undefined, origin, yes);
  }
  const next = limits.tryPassword('x@shop.example', undefined, origin, yes);
  await assert.rejects(next, RATE_LIMITED);
});

test('limits the right confirmations of an account', async () => {
  const { limits } = prepare();
  for (let n = 0; n < PASSWORD_CHECKS_LIMIT; n += 1) await limits.tryConfirmation(ACCOUNT, yes);
  await assert.rejects(limits.tryConfirmation(ACCOUNT, yes), RATE_LIMITED);
  assert.equal(await limits.tryConfirmation(COLLEAGUE, yes), true);
});

test('limits the registrations with one invitation, from any address', async () => {
  const { limits } = prepare();
  for (let n = 0; n < REGISTRATIONS_PER_ADDRESS_PER_HOUR; n += 1) {
    await limits.takeRegistration(`192.0.2.${n}`, 'code');
  }
  await assert.rejects(limits.takeRegistration('192.0.2.99', 'code'), RATE_LIMITED);
  await limits.takeRegistration('192.0.2.99', 'other code');
  await limits.takeRegistration('192.0.2.99');
});

test('counts concurrent attempts', async () => {
  const { limits } = prepare();
  const attempts = Array.from({ length: 50 }, (_, n) => limits.tryPassword(
    'anna@shop.example', ACCOUNT, { address: `192.0.2.${n}`, device: undefined }, no,
  ));
  const settled = await Promise.allSettled(attempts);
  const allowed = settled.filter(({ status }) => status === 'fulfilled');
  assert.equal(allowed.length, FAILED_SIGN_INS_LIMIT);
});

test('allows ten wrong one-time passwords a day', async () => {
  const { clock, limits } = prepare();
  for (let n = 0; n < FAILED_TOTP_LIMIT; n += 1) {
    assert.equal(await limits.tryTotp(ACCOUNT, undefined, no), false);
  }
  await assert.rejects(limits.tryTotp(ACCOUNT, undefined, yes), {
    ...RATE_LIMITED, message: / 3 hours\.$/,
  });
  assert.equal(await limits.tryTotp(OTHER_ACCOUNT, undefined, yes), true);
  assert.equal(await limits.tryTotp(ACCOUNT, 'known', yes), true);
  clock.now += TOTP_WINDOW_MS / FAILED_TOTP_LIMIT;
  assert.equal(await limits.tryTotp(ACCOUNT, undefined, yes), true);
});

test('limits guesses by a signed-in user, per account', async () => {
  const { limits } = prepare();
  for (let n = 0; n < FAILED_SIGN_INS_LIMIT; n += 1) await limits.tryConfirmation(ACCOUNT, no);
  await assert.rejects(limits.tryConfirmation(ACCOUNT, yes), RATE_LIMITED);
  assert.equal(await limits.tryConfirmation(OTHER_ACCOUNT, yes), true);
});

test('limits the live pages and downloads of an account, and of a shop', () => {
  const { limits } = prepare();
  const open = (accountId: number, sellerId = SELLER) =>
    limits.acquireStream({ sellerId, accountId: accountId as AccountId });
  const releases = Array.from({ length: STREAMS_PER_ACCOUNT_LIMIT }, () => open(1));
  const isOwn = { code: 'unavailable', message: /^You already have 10 live pages and downloads/ };
  assert.throws(() => open(1), isOwn);
  const rest = PORTAL_STREAMS_PER_SELLER_LIMIT - STREAMS_PER_ACCOUNT_LIMIT;
  for (let n = 0; n < rest; n += 1) open(2 + Math.floor(n / STREAMS_PER_ACCOUNT_LIMIT));
  const isShops = { code: 'unavailable', message: /have 50 live pages and downloads in the shop/ };
  assert.throws(() => open(99), isShops);
  open(1, OTHER);
  releases[0]?.();
  releases[0]?.();
  open(99);
  assert.throws(() => open(99), isShops);
});

test('limits the shops that one address can open per hour', async () => {
  const { clock, limits } = prepare();
  for (let n = 0; n < REGISTRATIONS_PER_ADDRESS_PER_HOUR; n += 1) {
    await limits.takeRegistration('192.0.2.7');
  }
  await assert.rejects(limits.takeRegistration('192.0.2.7'), RATE_LIMITED);
  await limits.takeRegistration('192.0.2.8');
  clock.now += 360_000;
  await limits.takeRegistration('192.0.2.7');
});

test('logs a failed sign-in of an account once a minute', () => {
  const { clock, limits } = prepare();
  const taken = [ACCOUNT, ACCOUNT, COLLEAGUE, OTHER_ACCOUNT]
    .map((account) => limits.takeLogEntry(account));
  assert.deepEqual(taken, [true, false, true, true]);
  clock.now += 60_000;
  assert.equal(limits.takeLogEntry(ACCOUNT), true);
});

test('states the time to wait in suitable units', async () => {
  const { limits } = prepare();
  for (let n = 0; n < REGISTRATIONS_PER_ADDRESS_PER_HOUR; n += 1) {
    await limits.takeRegistration('a');
  }
  const isRight = (error: unknown): boolean =>
    (error as AppError).publicDetail === 'Too many attempts. Try again in 6 minutes.';
  await assert.rejects(limits.takeRegistration('a'), isRight);
});
