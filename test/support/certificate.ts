/**
 * Generates self-signed certificates for tests (X.509, RFC 5280), so that the source contains no
 * key file and tests need no tool. The DER is written by hand: a tag, a length, a value.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  /** PEM (PKCS #8). */
  readonly key: string;
}

interface CertificateOptions {
  /** Host names and IPv4 addresses; the first is also the subject. */
  readonly names?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Type of the key. Default: `ec`, which is fast to generate. */
  readonly type?: 'ec' | 'rsa';
}

const DAY_MS = 24 * 60 * 60 * 1000;
const [INTEGER, BITS, OCTETS, NULL, OID, UTF8, TIME, SEQUENCE, SET] =
  [0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x18, 0x30, 0x31] as const;
const ECDSA_WITH_SHA256 = der(SEQUENCE, der(OID, Buffer.from('2a8648ce3d040302', 'hex')));
const RSA_WITH_SHA256 = der(
  SEQUENCE, der(OID, Buffer.from('2a864886f70d01010b', 'hex')), der(NULL),
);
const COMMON_NAME = der(OID, Buffer.from('550403', 'hex'));
const ALTERNATIVE_NAMES = der(OID, Buffer.from('551d11', 'hex'));
const TRUE = Buffer.from('0101ff', 'hex');
const BASIC_CONSTRAINTS = der(OID, Buffer.from('551d13', 'hex'));

let serial = 0;

/** By default valid from yesterday to tomorrow, for localhost and 127.0.0.1. */
export function makeCertificate({
  names = ['localhost', '127.0.0.1'],
  notBefore = new Date(Date.now() - DAY_MS), notAfter = new Date(Date.now() + DAY_MS),
  type = 'ec',
}: CertificateOptions = {}): TestCertificate {
  const { publicKey, privateKey } = type === 'ec'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const algorithm = type === 'ec' ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256;
  serial += 1;
  const name = der(SEQUENCE, der(SET, der(SEQUENCE,
    COMMON_NAME, der(UTF8, Buffer.from(names[0] ?? '')))));
  const toBeSigned = der(SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.of(2))), // version 3
    der(INTEGER, Buffer.of(1, serial >> 8, serial & 0xff)),
    algorithm,
    name, // the issuer
    der(SEQUENCE, formatTime(notBefore), formatTime(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE,
      der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTETS, der(SEQUENCE, TRUE))),
      der(SEQUENCE, ALTERNATIVE_NAMES, der(OCTETS, der(SEQUENCE, ...names.map(formatName)))))));
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = der(SEQUENCE,
    toBeSigned, algorithm, der(BITS, Buffer.of(0), signature));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${
      certificate.toString('base64').match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), value]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), value]);
}

/** GeneralizedTime. RFC 5280 requires UTCTime before 2050, but OpenSSL accepts this. */
function formatTime(time: Date): Buffer {
  return der(TIME, Buffer.from(time.toISOString().replace(/[-:T]|\.\d+/g, '')));
}

/** A dNSName or an iPAddress. */
function formatName(name: string): Buffer {
  if (isIP(name) === 4) return der(0x87, Buffer.from(name.split('.').map(Number)));
  return der(0x82, Buffer.from(name));
}
