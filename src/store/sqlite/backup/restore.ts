/**
 * Puts a backup in the place of the catalogue: copied into the folder, checked there, and given its
 * name in one step, so that a crash leaves the old catalogue or the new one. What was there is kept
 * under another name. Refuses while anybody has the catalogue open.
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
import { syncFolder } from '../files/durable-files.ts';
import { type CatalogueFacts, checkCopy } from './backup-check.ts';
import {
  CATALOGUE_FILE_NAME, findAnyVersion, findVersion, prepareFolder,
} from '../engine/database-file.ts';
import { checkSchema } from '../check/schema.ts';
import { openExclusive, openReader, openWriter } from '../engine/connection.ts';
import { assertRoom, type CopyState, explainCopyError } from './copying.ts';
import { resultCodeOf, SQLITE_BUSY } from '../engine/disk-failure.ts';
import type { AtomicFile } from '../files/atomic-file.ts';
import { countFileSecrets, PORTAL_VERSION, type SecretCount } from '../check/secrets.ts';

interface RestoreTask {
  /** The backup; it is only read. */
  readonly file: string;
  /** The data folder. */
  readonly folder: string;
  /** `catalogue.db` in it. */
  readonly target: AtomicFile;
  /** Whether there may be one that is to be replaced. */
  readonly isReplacing: boolean;
  /** Milliseconds since 1970: what was there is named by it. */
  readonly at: number;
}

export interface Restored extends CatalogueFacts {
  readonly bytes: number;
  /** Names in the folder of what was there. */
  readonly kept: readonly string[];
  readonly secrets: SecretCount;
}

const FORCED = { force: true } as const;
/** What SQLite keeps beside a database that is open, or was when its process ended. */
const BESIDE = ['-wal', '-shm', '-journal'];
const KEPT = /^catalogue\.db\.replaced-\d{8}T\d{6}Z$/;

/** Resolves once it is on the disk. @throws AppError `unavailable`, `storage_full` */
export async function restore(
  task: RestoreTask, onProgress: (state: CopyState) => void,
): Promise<Restored> {
  const { file, folder, target } = task;
  assertBackup(file);
  prepareFolder(folder);
  const old = lockOld(task);
  try {
    const { size: bytes } = statSync(file);
    assertRoom(folder, bytes);
    target.begin();
    await copy(file, target.tempPath, bytes, onProgress);
    assertSchema(target.tempPath, file);
    const facts = checkCopy(target.tempPath, file);
    const secrets = countFileSecrets(target.tempPath, facts.version, folder);
    finish(target.tempPath, facts);
    await yieldToEventLoop(); // whoever interrupted it meanwhile is heard
    chmodSync(folder, 0o700);
    // It is made again from the catalogue.
    for (const end of ['', ...BESIDE]) rmSync(join(folder, `search.db${end}`), FORCED);
    return { ...facts, bytes, secrets, kept: put(task, old !== undefined) };
  } catch (error) {
    target.discard();
    throw explainCopyError(error, target.path);
  } finally {
    old?.close();
  }
}

function assertBackup(file: string): void {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile() || findVersion(file) === undefined) {
    throw new AppError('unavailable', `There is no file ${file}.`);
  }
  for (const end of BESIDE) {
    if (!existsSync(file + end)) continue;
    const hint = 'is there: this is a database in use, or of a crash. Copy it with "backup" first.';
    throw new AppError('unavailable', `${file}${end} ${hint}`);
  }
}

/** Undefined where there is no catalogue. */
function lockOld({ folder, target: { path }, isReplacing }: RestoreTask): DatabaseSync | undefined {
  if (findAnyVersion(path) === undefined) return undefined;
  if (!isReplacing) {
    const hint = 'Name another folder with --data, or replace it with --replace,'
      + ' which keeps it under another name.';
    throw new AppError('unavailable', `There is a catalogue in ${folder} already. ${hint}`);
  }
  try {
    return openExclusive(path);
  } catch (error) {
    const code = resultCodeOf(error);
    if (code === 0 || !(error instanceof Error)) throw error;
    const why = code === SQLITE_BUSY
      ? `${folder} is in use. Stop the server, and other commands on it, first.`
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
 * Whoever gives a backup could have put a trigger into it that changes what this server writes, or
 * a view in the place of a table: so nothing is asked of it before it is known to have none.
 */
function assertSchema(part: string, name: string): void {
  const db = openReader(part);
  try {
    for (const { what } of checkSchema(db)) {
      throw new AppError('unavailable', `${name} is not as this server makes it: ${what}`);
    }
  } finally {
    db.close();
  }
}

/**
 * Ends all sessions: one that was ended since the backup would be valid again. Leaves one file in
 * WAL mode, without a log: otherwise the first open would write a rollback journal to change the
 * mode.
 */
function finish(part: string, { version }: CatalogueFacts): void {
  const db = openWriter(part);
  try {
    if (version >= PORTAL_VERSION) db.exec('DELETE FROM session');
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** The names of what was there. */
function put({ folder, target, at }: RestoreTask, hasOld: boolean): string[] {
  const name = `${CATALOGUE_FILE_NAME}.replaced-${formatFileTime(at)}`;
  if (hasOld) {
    removeSecondNames(folder, target.path);
    target.replace(join(folder, name));
    return [name];
  }
  // SQLite would take the log of one that is gone for that of the new one.
  const kept = BESIDE.filter((end) => existsSync(target.path + end));
  for (const end of kept) renameSync(target.path + end, join(folder, name + end));
  syncFolder(folder); // or a power cut would bring the log back beside the new one
  target.show();
  return kept.map((end) => name + end);
}

/** What a restore has left that was killed before it replaced anything. */
function removeSecondNames(folder: string, path: string): void {
  const { ino } = statSync(path);
  for (const entry of readdirSync(folder)) {
    const other = join(folder, entry);
    if (KEPT.test(entry) && statSync(other).ino === ino) rmSync(other);
  }
}
