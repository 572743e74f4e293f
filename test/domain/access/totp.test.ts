/** Time-based one-time passwords: the test vectors of RFC 4226 and RFC 6238, and rejections. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findTotpStep, formatTotpSecret, formatTotpUri, generateTotpSecret, type TotpSecret,
} from '../../../src/domain/access/totp.ts';

// "12345678901234567890" in base 32: the secret of both RFCs.
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' as TotpSecret;

test('accepts the passwords of RFC 4226, appendix D, at the steps of their counters', () => {
  const passwords = ['755224', '287082', '359152', '969429', '338314', '254676', '287922',
    '162583', '399871', '520489'];
  passwords.forEach((password, counter) => {
    assert.equal(findTotpStep(SECRET, password, counter * 30_000, -1), counter, password);
  });
});

test('accepts the passwords of RFC 6238, appendix B, at their times', () => {
  // The last six of their eight digits.
  const vectors: readonly (readonly [seconds: number, password: string])[] = [
    [59, '287082'], [1_111_111_109, '081804'], [1_111_111_111, '050471'],
    [1_234_567_890, '005924'], [2_000_000_000, '279037'], [20_000_000_000, '353130'],
  ];
  for (const [seconds, password] of vectors) {
    const step = Math.floor(seconds / 30);
    assert.equal(findTotpStep(SECRET, password, seconds * 1000, 0), step, password);
  }
});

test('accepts the previous and the next time step, and no others', () => {
  const [step, password] = [37_037_036, '081804'];
  const begin = step * 30_000;
  for (const [at, found] of [
    [begin - 30_001, undefined], [begin - 30_000, step], [begin - 1, step],
    [begin + 59_999, step], [begin + 60_000, undefined],
  ] as const) {
    assert.equal(findTotpStep(SECRET, password, at, 0), found, String(at - begin));
  }
});

test('rejects a password of a step that was used, or of an earlier one', () => {
  const at = 1_111_111_109_000;
  const step = 37_037_036;
  assert.equal(findTotpStep(SECRET, '081804', at, step - 1), step);
  assert.equal(findTotpStep(SECRET, '081804', at, step), undefined);
  assert.equal(findTotpStep(SECRET, '081804', at, step + 1), undefined);
});

test('rejects anything but six digits', () => {
  for (const password of ['', '81804', '0818040', '08180a', ' 081804', '081804\n', '٠٨١٨٠٤']) {
    assert.equal(findTotpStep(SECRET, password, 1_111_111_109_000, 0), undefined, password);
  }
});

test('generates distinct secrets of 160 bits', () => {
  const secrets = new Set(Array.from({ length: 50 }, () => generateTotpSecret()));
  assert.equal(secrets.size, 50);
  for (const secret of secrets) assert.match(secret, /^[A-Z2-7]{32}$/);
});

test('formats a secret in groups of four, and as an otpauth URI for apps', () => {
  assert.equal(formatTotpSecret(SECRET), 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ');
  const uri = formatTotpUri(SECRET, 'Zoë’s: Mugs & "More"', 'zoë@shop.example');
  const { protocol, host, pathname, searchParams } = new URL(uri);
  assert.deepEqual([protocol, host], ['otpauth:', 'totp']);
  assert.equal(decodeURIComponent(pathname), '/Zoë’s  Mugs & "More":zoë@shop.example');
  assert.deepEqual(Object.fromEntries(searchParams), {
    secret: SECRET, issuer: 'Zoë’s  Mugs & "More"', algorithm: 'SHA1', digits: '6', period: '30',
  });
});

test('truncates long names, so that the URI fits into a QR code', () => {
  for (const name of ['a'.repeat(300), 'ä'.repeat(300), '水'.repeat(300), '🧾'.repeat(300)]) {
    const uri = formatTotpUri(SECRET, name, name);
    assert.ok(uri.length <= 400, `${uri.length} characters`);
    const { pathname, searchParams } = new URL(uri);
    const [issuer = '', account = ''] = decodeURIComponent(pathname).slice(1).split(':');
    assert.ok(name.startsWith(issuer) && issuer.length >= 8 && account === issuer);
    assert.equal(searchParams.get('issuer'), issuer);
  }
});
