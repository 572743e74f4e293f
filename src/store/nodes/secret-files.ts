/**
 * The secrets that all nodes of a database share, the server's key and the password, in files such
 * as those of a secret manager; nothing here creates one.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { AppError } from '../../domain/error.ts';
import { decodeMarkedText } from '../../domain/text.ts';
import { SERVER_KEY_BYTES, ServerKey } from '../rules/server-key.ts';

/** Access for users that are neither the owner nor in the file's group. */
const OTHERS_MODE = 0o007;
const PASSWORD_LIMIT_BYTES = 4_096;

/** @throws AppError `unavailable` for a file that is missing, open to all users, or not a key */
export function readServerKeyFile(path: string): ServerKey {
  const bytes = readSecretFile(path, 'server key', SERVER_KEY_BYTES);
  if (bytes.length === SERVER_KEY_BYTES) return new ServerKey(bytes);
  throw new AppError('unavailable', `${path} is not a server key: it must have exactly ${
    SERVER_KEY_BYTES} bytes. Use the file with which the database was set up.`);
}

/** The first line. @throws AppError `unavailable` */
export function readPasswordFile(path: string): string {
  const text = decodeMarkedText(readSecretFile(path, 'password', PASSWORD_LIMIT_BYTES));
  const [password = ''] = text.split(/\r?\n/, 1);
  if (password !== '') return password;
  throw new AppError('unavailable', `The password file ${path} is empty.`);
}

function readSecretFile(path: string, kind: string, limitBytes: number): Buffer {
  const bytes = tryReading(path, kind);
  if (bytes.length <= limitBytes) return bytes;
  throw new AppError('unavailable', `${path} is not a ${kind}: it has ${bytes.length} bytes.`);
}

function tryReading(path: string, kind: string): Buffer {
  try {
    using opened = new DisposableStack();
    const file = opened.adopt(openSync(path, 'r'), closeSync);
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new AppError('unavailable', `${path} is not a plain file.`);
    if ((stats.mode & OTHERS_MODE) !== 0) {
      throw new AppError('unavailable', `Every user of this machine can access the ${kind} in ${
        path}. Revoke that access: chmod o= ${path}`);
    }
    return readFileSync(file);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError('unavailable', `The ${kind} cannot be read: ${reason}.`, { cause: error });
  }
}
