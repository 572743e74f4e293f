/**
 * The names of an open catalogue. A process that has lost them, because its data folder was moved,
 * removed, replaced or unmounted, could still write into its open files, but nobody would find
 * these writes again. So a commit is acknowledged, and a file of the folder opened, only after a
 * check that the names lead to the open files. SQLite keeps them open, so no other file can get the
 * inode of one of them; `server.key`, which nobody has open, must have the same bytes.
 */
import { hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../../domain/error.ts';
import { KEY_FILE_NAME } from './data-folder-files.ts';

/** A name, and the file that it led to. It crosses threads. */
export interface OpenFile {
  readonly path: string;
  readonly id: string | undefined;
  /** The digest of a file that nobody writes: a copy of it is as good. */
  readonly digest?: string;
  /** Every commit writes it. */
  readonly isLog?: boolean;
}

/** The public detail of the error; its cause, with the path, is for the operator. */
export const LOST = 'The catalogue of this server was moved, removed or replaced on its disk. '
  + 'Nothing can be read or written until the operator has put it back and restarted the server.';
const REMEDY = 'Nothing is read or written any more. Stop the server, put the original files back '
  + 'or restore a backup, and start it again.';

/** Call it once a connection has opened the database, and its write-ahead log with it. */
export function openFiles(folder: string, file: string): readonly OpenFile[] {
  const target = realpathSync(file); // SQLite keeps the log beside the target of a link
  const key = join(folder, KEY_FILE_NAME);
  return [
    { path: file, id: findFileId(file) },
    ...[`${target}-wal`, `${target}-shm`].map((path) =>
      ({ path, id: findFileId(path), isLog: true })),
    { path: key, id: findFileId(key, true), digest: digestFile(key) },
  ];
}

function digestFile(path: string): string {
  return hash('sha256', readFileSync(path), 'hex');
}

/**
 * Identifies a file as long as it exists or is open, or `asWritten`, also what was written to it;
 * undefined if there is none at this path.
 */
export function findFileId(path: string, asWritten = false): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}${asWritten ? `:${stats.mtimeNs}` : ''}`;
}

/**
 * The check for each commit. It looks up the write-ahead log only after a change in its folder:
 * since Linux 6.13, the first write after such a look-up also updates the log's times on the disk.
 */
export function prepareProof(files: readonly OpenFile[]): (isQuick: boolean) => string | undefined {
  const others = files.filter(({ isLog }) => !isLog);
  const folder = dirname(files.find(({ isLog }) => isLog)?.path ?? '');
  let provenId: string | undefined;
  return (isQuick) => {
    const id = findFileId(folder, true); // before the proof
    const loss = findLoss(isQuick && id === provenId ? others : files);
    provenId = id;
    return loss;
  };
}

/**
 * Opens a file of the folder by its name.
 * @throws AppError `unavailable` if the folder is not that of the open files, before or after
 */
export function openBeside<File extends Disposable | undefined>(
  files: readonly OpenFile[], open: () => File,
): File {
  assertStillOpen(files);
  using opened = new DisposableStack();
  const file = opened.use(open());
  assertStillOpen(files);
  opened.move();
  return file;
}

/** @throws AppError `unavailable`, whose cause says what was lost, and what to do */
function assertStillOpen(files: readonly OpenFile[]): void {
  const loss = findLoss(files);
  if (loss !== undefined) throw catalogueLost(loss);
}

/** Says which name is lost, for the operator; undefined if there is none. */
function findLoss(files: readonly OpenFile[]): string | undefined {
  for (const { path, id, digest } of files) {
    try {
      const found = findFileId(path, digest !== undefined);
      if (found === undefined) return `${path} was moved or removed. ${REMEDY}`;
      if (found === id || (digest !== undefined && digestFile(path) === digest)) continue;
      return `${path} was replaced: it does not lead to the open file. ${REMEDY}`;
    } catch (error) { // such as of a file system that does not respond
      const reason = error instanceof Error ? error.message : String(error);
      return `${path} cannot be looked up: ${reason}. ${REMEDY}`;
    }
  }
  return undefined;
}

export function catalogueLost(loss: string): AppError {
  return new AppError('unavailable', LOST, { cause: new Error(loss) });
}
