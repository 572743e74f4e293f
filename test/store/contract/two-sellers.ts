/** The contract of a store: no method reads or changes another seller's rows, whatever its ids. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { TotpSecret } from '../../../src/domain/access/totp.ts';
import type { ImportId, SellerId } from '../../../src/domain/id.ts';
import { parseNewSeller } from '../../../src/domain/access/seller.ts';
import { makeClock } from '../../support/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeNewKey, makeNewProduct, type PrepareStore } from './fixture.ts';
import { makePasskey } from './passkeys.ts';
import {
  join, makeInvitation, makeJoining, makeNewSession, makeSecretHash, SHOWN,
} from './portal-fixture.ts';
import { BARCODE, type Call, HEADER_HASH, READS, type Shop, WRITES } from './store-calls.ts';
import { FAILED, makeMessage } from './webhook-deliveries.ts';
import { makeNewWebhook } from './webhooks.ts';

const BY = { address: '192.0.2.1' };

async function prepareShops(t: TestContext, prepare: PrepareStore) {
  const clock = makeClock();
  const store = await prepare(t)(clock);
  const own = await makeShop(store, 'own', 2);
  clock.now += 60_000; // so that no id of one seller is an id of the other
  return { clock, store, own, other: await makeShop(store, 'foreign', 3) };
}

/**
 * All texts contain the shop's name. Its account is the last of its people: they are numbered from
 * 1 in each shop, so that of a shop with more people does not exist in the other.
 */
async function makeShop(store: Store, name: string, people: number): Promise<Shop> {
  const { sellerId, joining } = await join(store, makeJoining({
    seller: parseNewSeller(`${name} shop`, 'EUR'), key: makeNewKey({ name: `${name} key` }),
  }));
  const [key] = await store.listKeys(sellerId, { after: undefined, limit: 1 });
  assert.ok(key);
  for (let n = 2; n <= people; n += 1) await invite(store, sellerId, `${name}-${n}`);
  const { accountId } = (await store.listAccounts(sellerId)).at(-1) ?? assert.fail();
  const reference = { sellerId, accountId };
  const session = makeNewSession({ userAgent: name });
  assert.ok(await store.createSession({ ...reference, ...SHOWN }, session));
  const totp = { secret: 'B'.repeat(32) as TotpSecret, step: 1, recoveryHashes: ['e'.repeat(64)] };
  await store.enableTotp(reference, totp, BY);
  await store.addPasskey(reference, makePasskey({ name }), BY);
  const invitationHash = makeSecretHash();
  await store.createInvitation(invitationHash, makeInvitation({
    sellerId, name: `${name} person`, expiresAt: 9e12,
  }));
  const actor = { sellerId, keyId: key.id };
  const { id: productId } = await store.createProduct(actor, makeNewProduct({
    sku: 'SHOP-1', name: `${name} cup`, category: `${name} goods`, stock: 1, barcode: BARCODE,
    metadata: { erp: '1' },
  }));
  const importId = await importFile(store, actor, name);
  const { webhook } = await store.createWebhook(actor, makeNewWebhook({
    url: `https://${name}.example/`, description: name,
  }));
  await store.noteWebhookAttempt(webhook, makeMessage(`msg_${name}`, 1, 1), FAILED);
  await store.keepColumnMapping(sellerId, HEADER_HASH, { [name]: 'stock' });
  await store.saveFilter(sellerId, { list: 'products', name: `${name} filter`, query: 'q=2' });
  const usage = { hour: 1, requests: 1, refusals: 0 };
  await store.noteUsage([{ ...actor, ...usage }]);
  const [passkey] = await store.listPasskeys(reference);
  const [{ id: sessionId } = { id: 0 }] = await store.listSessions(reference, 1);
  assert.ok(passkey);
  return {
    name, sellerId, actor, keyHash: joining.secret.hash, account: reference, sessionId,
    sessionHash: session.hash, passkey, invitationHash, productId, importId, webhook,
  };
}

/** Invites a person, who joins. */
async function invite(store: Store, sellerId: SellerId, name: string): Promise<void> {
  const codeHash = makeSecretHash();
  await store.createInvitation(codeHash, makeInvitation({ sellerId, name, expiresAt: 9e12 }));
  await join(store, makeJoining({
    codeHash, session: makeNewSession({ userAgent: name }),
  }, `${name}@shop.example`));
}

async function importFile(
  store: Store, actor: Shop['actor'], name: string,
): Promise<ImportId> {
  const record = { kind: 'products', fileName: `${name} shop.csv` } as const;
  const { importId } = await store.importProducts({
    ...actor,
    import: { id: undefined, record, counts: {}, isLast: true },
  }, [makeNewProduct({ sku: 'SHOP-0', name: `${name} plate`, category: `${name} goods` })],
  'upsert');
  assert.ok(importId !== undefined);
  return importId;
}

/** What a call returns or throws, as text. */
async function outcomeOf(call: Call, store: Store, own: Shop, ids: Shop): Promise<string> {
  try {
    return format(await call(store, own, ids));
  } catch (error) {
    return `rejected: ${String(error)}`;
  }
}

function format(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    (typeof member === 'bigint' ? `${member}` : member)) ?? 'undefined';
}

/** All that a seller can read. */
async function readEverything(store: Store, shop: Shop): Promise<readonly string[]> {
  const outcomes: string[] = [];
  for (const [method, call] of READS) {
    outcomes.push(`${method} ${await outcomeOf(call, store, shop, shop)}`);
  }
  return outcomes;
}

export function testTwoSellers(prepare: PrepareStore): void {
  test('reads nothing of another seller, whatever ids a method is called with', async (t) => {
    const { store, own, other } = await prepareShops(t, prepare);
    for (const [method, call] of READS) {
      const outcome = await outcomeOf(call, store, own, other);
      assert.doesNotMatch(outcome, /foreign/i, method);
      const [expected, actual] = [
        await outcomeOf(call, store, other, other), await outcomeOf(call, store, own, own),
      ];
      assert.doesNotMatch(`${expected} ${actual}`, /undefined|rejected|TypeError/, method);
    }
  });

  test('changes nothing of another seller, whatever ids a method is called with', async (t) => {
    const { store, own, other } = await prepareShops(t, prepare);
    const before = await readEverything(store, other);
    for (const [method, call] of WRITES) {
      assert.doesNotMatch(await outcomeOf(call, store, own, other), /foreign/i, method);
      assert.deepEqual(await readEverything(store, other), before, method);
    }
  });

  test('changes what a seller reads, with ids of their own', async (t) => {
    const { store, own, clock } = await prepareShops(t, prepare);
    for (const [method, call] of WRITES) {
      clock.now += 1_000;
      const before = await readEverything(store, own);
      assert.doesNotMatch(await outcomeOf(call, store, own, own), /^rejected/, method);
      assert.notDeepEqual(await readEverything(store, own), before, method);
    }
  });
}
