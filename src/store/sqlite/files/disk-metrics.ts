/** Asks the system how much there is on the disk, and how much is left. */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isSystemError } from '../../../runtime/system-error.ts';
import type { StoreMetrics } from '../../maintenance-store.ts';

export async function readDiskMetrics(
  file: string,
): Promise<Pick<StoreMetrics, 'walBytes' | 'freeBytes'>> {
  const [walBytes, disk] = await Promise.all([readSize(`${file}-wal`), statfs(dirname(file))]);
  return { walBytes, freeBytes: disk.bavail * disk.bsize };
}

async function readSize(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return 0; // it is made with the first change
    throw error;
  }
}
