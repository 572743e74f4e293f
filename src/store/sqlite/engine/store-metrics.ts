/** Sizes on disk. */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isSystemError } from '../../../runtime/system-error.ts';
import type { DiskMetrics } from '../../maintenance-store.ts';

export async function readDiskMetrics(file: string): Promise<DiskMetrics> {
  const [walBytes, disk] = await Promise.all([readSize(`${file}-wal`), statfs(dirname(file))]);
  return { walBytes, freeBytes: disk.bavail * disk.bsize };
}

async function readSize(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return 0; // created with the first mutation
    throw error;
  }
}
