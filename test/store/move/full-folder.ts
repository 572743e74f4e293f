/** A data folder with rows in every table, and texts that a copy could damage. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { ExternalId } from '../../../src/domain/access/seller.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { generateTotpSecret } from '../../../src/domain/access/totp.ts';
import type { WebhookMessage } from '../../../src/domain/webhooks/webhook.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewProduct, makeSeller,
} from '../contract/fixture.ts';
import { join as joinPortal, makeSecretHash } from '../contract/portal-fixture.ts';
import { FAILED } from '../contract/webhook-deliveries.ts';
import { makeNewWebhook } from '../contract/webhooks.ts';
import { makeSampleFolder } from '../sqlite/check/sample-folder.ts';
import { ownerOf } from '../../support/owner.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Texts that COPY escapes. */
const ESCAPED = 'a\tb\nc\rd\be\ff\vg\\h\\N\\.\\x41';
const NAMES = ['Back\\slash \\N \\.', 'Zoë, ÄPFEL, ﬁ, ŁÓDŹ', '漢字 🍎', 'O\'Brien "x" %_'];
const LONG = 'x'.repeat(200);
/** They sort differently by locale than by bytes. */
const SKUS = ['a-1', 'B-1', 'A-2', 'b_2'];

/** The sample of `makeSampleFolder`, and a row of every other kind. */
export async function makeFullFolder(
  t: Pick<TestContext, 'after'>, { products = 0 } = {},
): Promise<string> {
  const folder = await makeSampleFolder(t);
  const clock = makeClock();
  clock.now += 10 * DAY_MS;
  const store = await openSqliteStore({ folder, clock });
  try {
    const actor = await makeActor(store);
    await fillCatalogue(store, actor);
    await fillAccess(store, actor, clock.now);
    await sendWebhook(store, actor, clock.now);
    for (let n = 0; n < products; n += 1_000) {
      const some = countTo(1_000).map((i) => makeNewProduct({ sku: `many-${n + i}`, name: LONG }));
      await store.importProducts(actor, some, 'create');
    }
  } finally {
    await store.close();
  }
  using db = new DatabaseSync(join(folder, 'catalogue.db'));
  db.prepare('UPDATE webhook_attempt SET outcome = ?').run(ESCAPED);
  return folder;
}

/** All rows of a catalogue, by table, in the order of their keys. */
export function dump(folder: string): ReadonlyMap<string, readonly unknown[]> {
  using db = new DatabaseSync(join(folder, 'catalogue.db'), { readOnly: true });
  const tables = db.prepare(`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
      AND name <> 'server_secret' ORDER BY name`).all();
  return new Map(tables.map(({ name }) =>
    [String(name), db.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all()]));
}

async function fillCatalogue(store: Store, actor: Actor): Promise<void> {
  const [first, ...others] = NAMES.map((name, n) => makeNewProduct({ sku: SKUS[n], name }));
  if (!first) throw new Error('There are names.');
  await store.createProduct({ ...actor, idempotency: { key: 'k', part: 0 } }, first);
  for (const product of others) await store.createProduct({ ...actor, actorName: 'ERP' }, product);
  const record = { kind: 'stock', fileName: 'stock.csv' } as const;
  const part = { id: undefined, record, counts: {}, isLast: true };
  for (const [n, source] of ['till', 'Till', 'ärp'].entries()) {
    const changes = [{ sku: SKUS[0] as Sku, set: n + 20, sequence: n + 1 }]; // a legal SKU
    await store.syncStock({ ...actor, import: part }, {
      source, changes, reason: 'delivered late', isAtomic: false, completion: undefined,
    }, false);
  }
}

async function fillAccess(store: Store, actor: Actor, at: number): Promise<void> {
  const { sellerId } = await joinPortal(store);
  const secret = generateTotpSecret();
  const recoveryHashes = [makeSecretHash(), makeSecretHash()];
  const by = { actorName: 'Zoë', address: '192.0.2.7' };
  await store.enableTotp(ownerOf(sellerId), { secret, step: 7, recoveryHashes }, by);
  await store.addPasskey(ownerOf(sellerId), {
    name: 'Schlüssel', rpId: 'localhost', signCount: 2 ** 32 - 1, transports: ['usb'],
    credentialId: 'AAEC_w', publicKey: '__79',
  }, by);
  await store.keepColumnMapping(sellerId, makeSecretHash(), { sku: 'Artikel\\Nr', name: 'Titel' });
  await store.saveFilter(sellerId, { list: 'products', name: 'Läger', query: 'q=%C3%A4' });
  const disabled = await makeSeller(store, 'JPY');
  await store.setSellerDisabled(disabled.id, true);
  const externalId = 'Läden/7' as ExternalId; // the cast: a valid one
  await store.updateSeller(disabled.id, { externalId });
  const deleted = await makeSeller(store);
  await store.setSellerDisabled(deleted.id, true);
  await store.deleteSeller(deleted.id);
  for (const seller of [undefined, actor.sellerId]) {
    await store.createInvitation(makeSecretHash(), {
      sellerId: seller, role: 'viewer', name: 'Zoë', isFirst: false, expiresAt: at + DAY_MS,
    });
  }
  const hour = Math.floor(at / HOUR_MS);
  await store.noteUsage([{ ...actor, hour, requests: 3, refusals: 1 }]);
  await store.keepLivedTime();
}

async function sendWebhook(store: Store, actor: Actor, at: number): Promise<void> {
  const created = await store.createWebhook(actor, makeNewWebhook());
  await store.rotateWebhookSecret(actor, created.webhook.id, DAY_MS);
  const { webhook } = await store.replayWebhook(actor, created.webhook.id, 0);
  const message: WebhookMessage = { id: 'msg_1', first: 1, last: 2, at, types: null };
  await store.beginWebhookMessage(webhook, 0, message);
  const failed = { isDelivered: false, retryAt: 9, disabledReason: undefined } as const;
  await store.endWebhookAttempt(webhook, message, FAILED, failed);
}
