/**
 * The server's key and its cipher. Secrets are encrypted with AES-256-GCM (NIST SP 800-38D), each
 * bound to its context, so that a copy of the database alone does not reveal them. The adapter
 * decides where to store the key, but never in the database.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const SERVER_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
// Persisted: another name would reject the right key.
const CHECK_CONTEXT = 'seller-product-api server key check v1';
const CHECK_BYTES = 16;

export class ServerKey {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** A key for one purpose, by HKDF (RFC 5869) with SHA-256. */
  derive(context: string, lengthBytes: number): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#bytes, '', context, lengthBytes));
  }

  /** Identifies the key and reveals nothing of it: a database keeps it to reject another key. */
  get check(): string {
    return Buffer.from(this.derive(CHECK_CONTEXT, CHECK_BYTES)).toString('hex');
  }

  /** Returns nonce, ciphertext and tag. `context` names what the text belongs to. */
  encrypt(text: string, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#bytes, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
  }

  /** Undefined if it was encrypted with another key or for another context. */
  decrypt(sealed: Uint8Array, context: string): string | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const end = sealed.length - TAG_BYTES;
    const decipher = createDecipheriv(ALGORITHM, this.#bytes, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(end));
    const text = decipher.update(sealed.subarray(NONCE_BYTES, end));
    try {
      return Buffer.concat([text, decipher.final()]).toString();
    } catch {
      return undefined; // the tag does not match
    }
  }
}
