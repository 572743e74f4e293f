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
import { explainOpening } from './sqlite/engine/disk-failure.ts';
import { findFileId } from './sqlite/files/open-files.ts';
import type { Store } from './store.ts';

/** Every version has this member; the others only mean something to the same version. */
interface Versioned {
  readonly version: string;
}

interface OpenFolder extends Versioned {
  readonly clock: () => number;
  readonly opening: Promise<Store>;
  /** Identifies the catalogue's file, which is open; undefined until then. */
  fileId?: string | undefined;
  /** How many have it open. */
  uses: number;
  /** Settles when the last of them has closed it. */
  closing?: Promise<void>;
}

/** By device and inode, so that every path to a folder leads to its entry. */
type OpenFolders = Map<string, Versioned>;

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
    const id = prepare(folder);
    const entry = findEntry(id, folder);
    if (!entry) return openFirst(id, folder, clock);
    if (!entry.closing) return share(id, assertSameClock(entry, folder, clock));
    await entry.closing.catch(() => {}); // the one who closes it gets the error
  }
}

/** Creates the folder if it is missing. Returns what identifies it. @throws AppError */
function prepare(folder: string): string {
  try {
    prepareFolder(folder);
    return findFileId(folder) ?? '';
  } catch (error) {
    throw explainOpening(error, folder);
  }
}

/** @throws AppError `unavailable` for another version */
function findEntry(id: string, folder: string): OpenFolder | undefined {
  const versioned = listOpenFolders().get(id);
  if (!versioned) return undefined;
  if (versioned.version !== VERSION) {
    throw alreadyOpen(folder, `by version ${versioned.version} of seller-product-api, and this is `
      + `version ${VERSION}. Close what has it open, or restart the process`);
  }
  const entry = versioned as OpenFolder; // the same version has added it
  // The folder may have been removed while it was open, and another one has its inode.
  const isSame = entry.fileId === undefined || entry.fileId === findCatalogueId(folder);
  return isSame ? entry : undefined;
}

function assertSameClock(entry: OpenFolder, folder: string, clock: () => number): OpenFolder {
  if (entry.clock === clock) return entry;
  throw alreadyOpen(folder, 'with another `clock`. Pass the same function, or close what has it '
    + 'open first');
}

function alreadyOpen(folder: string, difference: string): AppError {
  return new AppError('unavailable', `This process has ${folder} open ${difference}.`);
}

function openFirst(id: string, folder: string, clock: () => number): Promise<Store> {
  const opening = openStore({ folder }, { clock });
  const entry: OpenFolder = { version: VERSION, clock, opening, uses: 0 };
  listOpenFolders().set(id, entry);
  opening.then(() => { entry.fileId = findCatalogueId(folder); }, () => remove(id, entry))
    .catch(() => {}); // `share` throws what `opening` does
  return share(id, entry);
}

async function share(id: string, entry: OpenFolder): Promise<Store> {
  entry.uses += 1;
  const store = await entry.opening;
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    entry.closing = store.close().finally(() => remove(id, entry));
    await entry.closing;
  }

  return { ...store, close: () => closed ??= close() };
}

/** Unless another folder has this id by now. */
function remove(id: string, entry: OpenFolder): void {
  if (listOpenFolders().get(id) === entry) listOpenFolders().delete(id);
}

function findCatalogueId(folder: string): string | undefined {
  return findFileId(join(folder, CATALOGUE_FILE_NAME));
}

function listOpenFolders(): OpenFolders {
  // The cast: only this module uses the key.
  const globals = globalThis as { [KEY]?: OpenFolders };
  return globals[KEY] ??= new Map();
}
