/**
 * A software authenticator with one passkey, which responds in the form that a browser sends. Each
 * response can be made invalid in one respect.
 */
import {
  createHash, generateKeyPairSync, type KeyObject, randomBytes, sign,
} from 'node:crypto';
import { encodeCbor, type Encodable } from './cbor.ts';

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

/** The request of the page, and the errors that a response may have. */
interface Ask {
  /** In base64url. */
  readonly challenge: string;
  readonly origin: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly rpId?: string;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly format?: string;
}

const FLAGS = { present: 1, verified: 4, credential: 64 };

export class SoftwareAuthenticator {
  readonly credentialId = randomBytes(32);
  readonly publicKey: Buffer;
  readonly #privateKey: KeyObject;
  readonly #algorithm: Algorithm;
  /** Included in the next response, and incremented after it, unless it is 0. */
  signCount: number;

  constructor(algorithm: Algorithm = 'ES256', signCount = 0) {
    const { publicKey, privateKey } = makeKeys(algorithm);
    this.#algorithm = algorithm;
    this.#privateKey = privateKey;
    this.publicKey = encodeCbor(toCose(algorithm, publicKey));
    this.signCount = signCount;
  }

  create(ask: Ask) {
    const credential = Buffer.concat([
      Buffer.alloc(16), Buffer.from([0, this.credentialId.length]), this.credentialId,
      this.publicKey,
    ]);
    const statement = new Map<string, Encodable>();
    const attestationObject = encodeCbor(new Map<string, Encodable>([
      ['fmt', ask.format ?? 'none'], ['attStmt', statement],
      ['authData', this.#makeData(ask, FLAGS.credential, credential)],
    ]));
    return { clientDataJson: makeClientData('webauthn.create', ask), attestationObject };
  }

  get(ask: Ask) {
    const clientDataJson = makeClientData('webauthn.get', ask);
    const authenticatorData = this.#makeData(ask, 0, Buffer.alloc(0));
    const hash = createHash('sha256').update(clientDataJson).digest();
    const signed = Buffer.concat([authenticatorData, hash]);
    const digest = this.#algorithm === 'EdDSA' ? null : 'sha256';
    const signature = sign(digest, signed, this.#privateKey);
    return { clientDataJson, authenticatorData, signature };
  }

  #makeData(ask: Ask, flag: number, credential: Buffer): Buffer {
    const { rpId = new URL(ask.origin).hostname, isPresent = true, isVerified = true } = ask;
    const head = Buffer.alloc(37);
    createHash('sha256').update(rpId).digest().copy(head);
    head.writeUInt8(flag | (isPresent ? FLAGS.present : 0) | (isVerified ? FLAGS.verified : 0), 32);
    head.writeUInt32BE(this.signCount, 33);
    if (this.signCount > 0) this.signCount += 1;
    return Buffer.concat([head, credential]);
  }
}

function makeClientData(type: string, ask: Ask): Buffer {
  const { challenge, origin, crossOrigin = false } = ask;
  return Buffer.from(JSON.stringify({ type: ask.type ?? type, challenge, origin, crossOrigin }));
}

function makeKeys(algorithm: Algorithm) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** The members of a COSE_Key, in canonical order. */
export function toCose(algorithm: Algorithm, key: KeyObject): Map<number, Encodable> {
  const jwk = key.export({ format: 'jwk' });
  const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');
  if (algorithm === 'ES256') {
    return new Map<number, Encodable>(
      [[1, 2], [3, -7], [-1, 1], [-2, bytes(jwk.x)], [-3, bytes(jwk.y)]],
    );
  }
  if (algorithm === 'EdDSA') {
    return new Map<number, Encodable>([[1, 1], [3, -8], [-1, 6], [-2, bytes(jwk.x)]]);
  }
  return new Map<number, Encodable>([[1, 3], [3, -257], [-1, bytes(jwk.n)], [-2, bytes(jwk.e)]]);
}
