/**
 * Opens a data folder once in this process, however many shops use it: they share its store, which
 * closes with the last of them. A second store of the same files would be unsafe, because closing
 * any descriptor of a file drops the process's POSIX locks on it, and would cost another thread.
 *
 * The open folders are listed in a global variable, the one exception to "no module-level state":
 * hot reload loads this module again, and each copy must find what the others have opened. A worker
 * thread has global variables of its own, so it must leave the folder to the main thread.
 */
import { join, resolve } from 'node:path';
import { AppError } from '../domain/error.ts';
import { VERSION } from '../runtime/version.ts';
import { openStore, type StoreLocation } from './open-store.ts';
import { CATALOGUE_FILE_NAME, prepareFolder } from './sqlite/engine/database-file.ts';
import { findFileId } from './sqlite/files/open-files.ts';
import type { Store } from './store.ts';

/** Every version has the first member; only the same version understands the others. */
interface OpenFolder {
  readonly version: string;
  readonly clock: () => number;
  readonly opening: Promise<Store>;
  /** Identifies the catalogue's file, which is open; undefined until then. */
  fileId?: string | undefined;
  /** How many have it open. */
  uses: number;
  /** Settles when the last of them has closed it. */
  closing?: Promise<void>;
}

const KEY = Symbol.for('seller-product-api.open-folders');

/**
 * As `openStore`. Close the store as often as it was opened. A database needs no list: any number
 * of stores may be open on it, in one process or in many.
 * @throws AppError as `openStore`; `unavailable` if the folder is open with another clock, or by
 *   another version of this package
 */
export async function openSharedStore(
  location: StoreLocation, clock: () => number = Date.now,
): Promise<Store> {
  if ('database' in location) return openStore(location, { clock });
  const folder = resolve(location.folder); // the process may change its working directory
  for (;;) {
    prepareFolder(folder); // creates it if it is missing
    const id = findFileId(folder) ?? '';
    const entry = findEntry(id, folder) ?? openFirst(id, folder, clock);
    if (!entry.closing) {
      if (entry.clock === clock) return share(entry);
      throw alreadyOpen(folder, 'with another `clock`. Pass the same function, or first close the '
        + 'shops and stores that use it');
    }
    await entry.closing.catch(() => {}); // the call that closes it gets the error
  }
}

/** @throws AppError `unavailable` for another version */
function findEntry(id: string, folder: string): OpenFolder | undefined {
  const entry = listOpenFolders().get(id);
  if (entry && entry.version !== VERSION) {
    throw alreadyOpen(folder, `by version ${entry.version} of seller-product-api, and this is `
      + `version ${VERSION}. Close the shops and stores that use it, or restart the process`);
  }
  // The folder may have been removed while it was open, and another one has its inode.
  const isSame = entry?.fileId === undefined || entry.fileId === findCatalogueId(folder);
  return isSame ? entry : undefined;
}

function alreadyOpen(folder: string, difference: string): AppError {
  return new AppError('unavailable', `This process has ${folder} open ${difference}.`);
}

function openFirst(id: string, folder: string, clock: () => number): OpenFolder {
  const opening = openStore({ folder }, { clock }).then((store) => ({
    ...store, close: () => store.close().finally(remove),
  }));
  const entry: OpenFolder = { version: VERSION, clock, opening, uses: 0 };
  const folders = listOpenFolders().set(id, entry);
  function remove(): void {
    if (folders.get(id) === entry) folders.delete(id); // else another folder has this id by now
  }
  opening.then(() => { entry.fileId = findCatalogueId(folder); }, remove)
    .catch(() => {}); // without it, a folder that was removed is not recognized
  return entry;
}

async function share(entry: OpenFolder): Promise<Store> {
  entry.uses += 1;
  const store = await entry.opening;
  let isClosed = false;
  return {
    ...store,
    async close() {
      if (!isClosed) entry.uses -= 1;
      isClosed = true;
      if (entry.uses === 0) await (entry.closing ??= store.close());
    },
  };
}

function findCatalogueId(folder: string): string | undefined {
  return findFileId(join(folder, CATALOGUE_FILE_NAME));
}

/** By device and inode, so that every path to a folder leads to its entry. */
function listOpenFolders(): Map<string, OpenFolder> {
  // The cast: only this module uses the key.
  return (globalThis as { [KEY]?: Map<string, OpenFolder> })[KEY] ??= new Map();
}
