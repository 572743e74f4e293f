/**
 * The key of the server, `server.key` beside the database and never in it: whoever gets a copy of
 * the database alone cannot read the secrets that it keeps. They are sealed by AES-256-GCM (NIST SP
 * 800-38D), each bound to what it belongs to. The file is made when it is first needed, whole or
 * not at all, and the first of several processes makes it for all of them.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../domain/error.ts';
import { isSystemError } from '../../domain/system-error.ts';
import { explainWriting } from './disk-failure.ts';
import { syncFolder } from './folder.ts';

const FILE_NAME = 'server.key';
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class ServerKey {
  readonly #folder: string;
  readonly #file: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = join(folder, FILE_NAME);
  }

  /**
   * Nonce, sealed text and tag. `context` names what the text belongs to.
   * @throws AppError `unavailable` where the file is there and is no key, or cannot be made;
   *   `storage_full`
   */
  seal(text: string, context: string): Buffer {
    const key = this.#read() ?? this.#make();
    if (key.length !== KEY_BYTES) {
      const hint = 'Put back the one that belongs to the database, or move this one away.';
      throw new AppError('unavailable', `${FILE_NAME} in the data folder is no key. ${hint}`);
    }
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
  }

  /** Undefined where the key is missing, or is another one, or belongs to something else. */
  open(sealed: Uint8Array, context: string): string | undefined {
    const key = this.#read();
    if (key?.length !== KEY_BYTES || sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const end = sealed.length - TAG_BYTES;
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), {
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

  /** Read each time: the file may have been put back, or made by another process. */
  #read(): Buffer | undefined {
    try {
      return readFileSync(this.#file);
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** The key of whoever was first. */
  #make(): Buffer {
    const unfinished = `${this.#file}.${process.pid}.new`;
    let handle: number | undefined;
    try {
      rmSync(unfinished, { force: true });
      handle = openSync(unfinished, 'wx', 0o600);
      writeSync(handle, randomBytes(KEY_BYTES));
      fsyncSync(handle);
      linkSync(unfinished, this.#file);
      syncFolder(this.#folder);
    } catch (error) {
      // Another process was first: its key is as good.
      if (!isSystemError(error, 'EEXIST')) throw explainWriting(error);
    } finally {
      if (handle !== undefined) closeSync(handle);
      rmSync(unfinished, { force: true });
    }
    return this.#read() ?? Buffer.alloc(0);
  }
}
