/**
 * Reads or creates `server.key` beside the database when the store is opened; no request touches
 * the file, but no commit is acknowledged without it (`open-files.ts`). Among several processes the
 * first one creates it for all.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { SERVER_KEY_BYTES, ServerKey } from '../../rules/server-key.ts';
import { AtomicFile } from './atomic-file.ts';
import { KEY_FILE_NAME } from './data-folder-files.ts';
import { syncFile, syncFolder } from './durable-files.ts';

/**
 * Reads the key of a data folder, or creates a missing one.
 * @throws AppError `unavailable` if the file exists but is not a key
 */
export function openServerKey(folder: string): ServerKey {
  const bytes = read(folder) ?? make(folder);
  if (bytes.length !== SERVER_KEY_BYTES) {
    const hint = 'Put back the one that belongs to the database, or move this one away.';
    throw new AppError('unavailable', `${KEY_FILE_NAME} in the data folder is not a key. ${hint}`);
  }
  // A power cut must not lose a key that has encrypted data. Another process may have created it,
  // and been killed before flushing it.
  syncFile(join(folder, KEY_FILE_NAME));
  syncFolder(folder);
  return new ServerKey(bytes);
}

/** Undefined if the file is missing or not a key. */
export function findServerKey(folder: string): ServerKey | undefined {
  const bytes = read(folder);
  return bytes?.length === SERVER_KEY_BYTES ? new ServerKey(bytes) : undefined;
}

function read(folder: string): Buffer | undefined {
  try {
    return readFileSync(join(folder, KEY_FILE_NAME));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The key of the process that came first. */
function make(folder: string): Buffer {
  using target = new AtomicFile(join(folder, KEY_FILE_NAME));
  target.begin();
  writeFileSync(target.tempPath, randomBytes(SERVER_KEY_BYTES));
  target.publish();
  return read(folder) ?? Buffer.alloc(0);
}
