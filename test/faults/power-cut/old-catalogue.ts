/** Catalogues to restore, to replace, or to find in the way: with a WAL, and with a hot journal. */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { countTo, makeActor, makeNewProduct } from '../../store/contract/fixture.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { FILE_NAME } from '../../store/sqlite/engine/read-file.ts';
import { runProcess } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

const PRODUCTS = 20;

export interface OldCatalogue {
  /** A backup from when half of the products existed. */
  readonly backup: string;
  /** A data folder as a crash would leave it, with changes that are only in the WAL. */
  readonly crashed: string;
}

export async function makeOldCatalogue(t: TestContext): Promise<OldCatalogue> {
  const folder = join(makeFolder(t), 'data');
  const [backup, crashed] = [join(makeFolder(t), 'backup.db'), join(makeFolder(t), 'crashed')];
  const store = await openStore(t, { folder });
  const write = { ...await makeActor(store), idempotency: undefined };
  for (const _ of countTo(PRODUCTS)) await store.createProduct(write, makeNewProduct());
  const { status, notes } = await runProcess(['backup', backup, '--data', folder]);
  assert.equal(status, 0, notes);
  for (const _ of countTo(PRODUCTS)) await store.createProduct(write, makeNewProduct());
  cpSync(folder, crashed, { recursive: true });
  await store.close();
  assert.ok(existsSync(join(crashed, `${FILE_NAME}-wal`)));
  return { backup, crashed };
}

/** Leaves the journal of a transaction that a crash has interrupted in `folder`. */
export function leaveHotJournal({ crashed }: OldCatalogue, folder: string): void {
  const db = new DatabaseSync(join(crashed, FILE_NAME));
  // With so few pages in memory, SQLite syncs the journal before the transaction ends.
  db.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN');
  db.exec("UPDATE change SET sku = sku || 'x'; UPDATE product SET sku = sku || 'x'");
  mkdirSync(folder, { mode: 0o700 });
  const name = `${FILE_NAME}-journal`;
  copyFileSync(join(crashed, name), join(folder, name));
  db.exec('ROLLBACK');
  db.close();
  const magic = readFileSync(join(folder, name)).readUInt32BE(0);
  assert.equal(magic, 0xd9d505f9, 'the journal is not hot');
}
