/**
 * Replaces the catalogue with a backup: copies it into the folder, checks the copy, and renames it
 * in one step, so that a crash leaves either the old or the new catalogue. Keeps the old one under
 * another name. Fails while another process has the catalogue open.
 */
import {
  chmodSync, createReadStream, createWriteStream, existsSync, readdirSync, renameSync, rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../../domain/error.ts';
import { formatFileTime } from '../../../domain/time.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { removeDatabase, syncFolder } from '../files/durable-files.ts';
import {
  CATALOGUE_FILE_NAME, findReleasedVersion, findVersion, prepareFolder, putGeneration,
} from '../engine/database-file.ts';
import { checkSchema } from '../check/schema.ts';
import { openExclusive, openReader, openWriter } from '../engine/connection.ts';
import {
  assertRoom, type CatalogueFacts, checkCopy, type CopyState, explainCopyError,
} from './database-copy.ts';
import { resultCodeOf, SQLITE_BUSY } from '../engine/disk-failure.ts';
import { HIGH_WATER_FILE_NAME } from '../engine/high-water.ts';
import type { AtomicFile } from '../files/atomic-file.ts';
import { countFileSecrets, type SecretCount } from '../check/secrets.ts';

interface RestoreTask {
  /** The backup; never written to. */
  readonly file: string;
  /** The data folder. */
  readonly folder: string;
  /** `catalogue.db` in the data folder. */
  readonly target: AtomicFile;
  /** Whether to replace an existing catalogue. */
  readonly isReplacing: boolean;
  /** Milliseconds since 1970; names the old catalogue. */
  readonly at: number;
}

export interface Restored extends CatalogueFacts {
  readonly bytes: number;
  /** The new names of the old files. */
  readonly kept: readonly string[];
  readonly secrets: SecretCount;
}

/** Files beside a database that is open, or was not closed cleanly. */
const SUFFIXES = ['-wal', '-shm', '-journal'];
const KEPT = /^catalogue\.db\.replaced-\d{8}T\d{6}Z$/;

/** Resolves when it is durable. @throws AppError `unavailable`, `storage_full` */
export async function restore(
  task: RestoreTask, onProgress: (state: CopyState) => void,
): Promise<Restored> {
  const { file, folder, target } = task;
  assertBackup(file);
  prepareFolder(folder);
  using old = lockOld(task);
  try {
    const { size: bytes } = statSync(file);
    assertRoom(folder, bytes);
    target.begin();
    await copy(file, target.tempPath, bytes, onProgress);
    assertSchema(target.tempPath, file);
    const facts = checkCopy(target.tempPath, file);
    const secrets = countFileSecrets(target.tempPath, folder);
    finish(target.tempPath);
    await yieldToEventLoop(); // lets an interrupt during the check take effect
    chmodSync(folder, 0o700);
    // The server rebuilds it from the catalogue.
    removeDatabase(join(folder, 'search.db'));
    rmSync(join(folder, HIGH_WATER_FILE_NAME), { force: true }); // of the old one
    return { ...facts, bytes, secrets, kept: install(task, old !== undefined) };
  } catch (error) {
    target.discard();
    throw explainCopyError(error, target.path);
  }
}

function assertBackup(file: string): void {
  if (findVersion(file) === undefined) {
    throw new AppError('unavailable', `There is no file ${file}.`);
  }
  for (const end of SUFFIXES) {
    if (!existsSync(file + end)) continue;
    const hint = 'exists: it is in use, or its process crashed. Copy it with "backup" first.';
    throw new AppError('unavailable', `${file}${end} ${hint}`);
  }
}

/** Locks the old catalogue; undefined if none exists. */
function lockOld({ folder, target: { path }, isReplacing }: RestoreTask): DatabaseSync | undefined {
  if (findReleasedVersion(path) === undefined) return undefined;
  if (!isReplacing) {
    const hint = 'Choose another folder with --data, or replace it with --replace, which keeps'
      + ' it under another name.';
    throw new AppError('unavailable', `${folder} already contains a catalogue. ${hint}`);
  }
  return lockCatalogue(folder, path);
}

/**
 * Locks a catalogue until the connection is closed.
 * @throws AppError `unavailable` if another process has it open
 */
export function lockCatalogue(folder: string, path: string): DatabaseSync {
  try {
    return openExclusive(path);
  } catch (error) {
    const code = resultCodeOf(error);
    if (code === 0 || !(error instanceof Error)) throw error;
    const why = code === SQLITE_BUSY
      ? `${folder} is in use. Stop the server and other commands on it first.`
      : `${path} cannot be opened (${error.message}). Move it away, with its -wal and -shm.`;
    throw new AppError('unavailable', `${why} Nothing was changed.`, { cause: error });
  }
}

async function copy(
  file: string, part: string, sizeBytes: number, onProgress: (state: CopyState) => void,
): Promise<void> {
  let bytes = 0;
  const source = createReadStream(file, { highWaterMark: 2 ** 20 });
  source.on('data', (chunk) => {
    bytes += chunk.length;
    onProgress({ bytes, sizeBytes });
  });
  await pipeline(source, createWriteStream(part, { flags: 'r+', flush: true }));
}

/**
 * A manipulated backup may contain a trigger that changes what this server writes, or a view in
 * place of a table. So its schema is checked before anything else is read.
 */
function assertSchema(part: string, name: string): void {
  using db = openReader(part);
  for (const { what } of checkSchema(db)) {
    throw new AppError('unavailable', `${name} is not a backup of this server: ${what}`);
  }
}

/**
 * Begins a generation, and ends all sessions: one that was ended after the backup would be valid
 * again. Leaves one file in WAL mode without a log: otherwise the first open would need a rollback
 * journal to change the mode.
 */
function finish(part: string): void {
  using db = openWriter(part);
  putGeneration(db);
  db.exec('DELETE FROM session; PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Returns the new names of the old files. */
function install({ folder, target, at }: RestoreTask, hasOld: boolean): string[] {
  if (hasOld) removeSecondNames(folder, target.path);
  const name = findFreeName(folder, at);
  if (hasOld) {
    target.replace(join(folder, name));
    return [name];
  }
  // SQLite would apply the log of the missing old catalogue to the new one.
  const suffixes = SUFFIXES.filter((end) => existsSync(target.path + end));
  for (const end of suffixes) renameSync(target.path + end, join(folder, name + end));
  syncFolder(folder); // or a power cut could restore the log beside the new one
  target.show();
  return suffixes.map((end) => name + end);
}

/** Of the time, or of a later second if another restore has taken the name. */
function findFreeName(folder: string, at: number): string {
  const name = `${CATALOGUE_FILE_NAME}.replaced-${formatFileTime(at)}`;
  return existsSync(join(folder, name)) ? findFreeName(folder, at + 1_000) : name;
}

/** Left by a restore that was killed before it replaced anything. */
function removeSecondNames(folder: string, path: string): void {
  const { ino } = statSync(path);
  for (const entry of readdirSync(folder)) {
    const other = join(folder, entry);
    if (KEPT.test(entry) && statSync(other).ino === ino) rmSync(other);
  }
}
