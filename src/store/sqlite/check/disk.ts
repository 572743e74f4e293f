/** Whether the disk has room to go on for a while. */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DOCTOR_FREE_LIMIT_BYTES } from '../limits.ts';
import { type Finding, warning } from './finding.ts';

export function* checkDisk(file: string): Generator<Finding, void, void> {
  const { bavail, bsize } = statfsSync(dirname(file));
  const free = bavail * bsize;
  const size = statSync(file).size;
  if (free >= Math.max(size, DOCTOR_FREE_LIMIT_BYTES)) return;
  const [left, needed] = [free, size].map((bytes) => `${Math.floor(bytes / 2 ** 20)} MiB`);
  yield warning(`The disk has ${left} left, and the database has ${needed}.`,
    'Make room: a backup, or an update, may need as much as the database itself.');
}
