/**
 * Two sellers that do the same at the same times have equal ids: of their products, keys, webhooks,
 * accounts and all else. So every condition on the seller decides what a statement reads or writes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountReference } from '../../src/domain/access/account.ts';
import { parseSellerPatch } from '../../src/domain/access/seller.ts';
import { formatProductId, type ProductId } from '../../src/domain/id.ts';
import type { Store } from '../../src/store/store.ts';
import type { Actor } from '../../src/store/write.ts';
import { makeClock } from '../support/clock.ts';
import { DAY_MS, makeNewKey, makeNewProduct, makeSecret } from './contract/fixture.ts';
import { makeNewSession, makeSecretHash, SHOWN } from './contract/portal-fixture.ts';
import { revert } from './contract/revert-fixture.ts';
import { makeSync } from './contract/stock.ts';
import { FAILED, makeMessage } from './contract/webhook-deliveries.ts';
import { makeNewWebhook } from './contract/webhooks.ts';
import type { Engine } from './engine.ts';
import {
  ALL, HEADER_HASH, makePasskey, plain, prepareTwins, readAll, RECOVERY_HASHES, sku, type Twin,
} from './twin-sellers.ts';

/** What a seller does after the same preparation. */
type Step = readonly [name: string, run: (store: Store, twin: Twin) => Promise<unknown>];

export function testTwins(engine: Engine): void {
  test('of two sellers with equal ids', async (t) => {
    const clock = makeClock();
    const data = await engine.prepare(t);
    const store = await data.open(clock);
    await t.test('pruning removes nothing of the one with newer changes', async () => {
      const old = await prepareTwins(store, clock);
      await store.createProduct(old[0].actor, makeNewProduct()); // the other one's last is deleted
      clock.now += 10 * DAY_MS;
      const before = clock.now;
      const [young] = await prepareTwins(store, clock);
      const text = await readAll(store, young);
      await store.pruneHistory(before);
      assertSame(await readAll(store, young), text);
      for (const { actor: { sellerId }, importId } of old) {
        assert.ok(await store.findImport(sellerId, importId), 'the newest record is kept');
      }
      data.assertHealthy();
    });
    await t.test('each reads its own data only', async () => {
      const [one, other] = await prepareTwins(store, clock);
      const text = await readAll(store, one);
      assert.match(text, /alpha/);
      assert.doesNotMatch(text, /bravo/);
      assertSame(toOther(text), await readAll(store, other));
    });
    await t.test('an owner of one is no owner of the other', async () => {
      const [{ actor, by, editor }, other] = await prepareTwins(store, clock);
      await store.setRole(other.editor, 'owner', other.by);
      const { accountId } = editor; // in both
      const revocation = store.revokeKey(actor, { ...by, accountId });
      await assert.rejects(revocation, { code: 'browser_refused' });
      await store.revokeKey(other.actor, { ...by, accountId });
    });
    for (const [name, run] of STEPS) {
      await t.test(`only the one that ${name} is affected`, async () => {
        const [one, other] = await prepareTwins(store, clock);
        const before = await readAll(store, other);
        clock.now += 1_000;
        const outcome = plain(await run(store, one));
        assertSame(await readAll(store, other), before);
        const after = await readAll(store, one);
        assertSame(plain(await run(store, other)), toOther(outcome));
        assertSame(await readAll(store, one), after);
        assertSame(await readAll(store, other), toOther(after));
      });
    }
  });
}

function toOther(text: string): string {
  return text.replaceAll('alpha', 'bravo');
}

/** Line by line: the diff of long texts takes long. */
function assertSame(text: string, expected: string): void {
  const [lines, expectedLines] = [text.split('\n'), expected.split('\n')];
  const different = lines.findIndex((line, index) => line !== expectedLines[index]);
  const near = (all: readonly string[]) => all.slice(Math.max(different - 5, 0), different + 5);
  if (different >= 0) assert.deepEqual(near(lines), near(expectedLines));
  assert.equal(lines.length, expectedLines.length);
}

