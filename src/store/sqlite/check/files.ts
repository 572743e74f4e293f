/** Checks a data folder's files: modes, owners, foreign files, and free disk space. */
import { lstatSync, readdirSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  DOCTOR_FREE_LIMIT_BYTES, DOCTOR_LEFTOVER_AGE_MS, DOCTOR_WAL_LIMIT_BYTES,
} from '../limits.ts';
import { isBeingWritten } from '../files/atomic-file.ts';
import {
  ALLOWED_FOREIGN_FILES, isLasting, isUnfinished, UPLOADS,
} from '../files/data-folder-files.ts';
import { fault, type Findings, warning } from '../../sql/check/finding.ts';

const KEY_BYTES = 32;

export function* checkFiles(folder: string, now: number): Findings {
  const { uid, mode } = statSync(folder);
  yield* checkMode(folder, mode, 0o700);
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found || ALLOWED_FOREIGN_FILES.test(name)) continue; // already gone, or ignored
    if (name === UPLOADS) yield* checkUploads(path, found, now);
    else if (isUnfinished(name)) yield* checkLeftover(path, found, now);
    else if (isLasting(name)) yield* checkOwn(path, name, found, uid);
    else if (!found.isSocket()) { // the server's socket has a name chosen by the operator
      yield warning(`${path} is not a file of this server.`,
        'Keep nothing else in the data folder: move it away.');
    }
  }
}

function* checkOwn(path: string, name: string, found: Stats, uid: number): Findings {
  if (found.isSymbolicLink()) {
    yield fault(`${path} is a symbolic link.`, 'Replace it with the file itself: SQLite keeps '
      + 'the write-ahead log beside the link, and another path to the file would miss it.');
    return;
  }
  if (!found.isFile()) {
    yield fault(`${path} is not a file.`, 'Move it away; the server creates its own.');
    return;
  }
  yield* checkMode(path, found.mode, 0o600);
  if (found.uid !== uid) {
    yield fault(`${path} belongs to user ${found.uid}, but the folder to user ${uid}.`,
      `Change its owner to the user who runs the server: chown ${uid} ${path}`);
  }
  if (name === 'server.key' && found.size !== KEY_BYTES) {
    yield fault(`${path} is not a key: it has ${found.size} bytes, not ${KEY_BYTES}.`,
      'Restore the one that belongs to the database.');
  }
  if (name.endsWith('-wal') && found.size > DOCTOR_WAL_LIMIT_BYTES) {
    const size = Math.round(found.size / 2 ** 20);
    yield warning(`${path} has grown to ${size} MiB.`, 'A long read, such as an export or a backup,'
      + ' prevents truncation: let it finish. If the file stays this large, restart the server.');
  }
}

function* checkUploads(folder: string, found: Stats, now: number): Findings {
  if (!found.isDirectory()) {
    yield fault(`${folder} is not a folder.`, 'Move it away; the server creates its own.');
    return;
  }
  yield* checkMode(folder, found.mode, 0o700);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const file = lstatSync(path, { throwIfNoEntry: false });
    if (file) yield* checkLeftover(path, file, now);
  }
}

function* checkLeftover(path: string, found: Stats, now: number): Findings {
  if (now - found.mtimeMs < DOCTOR_LEFTOVER_AGE_MS || isBeingWritten(path)) return;
  yield warning(`${path} was left over when a process ended.`, 'Delete it.');
}

/** Group and others must have no permission. */
function* checkMode(path: string, mode: number, expected: number): Findings {
  if ((mode & 0o777) === expected) return;
  const [is, should] = [mode & 0o777, expected].map((bits) => bits.toString(8).padStart(3, '0'));
  yield fault(`${path} has the mode ${is}, not ${should}.`,
    `Close it to other users: chmod ${should} ${path}`);
}

/** Whether the disk has room for another copy of the database. */
export function* checkDisk(file: string): Findings {
  const { bavail, bsize } = statfsSync(dirname(file));
  const free = bavail * bsize;
  const size = statSync(file).size;
  if (free >= Math.max(size, DOCTOR_FREE_LIMIT_BYTES)) return;
  const [left, needed] = [free, size].map((bytes) => `${Math.floor(bytes / 2 ** 20)} MiB`);
  yield warning(`The disk has ${left} free, and the database takes ${needed}.`,
    'Free some space: a backup or an update may need as much as the database itself.');
}
