/**
 * Runs first in every thread of the single executable (`make executable`). Node mounts the files
 * inside an executable only in the main thread, so a worker thread mounts them itself, at the same
 * path: that of the first virtual file system of a thread. The build passes this file to Node as a
 * `data:` URL, since it runs before there are files; so it imports nothing but Node.
 */
import { dirname } from 'node:path';
import { getAsset, getAssetKeys } from 'node:sea';
import { create, type VirtualFileSystem } from 'node:vfs';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) {
  // The cast: Node has `mount` since 26.4, but its types do not.
  const files = create({ emitExperimentalWarning: false }) as VirtualFileSystem & { mount(): void };
  for (const key of getAssetKeys()) {
    const path = `/${key}`;
    files.mkdirSync(dirname(path), { recursive: true });
    files.writeFileSync(path, Buffer.from(getAsset(key)));
  }
  files.mount();
}
