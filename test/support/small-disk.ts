/** Mounts small file systems in memory (tmpfs). Needs Linux and the capability CAP_SYS_ADMIN. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeFolder } from './folder.ts';

/** Mounts one of a size such as `1m`. Skips the test and returns undefined if it cannot. */
export function mountSmallDisk(t: TestContext, size: string): string | undefined {
  const { folder, problem } = mountTmpfs(t, size);
  if (problem === undefined) return folder;
  t.skip(`needs to mount a tmpfs: run it as root, in a container with SYS_ADMIN (${problem})`);
  return undefined;
}

/** A folder in memory, or on the disk if it cannot be mounted. */
export function makeFastFolder(t: TestContext, size: string): string {
  return mountTmpfs(t, size).folder;
}

/** Without a problem, the folder is the mounted file system. */
function mountTmpfs(
  t: TestContext, size: string,
): { readonly folder: string; readonly problem: string | undefined } {
  let isMounted = false;
  t.after(() => { // registered first, so it runs before the folder is removed
    if (isMounted) spawnSync('umount', ['-l', folder]);
  });
  const folder = makeFolder(t);
  const args = ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder];
  const { status, error, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  isMounted = status === 0;
  return { folder, problem: isMounted ? undefined : error?.message ?? stderr.split('\n')[0] };
}

/** Uses all remaining space. */
export function fillDisk(folder: string): void {
  const page = Buffer.alloc(4096);
  for (;;) {
    try {
      appendFileSync(join(folder, 'rest'), page);
    } catch {
      return; // it is full
    }
  }
}

/** Frees that space. */
export function freeDisk(folder: string): void {
  rmSync(join(folder, 'rest'));
}

/** Remounts it read-only. Fails while a process has a file there open for writing. */
export function makeReadOnly(folder: string): void {
  const args = ['-o', 'remount,ro', folder];
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
