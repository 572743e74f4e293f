/**
 * Checks what a power cut has left, with the code that an operator would run: `doctor`, and the
 * store that a server opens, in either order. The catalogue has to be in a state that was once
 * committed, and every claim from before the cut has to hold. Doctor may report nothing, not even a
 * warning: an operator would follow its advice.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { prepareCatalogueFile } from '../../../src/store/sqlite/engine/database-file.ts';
import { openWriter } from '../../../src/store/sqlite/engine/connection.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { FILE_NAME } from '../../store/sqlite/engine/read-file.ts';
import { listFileFindings, listFindings } from '../../support/health.ts';
import type { Receipt } from './claim.ts';
import { type Commits, hashRows } from './commits.ts';

export interface Expected {
  readonly commits: Commits;
  /** The claims from before the cut. */
  readonly receipts: readonly Receipt[];
  /** Whether the catalogue may be missing or empty, as long as nothing was claimed. */
  readonly mayBeNew: boolean;
}

/** Doctor notes that a copy was checked without server.key, which is not beside it. */
const NOTE = /^\S+ note: /;
/** Not a loss: the next search rebuilds the search database, as doctor reports. */
const INCOMPLETE = 'search warning: The search database is incomplete, or of another version of '
  + 'the server.';

/** In which order, and how thoroughly; chosen at random for each state. */
export interface Manner {
  readonly isDoctorFirst: boolean;
  /** Whether the whole store is opened, with its threads; else what its threads open. */
  readonly isServed: boolean;
}

/** Checks a data folder, and returns a sentence for each problem. */
export async function checkDataFolder(
  folder: string, expected: Expected, { isDoctorFirst, isServed }: Manner,
): Promise<string[]> {
  const file = join(folder, FILE_NAME);
  const { commits } = expected;
  const claims = expected.receipts.filter(({ sql }) => sql !== undefined);
  const mayBeNew = expected.mayBeNew && claims.length === 0;
  if (!existsSync(file)) {
    if (!mayBeNew) return [`The catalogue is gone. Claim: ${claims[0]?.what ?? 'none'}.`];
    if (hasLog(file)) return checkLostCatalogue(folder);
  } else if (isDoctorFirst) {
    const found = examine(folder);
    if (found.length > 0) return found.map((text) => `doctor, before a start: ${text}`);
  }
  try {
    await openOnce(folder, isServed);
  } catch (error) {
    return [`The store does not open: ${String(error)}`];
  }
  const found = examine(folder).map((text) => `doctor, after a start: ${text}`);
  const { hash, isNew, fault } = readState(file);
  if (fault !== undefined) return [...found, fault];
  const held = commits.get(hash);
  if (!held && !(mayBeNew && isNew)) {
    return [...found, 'The catalogue is in a state that was never committed.'];
  }
  const lost = claims.filter((claim) => !held?.has(claim));
  return [...found, ...lost.map(({ what }) => `Lost: ${what}.`)];
}

function hasLog(file: string): boolean {
  return ['-wal', '-journal'].some((end) => existsSync(file + end));
}

/** Checks that no new catalogue is created beside the log of one lost before the run. */
async function checkLostCatalogue(folder: string): Promise<string[]> {
  try {
    await openOnce(folder, false);
  } catch (error) {
    return String(error).includes('exists, but no catalogue') ? [] : [String(error)];
  }
  return ['A catalogue was created beside the WAL or journal of another one.'];
}

function examine(folder: string): string[] {
  return listFindings(folder).filter((text) => text !== INCOMPLETE);
}

/** Opens it as a server does; a search reads the projection, or rebuilds it. */
async function openOnce(folder: string, isServed: boolean): Promise<void> {
  if (!isServed) {
    openWriter(prepareCatalogueFile(folder).file).close();
    return;
  }
  const store = await openSqliteStore({ folder });
  try {
    const sellers = await store.listSellers({ after: undefined, limit: 2 });
    for (const { id, position } of sellers) {
      const { products } = await store.readTotals(id, position);
      const page = await store.listProducts(id, { after: undefined, limit: 1_000 });
      assert.equal(products, page.products.length, 'a search finds wrong products');
    }
  } finally {
    await store.close();
  }
}

/** A hash of all rows of a catalogue; undefined if there is none. */
export function readHash(file: string): string | undefined {
  return existsSync(file) ? readState(file).hash : undefined;
}

interface State {
  readonly hash: string;
  readonly isNew: boolean;
  readonly fault?: string;
}

function readState(file: string): State {
  const db = new DatabaseSync(file);
  try {
    const isNew = db.prepare('SELECT 1 FROM seller').get() === undefined;
    return { hash: hashRows(db), isNew };
  } catch (error) {
    return { hash: '', isNew: false, fault: `The catalogue cannot be read: ${String(error)}` };
  } finally {
    db.close();
  }
}

/** Checks a copy of the catalogue, such as a backup or what a restore has kept. */
export function checkCopy(file: string, commits: Commits): string[] {
  const found = listFileFindings(file).filter((text) => !NOTE.test(text));
  if (found.length > 0) return found.map((text) => `doctor, of ${file}: ${text}`);
  const isKnown = commits.has(readState(file).hash);
  return isKnown ? [] : [`${file} is in a state of the catalogue that was never committed.`];
}