const STEPS: readonly Step[] = [
  ['creates a product', (store, { name, actor }) =>
    store.createProduct(actor, makeNewProduct({ name: `Cup ${name}`, sku: 'CUP' }))],
  ['replaces a product', (store, { name, actor }) => store.putProduct(
    actor, makeNewProduct({ name: `New ${name}`, sku: 'A' }), {})],
  ['changes a product', (store, { name, actor }) => store.patchProduct(
    actor, { sku: sku('A') }, { name: `Other ${name}`, sku: sku('Z') }, {})],
  ['deletes a product', (store, { actor }) =>
    store.deleteProduct(actor, { sku: sku('B') }, {})],
  ['imports products', (store, { name, actor }) => store.importProducts(
    actor, [makeNewProduct({ name: `Pan ${name}`, sku: 'PAN' })], 'upsert')],
  ['edits products', async (store, { actor }) => store.editProducts(
    actor, [{ id: await idOf(store, actor, 'A'), expected: {}, patch: { priceMinor: 5 } }],
    undefined)],
  ['counts stock', (store, { actor }) => store.syncStock(actor, makeSync(
    [{ sku: sku('A'), set: 1 }], { source: 'till' }), false)],
  ['counts stock by id', async (store, { actor }) => {
    const id = formatProductId(actor.sellerId, await idOf(store, actor, 'A'));
    return store.syncStock(actor, makeSync([{ id, set: 3 }]), false);
  }],
  ['repeats a stock sequence', (store, { actor }) => store.syncStock(actor, makeSync(
    [{ sku: sku('A'), adjust: 1, sequence: 5 }], { source: 'till' }), false)],
  ['takes stock', async (store, { actor }) => {
    const stocktake = store.openStocktake(actor.sellerId);
    const { position } = await store.readTotals(actor.sellerId, 0);
    const found = await stocktake.findMissing(position);
    const missing = await stocktake.listMissing(ALL);
    await stocktake.close();
    return [found, missing];
  }],
  ['reverts an import', (store, { actor, importId }) => revert(store, actor, { importId })],
  ['retries a request', (store, { name, actor }) => store.createProduct(
    { ...actor, idempotency: { key: 'first', part: 0 } },
    makeNewProduct({ name: `Mug ${name}`, sku: 'A', stock: 7, price: 20 }))],
  ['uses a key', (store, { actor, name }) => store.noteKeyUse(actor, `192.0.2.${name.length}`)],
  ['counts requests', (store, { actor }) => store.noteUsage([
    { ...actor, hour: 490_000, requests: 2, refusals: 1 }])],
  ['creates a key', (store, { actor, name }) => store.createKey(
    actor.sellerId, makeSecret(), makeNewKey({ name: `new ${name}` }))],
  ['rotates a key', (store, { actor }) => store.rotateKey(actor, makeSecret(), 5_000)],
  ['revokes a key', (store, { actor, by }) => store.revokeKey(actor, by)],
  ['is renamed', (store, { actor, name }) =>
    store.updateSeller(actor.sellerId, parseSellerPatch({ name, externalId: `id ${name}` }))],
  ['is disabled', (store, { actor }) => store.setSellerDisabled(actor.sellerId, true)],
  ['sets the low stock', (store, { actor, by }) =>
    store.setShopSettings(actor.sellerId, { lowStock: 9 }, by)],
  ['creates a webhook', async (store, { actor, name }) => {
    const { webhook } = await store.createWebhook(actor, makeNewWebhook({ description: name }));
    return store.deleteWebhook(actor, webhook.id);
  }],
  ['changes a webhook', (store, { actor, webhookId }) =>
    store.patchWebhook(actor, webhookId, { description: 'changed' })],
  ['deletes a webhook', (store, { actor, webhookId }) => store.deleteWebhook(actor, webhookId)],
  ['rotates a webhook secret', async (store, { actor, webhookId }) => {
    await store.rotateWebhookSecret(actor, webhookId, 60_000);
  }],
  ['retries a webhook', (store, { actor, webhookId }) => store.retryWebhook(actor, webhookId)],
  ['replays a webhook', (store, { actor, webhookId }) =>
    store.replayWebhook(actor, webhookId, 1)],
  ['sends a message', async (store, { actor: { sellerId }, webhookId }) => {
    const webhook = await store.findWebhook({ sellerId, id: webhookId });
    assert.ok(webhook);
    const message = makeMessage('msg_2', 1, 2);
    const isBegun = await store.beginWebhookMessage(webhook, webhook.position, message);
    const step = { isDelivered: false, retryAt: 9, disabledReason: undefined } as const;
    await store.endWebhookAttempt(webhook, message, FAILED, step);
    return [isBegun, await store.noteWebhookAttempt(webhook, message, FAILED)];
  }],
  ['names a webhook of the other', async (store, { actor, foreign }) => {
    const { webhookId: id } = foreign;
    const message = makeMessage('msg_3', 1, 2);
    const calls = [
      store.patchWebhook(actor, id, { description: 'changed' }), store.deleteWebhook(actor, id),
      store.rotateWebhookSecret(actor, id, 60_000), store.retryWebhook(actor, id),
      store.replayWebhook(actor, id, 1),
      store.noteWebhookAttempt({ ...actor, id }, message, FAILED),
    ];
    return (await Promise.allSettled(calls)).map((call) =>
      call.status === 'rejected' ? call.reason.code : call.value ?? null);
  }],
  ['disables a webhook', async (store, { actor: { sellerId }, webhookId }) => {
    const webhook = await store.findWebhook({ sellerId, id: webhookId });
    assert.ok(webhook);
    await store.disableWebhook(webhook, 'It failed.');
  }],
  ['keeps a column mapping', (store, { actor, name }) =>
    store.keepColumnMapping(actor.sellerId, HEADER_HASH, { sku: `Code ${name}` })],
  ['forgets a column mapping', (store, { actor }) =>
    store.keepColumnMapping(actor.sellerId, HEADER_HASH, {})],
  ['saves a filter', (store, { actor, name }) => store.saveFilter(
    actor.sellerId, { list: 'products', name: 'Low', query: `q=new-${name}` })],
  ['deletes a filter', (store, { actor }) => store.deleteFilter(actor.sellerId, 'products', 'Low')],
  ['revokes an invitation', (store, { actor, by, inviteHash }) =>
    store.revokeInvitation(actor.sellerId, inviteHash, by)],
  ['names an invitation of the other', (store, { actor, by, foreign }) =>
    store.revokeInvitation(actor.sellerId, foreign.inviteHash, by)],
  ['removes an account', (store, { editor, by }) => store.removeAccount(editor, by)],
  ['removes an owner', (store, { account }) => store.removeAccount(account)],
  ['changes a role', (store, { editor, by }) => store.setRole(editor, 'viewer', by)],
  ['renames an account', (store, { editor, by, name }) =>
    store.setAccountName(editor, `New ${name}`, by)],
  ['changes settings', (store, { account, by }) =>
    store.setAccountSettings(account, { locale: 'fr-CH', timeZone: 'Europe/Paris' }, by)],
  ['changes its e-mail', (store, { account, by, name }) =>
    store.setEmail(account, `new-${name}@shop.example`, by)],
  ['changes its password', (store, { account, by }) => sessionOf(store, account).then((id) =>
    store.setPassword(account, '$argon2id$new', { id, hash: makeSecretHash() }, by))],
  ['gets a new password', (store, { account }) => store.resetPassword(account, '$argon2id$new')],
  ['gets a new password, and signs in with it again', (store, { editor }) =>
    store.resetPassword(editor, '$argon2id$new')],
  ['turns two-factor authentication off', (store, { account, by }) =>
    store.disableTotp(account, by)],
  ['loses its device', (store, { account }) => store.resetTotp(account)],
  ['replaces recovery codes', (store, { account, by }) =>
    store.setRecoveryCodes(account, RECOVERY_HASHES.slice(0, 1), by)],
  ['uses a one-time password', (store, { account }) => store.takeTotpStep(account, 8)],
  ['uses a recovery code', (store, { account }) =>
    store.takeRecoveryCode(account, RECOVERY_HASHES[0] ?? '', '192.0.2.1')],
  ['signs in', (store, { account }) => store.createSession(
    { ...account, ...SHOWN, hasTotp: true }, makeNewSession({ userAgent: 'Safari/20' }))],
  ['looks at a page', async (store, { account }) =>
    store.noteSessionSeen(account, await sessionOf(store, account))],
  ['ends a session', async (store, { account, by }) => store.endSessions(
    account, { id: await sessionOf(store, account) }, { ...by, type: 'signed_out' })],
  ['ends other sessions', (store, { account, by }) => store.endSessions(
    account, { allBut: 1 }, { ...by, type: 'session_ended' })],
  ['adds a passkey', (store, { account, by, name }) =>
    store.addPasskey(account, { ...makePasskey(name), credentialId: 'bmV3' }, by)],
  ['adds the same passkey', (store, { editor, by, name }) =>
    store.addPasskey(editor, makePasskey(name), by)],
  ['renames a passkey', async (store, { account, name }) =>
    store.renamePasskey(account, await passkeyOf(store, account), `New ${name}`)],
  ['removes a passkey', async (store, { account, by }) =>
    store.removePasskey(account, await passkeyOf(store, account), by)],
  ['turns its password off', (store, { account, by }) =>
    store.setPasswordOff(account, true, by)],
  ['uses a passkey', async (store, { account }) => {
    const [passkey] = await store.listPasskeys(account);
    assert.ok(passkey);
    return store.createPasskeySession(account, { ...passkey, signCount: 7 }, makeNewSession());
  }],
];

async function idOf(store: Store, { sellerId }: Actor, text: string): Promise<ProductId> {
  const product = await store.findProduct(sellerId, { sku: sku(text) });
  assert.ok(product);
  return product.id;
}

async function sessionOf(store: Store, account: AccountReference): Promise<number> {
  return (await store.listSessions(account, 1))[0]?.id ?? 0;
}

async function passkeyOf(store: Store, account: AccountReference): Promise<number> {
  return (await store.listPasskeys(account))[0]?.id ?? 0;
}
