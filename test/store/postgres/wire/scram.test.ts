/** SCRAM-SHA-256 against the example of RFC 7677, and against malicious servers. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { startScram } from '../../../../src/store/postgres/wire/scram.ts';
import { makeCertificate } from '../../../support/certificate.ts';

/** RFC 7677, section 3. */
const CLIENT_NONCE = 'rOprNGfwEbeRWgbNEkqO';
const NONCE = `${CLIENT_NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0`;
const SALT = 'W22ZaJ0SNY7soEsUEjb6gQ==';
const SERVER_FIRST = `r=${NONCE},s=${SALT},i=4096`;

function start(
  offered = ['SCRAM-SHA-256'], certificate?: X509Certificate, password = 'pencil',
) {
  return startScram({ password, offered, certificate, userName: 'user', nonce: CLIENT_NONCE });
}

/** Equal for equal passwords. */
function answer(password: string): Promise<string> {
  return start(undefined, undefined, password).answer(SERVER_FIRST);
}

test('sends and verifies the messages of the example of RFC 7677', async () => {
  const scram = start();
  assert.equal(scram.first, 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO');
  assert.equal(await scram.answer(SERVER_FIRST),
    `c=biws,r=${NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=`);
  scram.verify('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=');
});

test('rejects a server that does not know the password', async () => {
  const scram = start();
  assert.throws(() => scram.verify('v='), /incorrect server signature/, 'before its challenge');
  await scram.answer(SERVER_FIRST);
  for (const final of ['', 'e=invalid-proof', 'v=', `v=${'A'.repeat(43)}=`]) {
    assert.throws(() => scram.verify(final), /incorrect server signature/, final);
  }
});

for (const [title, message] of [
  ['a nonce of its own', `r=other${NONCE},s=${SALT},i=4096`],
  ['our nonce with nothing added', `r=${CLIENT_NONCE},s=${SALT},i=4096`],
  ['an unknown mandatory extension', `m=x,${SERVER_FIRST}`],
  ['no salt', `r=${NONCE},s=,i=4096`],
  ['no message', ''],
] as const) {
  test(`rejects a server that sends ${title}`, async () => {
    await assert.rejects(start().answer(message), /malformed SCRAM message/);
  });
}

test('limits the iterations that a server may ask for', async () => {
  for (const count of [1, 4_095, 1_000_001, 999_999_999]) {
    const message = `r=${NONCE},s=${SALT},i=${count}`;
    await assert.rejects(start().answer(message), /iterations of SCRAM; allowed are 4096 to/);
  }
});

test('binds the exchange to the certificate if the server offers it', async () => {
  const certificate = new X509Certificate(makeCertificate().cert);
  const plus = start(['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256'], certificate);
  assert.equal(plus.mechanism, 'SCRAM-SHA-256-PLUS');
  assert.match(plus.first, /^p=tls-server-end-point,,n=/);
  const hash = createHash('sha256').update(certificate.raw).digest();
  const binding = Buffer.concat([Buffer.from('p=tls-server-end-point,,'), hash]);
  assert.match(await plus.answer(SERVER_FIRST), new RegExp(`^c=${RegExp.escape(
    binding.toString('base64'))},`));
});

test('lets the server detect that channel binding was removed from its offer', () => {
  const certificate = new X509Certificate(makeCertificate().cert);
  assert.match(start(['SCRAM-SHA-256'], certificate).first, /^y,,/);
  assert.throws(() => start(['SCRAM-SHA-1']), /offers only SCRAM-SHA-1 to authenticate/);
});

test('prepares passwords with SASLprep', async () => {
  // RFC 4013, section 3, and others.
  const cases = [
    ['I\u00adX', 'IX'], ['user', 'user'], ['USER', 'USER'], ['\u00aa', 'a'], ['\u2168', 'IX'],
    ['a\u00a0b', 'a b'], ['\u200b', ' '], ['p\u0061\u0308ss', 'p\u00e4ss'],
  ] as const;
  for (const [password, prepared] of cases) {
    assert.equal(await answer(password), await answer(prepared), JSON.stringify(password));
  }
});

test('uses passwords with prohibited characters as they are', async () => {
  const cases = [
    ['\u0007\u00aa', '\u0007a'], ['\u00aa\ue000', 'a\ue000'], ['\u00aa\u200e', 'a\u200e'],
    ['\u00ad', ''],
  ] as const;
  for (const [password, prepared] of cases) {
    assert.notEqual(await answer(password), await answer(prepared), JSON.stringify(password));
  }
});
