/** Certificate files, and the errors and warnings about them. */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type CertificateFiles, readCertificate } from '../../../src/cli/serve/certificate.ts';
import { makeCertificate, type TestCertificate } from '../../support/certificate.ts';
import { makeFolder } from '../../support/folder.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 24 * 60 * 60 * 1000;

function write(t: TestContext, { cert, key }: TestCertificate): CertificateFiles {
  const folder = makeFolder(t);
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key, { mode: 0o600 });
  return files;
}

/** A certificate that is valid from this many days ago for this many more days. */
function makeValid(daysBefore: number, daysAfter: number, names = ['shop.example', '127.0.0.1']) {
  return makeCertificate({
    names,
    notBefore: new Date(NOW - daysBefore * DAY_MS), notAfter: new Date(NOW + daysAfter * DAY_MS),
  });
}

test('describes the subject and the expiry of a certificate', (t) => {
  const files = write(t, makeValid(1, 90));
  for (const host of ['shop.example', '127.0.0.1', undefined]) {
    const { description, warnings } = readCertificate(files, host, NOW);
    assert.equal(description, 'CN=shop.example, valid until 2027-02-19');
    assert.deepEqual(warnings, []);
  }
});

test('warns of a certificate that has expired, expires soon or is for another host', (t) => {
  const warn = (daysBefore: number, daysAfter: number, host = 'shop.example'): string => {
    const read = readCertificate(write(t, makeValid(daysBefore, daysAfter)), host, NOW);
    return read.warnings.join('\n');
  };
  assert.match(warn(90, -1), /^The certificate expired on 2026-11-20T12:00:00.000Z\. .*\.$/);
  assert.match(warn(-1, 90), /^The certificate is not valid before 2026-11-22T12:00:00.000Z\.$/);
  assert.match(warn(80, 13), /^The certificate expires in 13 days\. Renew it, .* SIGHUP/);
  assert.equal(warn(80, 14), '');
  for (const host of ['other.example', '127.0.0.2', '[::1]']) {
    assert.equal(
      warn(1, 90, host), `The certificate is not valid for ${host}, the host of --base-url.`,
    );
  }
});

test('rejects a key that every user can access, and one of another certificate', (t) => {
  const { cert, key } = makeValid(1, 90);
  const open = write(t, { cert, key });
  for (const mode of [0o644, 0o604, 0o602]) {
    chmodSync(open.keyFile, mode);
    assert.throws(() => readCertificate(open, undefined, NOW), {
      name: 'CommandFailure', message: /^Every user of this machine can access the key .*pem\. /,
    });
  }
  chmodSync(open.keyFile, 0o640);
  assert.equal(readCertificate(open, undefined, NOW).key, key);

  const mixed = write(t, { cert, key: makeValid(1, 90).key });
  assert.throws(() => readCertificate(mixed, undefined, NOW), {
    message: /^The key .*key\.pem does not belong to the certificate .*cert\.pem\.$/,
  });
});

test('says which file is missing or invalid', (t) => {
  const good = makeValid(1, 90);
  const refuse = (given: CertificateFiles, message: RegExp): void => {
    const refusal = { name: 'CommandFailure', message };
    assert.throws(() => readCertificate(given, undefined, NOW), refusal);
  };
  const files = write(t, good);
  refuse({ ...files, certFile: '/nowhere/cert.pem' }, /^There is no file \/nowhere\/cert\.pem\.$/);
  refuse({ ...files, keyFile: '/nowhere/key.pem' }, /^There is no file \/nowhere\/key\.pem\.$/);
  refuse({ ...files, keyFile: makeFolder(t) }, / cannot be read: EISDIR/);
  refuse(write(t, { ...good, cert: good.key }), /cert\.pem is not a certificate in PEM/);
  refuse(write(t, { ...good, cert: '' }), /cert\.pem is not a certificate in PEM/);
  refuse(write(t, { ...good, key: good.cert }), /key\.pem is not a private key in PEM/);
  const torn = good.cert + good.cert.slice(0, 200);
  refuse(write(t, { ...good, cert: torn }), /cert\.pem cannot be used: /);
});

test('rejects a key with a passphrase, without repeating it', (t) => {
  const good = makeValid(1, 90);
  const key = String(createPrivateKey(good.key).export({
    type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hidden',
  }));
  assert.throws(() => readCertificate(write(t, { ...good, key }), undefined, NOW), {
    message: /^The key \S+ has a passphrase\. Use a key without one\.$/,
  });
});
