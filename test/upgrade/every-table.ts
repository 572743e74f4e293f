/** Fills what the recorded requests leave empty, and finds what a recorded catalogue lacks. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { parseNewSeller } from '../../src/domain/access/seller.ts';
import type { Sku } from '../../src/domain/catalogue/product-fields.ts';
import { type ImportId, PROGRAM_KEY_ID, type SellerId } from '../../src/domain/id.ts';
import { migrate } from '../../src/store/sqlite/schema/migrate.ts';
import { FIRST_VERSION } from '../../src/store/sql/schema-version.ts';
import type { Store } from '../../src/store/store.ts';
import { openTemporary } from '../../src/store/temporary/temporary-database.ts';
import { ownerOf } from '../support/owner.ts';
import { makeNewKey, makeNewProduct, makeSecret } from '../store/contract/fixture.ts';
import { makeInvitation } from '../store/contract/portal-fixture.ts';
import { FAILED, makeMessage } from '../store/contract/webhook-deliveries.ts';
import { makeNewWebhook } from '../store/contract/webhooks.ts';

const BY = { actorName: 'anna', address: '192.0.2.7' };

/** Adds to a seller with an account. */
export async function fillEveryTable(store: Store, sellerId: SellerId, at: number): Promise<void> {
  const owner = ownerOf(sellerId);
  const expiresAt = at + 10 * 365 * 24 * 60 * 60 * 1000;
  for (const [n, name] of ['Till', undefined].entries()) {
    const invitation = makeInvitation({
      sellerId: n === 0 ? sellerId : undefined, name, role: 'viewer', expiresAt,
    });
    await store.createInvitation(hash('sha256', `invitation ${n}`), invitation, BY);
    await store.addPasskey(owner, {
      name: `Key ${n}`, rpId: 'shop.example', signCount: 0, transports: ['internal'],
      credentialId: Buffer.alloc(32, n).toString('base64url'),
      publicKey: Buffer.alloc(77, n).toString('base64url'),
    }, BY);
  }
  const [passkey] = await store.listPasskeys(owner);
  assert.ok(passkey && await store.notePasskeyUse(owner, passkey));
  await store.saveFilter(sellerId, { list: 'products', name: 'Mugs', query: 'q=mug' });
  await store.keepColumnMapping(sellerId, hash('sha256', 'columns'), { name: 'Titel' });
  await store.createWebhook({ sellerId, keyId: PROGRAM_KEY_ID }, makeNewWebhook());
  await importHalf(store, sellerId);
}

/** An embedding program's import, of which one part was written. */
async function importHalf(store: Store, sellerId: SellerId): Promise<void> {
  const part = {
    id: undefined as ImportId | undefined, counts: {}, isLast: false,
    record: { kind: 'products', mode: 'upsert' } as const,
  };
  const row = makeNewProduct({ sku: 'HALF-1' as Sku }); // a legal one
  await store.importProducts(
    { sellerId, keyId: PROGRAM_KEY_ID, actorName: 'nightly', import: part }, [row], 'upsert',
  );
}

/** Its history can be pruned, and with it what a webhook sent. */
export async function createDisabledSeller(store: Store): Promise<void> {
  const { id: sellerId } = await store.createSeller(parseNewSeller('Cedar', 'JPY'));
  const { id: keyId } = await store.createKey(sellerId, makeSecret(), makeNewKey());
  const actor = { sellerId, keyId };
  const { webhook } = await store.createWebhook(actor, makeNewWebhook());
  await store.createProduct(actor, makeNewProduct());
  await store.createProduct(actor, makeNewProduct());
  await store.noteWebhookAttempt(webhook, makeMessage('msg_1', 1, 1), FAILED);
  await store.noteKeyUse(actor, '192.0.2.7');
  await store.revokeKey({ sellerId, keyId });
  await store.setSellerDisabled(sellerId, true);
}

/**
 * Of the first version, with which the requests were recorded: tables without rows, and columns
 * without a value or without NULL where the schema allows it.
 */
export function findUnused(db: DatabaseSync): string[] {
  using current = openTemporary();
  migrate(current, { to: FIRST_VERSION });
  const columns = current.prepare(`
    SELECT t.name AS "table", c.name AS "column", c."notnull" = 0 AND c.pk = 0 AS nullable
    FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`).all();
  return columns.flatMap(({ table, column, nullable }) => {
    const { nulls, values } = db.prepare(`
      SELECT count(*) - count(${String(column)}) AS nulls, count(${String(column)}) AS "values"
      FROM ${String(table)}`).get() ?? {};
    return [
      ...values === 0 ? [`${String(table)}.${String(column)} has no value`] : [],
      ...nullable === 1 && nulls === 0 ? [`${String(table)}.${String(column)} is never NULL`] : [],
    ];
  });
}
