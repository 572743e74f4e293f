/**
 * SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677), the client's part: proves knowledge of
 * the password without sending it, and verifies that the server knows it, too. PLUS binds the
 * exchange to the server's certificate (tls-server-end-point, RFC 5929), so that nobody between
 * client and server can relay it.
 */
import {
  createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual, type X509Certificate,
} from 'node:crypto';
import { promisify } from 'node:util';
import { ProtocolError } from './errors.ts';
import { SCRAM_ITERATIONS_LIMIT, SCRAM_ITERATIONS_MIN } from './limits.ts';

const HASH_BYTES = 32;
const NONCE_BYTES = 18;
const deriveKey = promisify(pbkdf2);

/**
 * Uses channel binding if the server offers it and its certificate allows it. Without TLS there is
 * no certificate. PostgreSQL ignores the user's name here: it is in the startup message.
 */
export function startScram({
  password, offered, certificate, userName = '',
  nonce = randomBytes(NONCE_BYTES).toString('base64'),
}: {
  readonly password: string;
  readonly offered: readonly string[];
  readonly certificate: X509Certificate | undefined;
  readonly userName?: string;
  readonly nonce?: string;
}) {
  const binding = certificate && hashCertificate(certificate);
  const isBound = binding !== undefined && offered.includes('SCRAM-SHA-256-PLUS');
  const mechanism = isBound ? 'SCRAM-SHA-256-PLUS' : 'SCRAM-SHA-256';
  if (!offered.includes(mechanism)) {
    throw new ProtocolError(`the server offers only ${offered.join(', ')} to authenticate`);
  }
  // `y`: the client could, but the server did not offer it, which the server checks.
  const header = isBound ? 'p=tls-server-end-point,,' : binding ? 'y,,' : 'n,,';
  const bound = Buffer.concat([Buffer.from(header), ...isBound ? [binding] : []]);
  const firstBare = `n=${userName},r=${nonce}`;
  let expected: Buffer | undefined;
  return {
    mechanism,
    /** client-first-message. */
    first: header + firstBare,
    /** Returns client-final-message for server-first-message. */
    async answer(serverFirst: string): Promise<string> {
      const { serverNonce, salt, iterations } = parseServerFirst(serverFirst, nonce);
      const salted = await deriveKey(prepareSasl(password), salt, iterations, HASH_BYTES, 'sha256');
      const clientKey = hmac(salted, 'Client Key');
      const withoutProof = `c=${bound.toString('base64')},r=${serverNonce}`;
      const message = `${firstBare},${serverFirst},${withoutProof}`;
      const signature = hmac(createHash('sha256').update(clientKey).digest(), message);
      expected = hmac(hmac(salted, 'Server Key'), message);
      const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));
      return `${withoutProof},p=${Buffer.from(proof).toString('base64')}`;
    },
    /** @throws ProtocolError unless server-final-message proves knowledge of the password. */
    verify(serverFinal: string): void {
      const received = Buffer.from(/^v=([^,]+)/.exec(serverFinal)?.[1] ?? '', 'base64');
      if (received.length !== expected?.length || !timingSafeEqual(received, expected)) {
        throw new ProtocolError('incorrect server signature: it does not know the password');
      }
    },
  };
}

function parseServerFirst(message: string, clientNonce: string) {
  const [, serverNonce = '', salt = '', count = ''] =
    /^r=([!-+\--~]+),s=([A-Za-z0-9+/=]+),i=(\d{1,9})(?:,|$)/.exec(message) ?? [];
  if (!serverNonce.startsWith(clientNonce) || serverNonce.length === clientNonce.length) {
    throw new ProtocolError('malformed SCRAM message from the server');
  }
  const iterations = Number(count);
  if (iterations < SCRAM_ITERATIONS_MIN || iterations > SCRAM_ITERATIONS_LIMIT) {
    throw new ProtocolError(`the server asks for ${iterations} iterations of SCRAM; allowed are `
      + `${SCRAM_ITERATIONS_MIN} to ${SCRAM_ITERATIONS_LIMIT}`);
  }
  return { serverNonce, salt: Buffer.from(salt, 'base64'), iterations };
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Code points that RFC 4013 maps to a space, removes, and prohibits. */
const SPACES = /[\p{Zs}\u200b]/gu;
const REMOVED = /[\u00ad\u034f\u1806\u180b-\u180d\u200c\u200d\u2060\ufe00-\ufe0f\ufeff]/g;
const PROHIBITED = new RegExp('[\\p{Cc}\\p{Co}\\p{Cs}\\p{Cn}\\u0340\\u0341\\u06dd\\u070f\\u180e'
  + '\\u200e\\u200f\\u2028-\\u202e\\u2061-\\u2063\\u206a-\\u206f\\u2ff0-\\u2ffb\\ufff9-\\ufffd'
  + '\\u{1d173}-\\u{1d17a}\\u{e0001}\\u{e0020}-\\u{e007f}]', 'u');

/**
 * SASLprep (RFC 4013) without its rule about text in two directions. As in PostgreSQL, a password
 * with prohibited characters is used as it is.
 */
function prepareSasl(password: string): string {
  const prepared = password.replaceAll(SPACES, ' ').replaceAll(REMOVED, '').normalize('NFKC');
  return prepared === '' || PROHIBITED.test(prepared) ? password : prepared;
}

/**
 * RFC 5929, section 4.1: MD5 and SHA-1 are replaced by SHA-256. Undefined where the signature
 * algorithm does not name one hash function (Ed25519, RSA-PSS).
 */
function hashCertificate(certificate: X509Certificate): Buffer | undefined {
  const [, name] = /(md5|sha-?\d+)(?![\d/])/i.exec(certificate.signatureAlgorithm ?? '') ?? [];
  if (name === undefined) return undefined;
  const hash = name.toLowerCase().replace('-', '');
  return createHash(/^(?:md5|sha1)$/.test(hash) ? 'sha256' : hash).update(certificate.raw).digest();
}
