/** Mounts a small file system, for tests of a full disk. Needs root. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeFolder } from './folder.ts';

/** Mounts one of a size such as `1m`. Skips the test and returns undefined without root. */
export function mountSmallDisk(t: TestContext, size: string): string | undefined {
  let mounted: string | undefined;
  t.after(() => { // registered first, so it runs before the folder is removed
    if (mounted !== undefined) spawnSync('umount', ['-l', mounted]);
  });
  const folder = makeFolder(t);
  const args = ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder];
  if (spawnSync('mount', args).status === 0) mounted = folder;
  else t.skip('only root may mount a small disk');
  return mounted;
}

/** Uses up all remaining space. */
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

/** Fails while a process has a file there open for writing. */
export function makeReadOnly(folder: string): void {
  const args = ['-o', 'remount,ro', folder];
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
