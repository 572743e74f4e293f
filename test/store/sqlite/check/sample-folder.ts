/** A data folder with data of every kind, and copies of it to damage. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { generateTotpSecret } from '../../../../src/domain/access/totp.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';
import { countTo, DAY_MS, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { join as joinPortal } from '../../contract/portal-fixture.ts';
import { makeNewWebhook } from '../../contract/webhooks.ts';
import { FILE_NAME } from '../engine/read-file.ts';
import { ownerOf } from '../../../support/owner.ts';

const SOLD = {
  source: 'till', reason: 'sold', isAtomic: false, completion: undefined,
} as const;

const IMPORTED = {
  id: undefined, record: { kind: 'stock' }, counts: {}, isLast: true,
} as const;

/** A folder with the sample. */
export async function makeSampleFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = join(makeFolder(t), 'data');
  const clock = makeClock();
  const store = await openSqliteStore({ folder, clock });
  await fillSample(store, clock).finally(() => store.close());
  return folder;
}

/**
 * Two sellers: the first with an account and an endpoint, and with products that were changed,
 * moved and deleted over some days, of which the first are pruned.
 */
export async function fillSample(
  store: Store, clock: ReturnType<typeof makeClock>,
): Promise<void> {
  const { sellerId } = await joinPortal(store);
  const [key] = await store.listKeys(sellerId, { after: undefined, limit: 1 });
  if (!key) throw new Error('Registration creates a key.');
  const actor = { sellerId, keyId: key.id };
  const totp = { secret: generateTotpSecret(), step: 1, recoveryHashes: [] };
  await store.enableTotp(ownerOf(sellerId), totp, { address: '192.0.2.7' });
  await store.importProducts(actor, countTo(6).map((n) => makeProduct(n)), 'create');
  const start = clock.now;
  for (const day of countTo(6)) {
    clock.now += DAY_MS / 2;
    const changes = countTo(4).map((n) => ({ sku: skuOf(n + day % 2), adjust: n - 2 }));
    await store.syncStock({ ...actor, import: IMPORTED }, { ...SOLD, changes }, false);
    const name = `Mug of day ${day}`;
    await store.patchProduct(actor, { sku: skuOf(1 + day % 4) }, { name }, {});
  }
  await store.createWebhook(actor, makeNewWebhook());
  await store.deleteProduct(actor, { sku: skuOf(6) }, {});
  await store.pruneHistory(start + 2 * DAY_MS);
  const other = await makeActor(store, 'JPY');
  await store.createProduct(other, makeNewProduct({ price: 1200 }, 'JPY'));
  await store.readTotals(other.sellerId, 1); // creates the search database
  await store.readTotals(sellerId, 25);
}

export function copyFolder(t: Pick<TestContext, 'after'>, folder: string): string {
  const copy = join(makeFolder(t), 'data');
  mkdirSync(copy, { mode: 0o700 });
  cpSync(folder, copy, { recursive: true, mode: 0 });
  return copy;
}

/** Changes the database as no server would, without its CHECK constraints. */
export function damage(folder: string, sql: string): void {
  const db = new DatabaseSync(join(folder, FILE_NAME), {
    enableForeignKeyConstraints: false, defensive: false,
  });
  try {
    db.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`);
  } finally {
    db.close();
  }
}

function makeProduct(n: number) {
  return makeNewProduct({ sku: skuOf(n), stock: 50 });
}

function skuOf(n: number): Sku {
  return `MUG-${n}` as Sku; // a legal one
}
