/**
 * Reads `server.key` beside the database, or creates it. That happens when the store is opened and
 * never again: no request touches the file. Of several processes the first one creates it for all.
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
 * Reads the key of a data folder, or makes it where there is none.
 * @throws AppError `unavailable` if the file exists and is not a key
 */
export function openServerKey(folder: string): ServerKey {
  const bytes = read(folder) ?? make(folder);
  if (bytes.length !== SERVER_KEY_BYTES) {
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

/** The key of the process that was first. */
function make(folder: string): Buffer {
  using target = new AtomicFile(join(folder, KEY_FILE_NAME));
  target.begin();
  writeFileSync(target.tempPath, randomBytes(SERVER_KEY_BYTES));
  target.publish();
  return read(folder) ?? Buffer.alloc(0);
}
