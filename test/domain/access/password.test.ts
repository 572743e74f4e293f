/** Password hashing: argon2id in the PHC string format, with limited concurrency. */
import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import {
  CONCURRENT_PASSWORD_HASHES_LIMIT, PASSWORD_HASH_LANE_LIMIT, PASSWORD_HASHES_PER_OWNER_LIMIT,
} from '../../../src/domain/limits.ts';
import { Passwords } from '../../../src/domain/access/password.ts';

const PASSWORD = 'seven green boats';
/** The least that argon2id takes. */
const LEAST_COST = { memory: 8, passes: 1, parallelism: 1 };

/** A password hash with other parameters, as another program may have written it. */
function makePhc(password: string, memoryKib: number, passes: number, hashBytes: number): string {
  const nonce = Buffer.from('a salt of its own');
  const hash = argon2Sync('argon2id', {
    message: password, nonce, memory: memoryKib, passes, parallelism: 1, tagLength: hashBytes,
  });
  const [salt, digest] = [nonce, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${salt}$${digest}`;
}

test('hashes with the parameters of RFC 9106 and a new salt each time', async () => {
  const phc = await new Passwords().hash(PASSWORD);
  assert.match(phc, /^\$argon2id\$v=19\$m=65536,t=3,p=4\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(await new Passwords().verify(PASSWORD, phc), true);
  const cheap = new Passwords(LEAST_COST);
  const [one, other] = [await cheap.hash(PASSWORD), await cheap.hash(PASSWORD)];
  assert.notEqual(one.split('$')[4], other.split('$')[4]);
  assert.equal(await cheap.verify(PASSWORD, one), true);
  assert.equal(await cheap.verify(`${PASSWORD} `, one), false);
});

test('verifies hashes with other than the current parameters', async () => {
  const passwords = new Passwords();
  const phc = makePhc(PASSWORD, 64, 1, 16);
  assert.equal(await passwords.verify(PASSWORD, phc), true);
  assert.equal(await passwords.verify('another one', phc), false);
});

test('accepts a password in any Unicode normalization form', async () => {
  const phc = makePhc('Zoë and her green boats', 64, 1, 32);
  assert.equal(await new Passwords().verify('Zoe\u0308 and her green boats', phc), true);
});

test('rejects a password without a valid hash, but still spends the time to hash it', async () => {
  const passwords = new Passwords(LEAST_COST);
  const hashed: string[] = [];
  const hash = passwords.hash.bind(passwords);
  passwords.hash = async (password) => {
    hashed.push(password);
    return hash(password);
  };
  assert.equal(await passwords.verify(PASSWORD, undefined), false);
  assert.equal(await passwords.verify(PASSWORD, 'no hash'), false);
  assert.deepEqual(hashed, [PASSWORD, PASSWORD]);
});

test('serves sellers in turn, however many passwords of one wait', async () => {
  const passwords = new Passwords(LEAST_COST, 0);
  const served: string[] = [];
  const hash = async (lane: string, owner: string): Promise<void> => {
    await passwords.hash(PASSWORD, { lane, owner, since: 0 });
    served.push(lane);
  };
  const greedy = Array.from({ length: 20 }, (_, n) => hash('greedy', `greedy ${n}`));
  const others = ['anna', 'bert'].map((lane) => hash(lane, lane));
  await Promise.all([...greedy, ...others]);
  const late = Math.max(served.indexOf('anna'), served.indexOf('bert'));
  // Two were in flight, and each of the three sellers had a turn.
  assert.ok(late <= CONCURRENT_PASSWORD_HASHES_LIMIT + 3, served.join(' '));
});

test('rejects what has no place in its lane or for its owner, and nothing of others', async () => {
  const passwords = new Passwords(LEAST_COST, 0);
  const hash = (lane: string, owner: string) =>
    passwords.hash(PASSWORD, { lane, owner, since: 0 });
  const all = Array.from({ length: PASSWORD_HASH_LANE_LIMIT }, (_, n) => hash('a', `a ${n}`));
  const busy = { code: 'unavailable', retryAfterSeconds: 5 };
  await assert.rejects(hash('a', 'another'), busy);
  const own = Array.from({ length: PASSWORD_HASHES_PER_OWNER_LIMIT }, () => hash('b', 'b'));
  await assert.rejects(hash('b', 'b'), busy);
  await hash('b', 'c');
  await Promise.all([...all, ...own]);
  await hash('b', 'b');
});

test('gives up the place of a client that leaves, and hashes nothing for it', async () => {
  const passwords = new Passwords(LEAST_COST, 0);
  const leaving = new AbortController();
  const hash = (owner: string, signal?: AbortSignal) =>
    passwords.hash(PASSWORD, { lane: 'a', owner, since: 0, signal });
  const inFlight = [hash('b'), hash('b')];
  const room = PASSWORD_HASH_LANE_LIMIT - inFlight.length;
  const gone = Array.from({ length: room }, (_, n) => hash(`a ${n}`, leaving.signal));
  const settled = Promise.allSettled(gone);
  leaving.abort();
  assert.deepEqual(new Set((await settled).map(({ status }) => status)), new Set(['rejected']));
  await assert.rejects(hash('c', leaving.signal), { code: 'unavailable' });
  const next = Array.from({ length: room }, (_, n) => hash(`a ${n}`));
  await Promise.all([...inFlight, ...next]);
});

test('rejects at the same time after the request, whatever was done for it before', async () => {
  const passwords = new Passwords(LEAST_COST, 60_000);
  const client = { lane: 'a', owner: 'a', since: performance.now() - 60_000 };
  const own = [passwords.hash(PASSWORD, client), passwords.hash(PASSWORD, client)];
  await assert.rejects(passwords.takeTurn(client), { code: 'unavailable' });
  let isRejected = false;
  const late = new Passwords(LEAST_COST, 20);
  const now = { ...client, since: performance.now() };
  const busy = [late.takeTurn(now), late.takeTurn(now), late.takeTurn(now).catch(() => {
    isRejected = performance.now() - now.since >= 10;
  })];
  await Promise.all([...own, ...busy]);
  assert.equal(isRejected, true);
});
