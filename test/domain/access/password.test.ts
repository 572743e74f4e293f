/** Password hashing: argon2id in the PHC string format, with limited concurrency. */
import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import {
  CONCURRENT_PASSWORD_HASHES_LIMIT, PASSWORD_HASH_QUEUE_LIMIT,
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

test('queues up to its limit, rejects the rest, and processes the queue', async () => {
  const passwords = new Passwords();
  const phc = makePhc(PASSWORD, 8, 1, 32);
  const room = CONCURRENT_PASSWORD_HASHES_LIMIT + PASSWORD_HASH_QUEUE_LIMIT;
  const all = Array.from({ length: room }, () => passwords.verify(PASSWORD, phc));
  await assert.rejects(passwords.verify(PASSWORD, phc), {
    code: 'unavailable', retryAfterSeconds: 5,
  });
  assert.deepEqual(await Promise.all(all), Array(room).fill(true));
  assert.equal(await passwords.verify(PASSWORD, phc), true);
});
