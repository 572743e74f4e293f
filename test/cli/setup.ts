/** Creates sellers, keys and backups with the command line, and reads a data folder. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { run } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';

/** Creates a seller, and returns its id. */
export async function createSeller(folder: string, name = 'A shop'): Promise<string> {
  const { status, out, notes } = await run(['seller', 'create', name, '--data', folder, '--json']);
  assert.equal(status, 0, notes);
  return JSON.parse(out).id;
}

export interface CreatedKey {
  readonly id: string;
  /** The secret key. */
  readonly key: string;
}

/** Creates a key of the only seller, or of the one that `flags` name. */
export async function createKey(
  folder: string, flags: readonly string[] = [],
): Promise<CreatedKey> {
  const args = ['key', 'create', '--name', 'test', '--data', folder, '--json', ...flags];
  const { status, out, notes } = await run(args);
  assert.equal(status, 0, notes);
  return JSON.parse(out);
}

/** Creates a data folder with one seller, and a backup of it. */
export async function makeBackup(t: TestContext): Promise<{ folder: string; file: string }> {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const file = join(makeFolder(t), 'copy.db');
  const { status, notes } = await run(['backup', file, '--data', folder]);
  assert.equal(status, 0, notes);
  return { folder, file };
}

/** Opens the store in a data folder, and reads from it. */
export async function look<Found>(
  folder: string, at: (store: Store) => Promise<Found>,
): Promise<Found> {
  const store = await openSqliteStore({ folder });
  try {
    return await at(store);
  } finally {
    await store.close();
  }
}
