/** A file system that is small, for what happens when it is full: only root may make one. */
import { spawnSync } from 'node:child_process';
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
