/** A file system that is small, for what happens when it is full: only root may make one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeFolder } from './folder.ts';

/** Its folder, such as of `1m`; undefined where the test is skipped, for none can be made. */
export function mountSmallDisk(t: TestContext, size: string): string | undefined {
  let mounted: string | undefined;
  t.after(() => { // before the folder is removed, which is done in the order of these calls
    if (mounted !== undefined) spawnSync('umount', ['-l', mounted]);
  });
  const folder = makeFolder(t);
  const how = ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder];
  if (spawnSync('mount', how).status === 0) mounted = folder;
  else t.skip('only root may mount a small disk');
  return mounted;
}

/** Takes all the room that is left on it. */
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

/** Gives that room back. */
export function freeDisk(folder: string): void {
  rmSync(join(folder, 'rest'));
}

/** Not while a process has a file on it open for writing. */
export function makeReadOnly(folder: string): void {
  const how = ['-o', 'remount,ro', folder];
  const { status, stderr } = spawnSync('mount', how, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
