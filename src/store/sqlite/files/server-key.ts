/**
 * The server's key: `server.key` beside the database and never in it, so a copy of the database
 * alone does not show the secrets that it keeps. They are encrypted with AES-256-GCM (NIST SP
 * 800-38D), each bound to its context. The file is read, or made, when the store is opened, and
 * never again: no request touches it. Of several processes the first one makes it for all.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { syncFile, syncFolder } from './durable-files.ts';
import { AtomicFile } from './atomic-file.ts';
import { KEY_FILE_NAME } from './data-folder-files.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class ServerKey {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** A key for one purpose, by HKDF (RFC 5869) with SHA-256. */
  derive(context: string, lengthBytes: number): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#bytes, '', context, lengthBytes));
  }

  /** Nonce, encrypted text and tag. `context` names what the text belongs to. */
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
      return undefined; // the tag does not fit: this is what says so
    }
  }
}

/**
 * Reads the key of a data folder, or makes it where there is none.
 * @throws AppError `unavailable` if the file exists and is not a key
 */
export function openServerKey(folder: string): ServerKey {
  const bytes = read(folder) ?? make(folder);
  if (bytes.length !== KEY_BYTES) {
    const hint = 'Put back the one that belongs to the database, or move this one away.';
    throw new AppError('unavailable', `${KEY_FILE_NAME} in the data folder is no key. ${hint}`);
  }
  // What is encrypted with a key that a power cut takes away is lost. The key may come from another
  // process, which may have been killed before it flushed the key.
  syncFile(join(folder, KEY_FILE_NAME));
  syncFolder(folder);
  return new ServerKey(bytes);
}

/** Undefined if the file is missing, or is not a key. */
export function findServerKey(folder: string): ServerKey | undefined {
  const bytes = read(folder);
  return bytes?.length === KEY_BYTES ? new ServerKey(bytes) : undefined;
}

function read(folder: string): Buffer | undefined {
  try {
    return readFileSync(join(folder, KEY_FILE_NAME));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The key of the process that was first. */
function make(folder: string): Buffer {
  const target = new AtomicFile(join(folder, KEY_FILE_NAME));
  try {
    target.begin();
    writeFileSync(target.tempPath, randomBytes(KEY_BYTES));
    target.publish();
  } finally {
    target.discard();
  }
  return read(folder) ?? Buffer.alloc(0);
}
