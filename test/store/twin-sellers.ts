/**
 * Two sellers who did the same at the same times, so that their products, keys, accounts and
 * changes have the same ids; and everything that they can read.
 */
import assert from 'node:assert/strict';
import type { AccountReference, Role } from '../../src/domain/access/account.ts';
import type { TotpSecret } from '../../src/domain/access/totp.ts';
import { BY_ID } from '../../src/domain/catalogue/product-query.ts';
import type { Sku } from '../../src/domain/catalogue/product-fields.ts';
import type { AccountId, ImportId, WebhookId } from '../../src/domain/id.ts';
import type { Store } from '../../src/store/store.ts';
import type { Actor } from '../../src/store/write.ts';
import type { Clock } from '../support/clock.ts';
import { makeNewKey, makeNewProduct, makeSecret } from './contract/fixture.ts';
import {
  join, makeInvitation, makeJoining, makeNewSession, makeSecretHash,
} from './contract/portal-fixture.ts';
import { makeSync } from './contract/stock.ts';
import { FAILED, makeMessage } from './contract/webhook-deliveries.ts';
import { makeNewWebhook } from './contract/webhooks.ts';

export const ALL = { after: undefined, limit: 100 };
export const sku = (text: string): Sku => text as Sku; // legal ones
export const HEADER_HASH = 'a'.repeat(64);
export const RECOVERY_HASHES = ['b', 'c', 'd'].map((letter) => letter.repeat(64));

export interface Twin {
  readonly name: string;
  readonly actor: Actor;
  readonly account: AccountReference;
  /** A second account of the shop. */
  readonly editor: AccountReference;
  readonly by: { readonly actorName: string; readonly address: string };
  readonly importId: ImportId;
  readonly webhookId: WebhookId;
  /** Of the other seller: they are random. */
  readonly foreign: Pick<Twin, 'webhookId' | 'keyHash' | 'sessionHash' | 'inviteHash'>;
  readonly keyHash: string;
  readonly sessionHash: string;
  readonly inviteHash: string;
}

/** Numbers the pairs of a process: e-mail addresses are unique in a store. */
let pairs = 0;

export async function prepareTwins(store: Store, clock: Clock): Promise<readonly [Twin, Twin]> {
  pairs += 1;
  const start = clock.now;
  const one = await prepareTwin(store, clock, `alpha${pairs}`);
  clock.now = start;
  const other = await prepareTwin(store, clock, `bravo${pairs}`);
  if (one.webhookId === other.webhookId) return prepareTwins(store, clock); // by chance
  return [
    { ...one, foreign: other }, { ...other, foreign: one },
  ];
}

/** A seller who has some of everything. */
async function prepareTwin(
  store: Store, clock: Clock, name: string,
): Promise<Omit<Twin, 'foreign'>> {
  const by = { actorName: name, address: '192.0.2.7' };
  const secret = makeSecret();
  const joining = makeJoining({
    key: makeNewKey({ name: `key ${name}` }), secret,
    session: makeNewSession({ userAgent: name }),
  }, `${name}@shop.example`);
  const { sellerId } = await join(store, joining);
  const [account, editor] = [1, 2].map((id) => ({ sellerId, accountId: id as AccountId }));
  const [key] = await store.listKeys(sellerId, ALL);
  assert.ok(account && editor && key);
  const actor = { sellerId, keyId: key.id };
  clock.now += 1_000;
  const importId = await writeCatalogue(store, actor, name);
  clock.now += 1_000;
  await prepareAccounts(store, { account, editor, by, name });
  const inviteHash = await invite(store, account, 'viewer', name);
  const webhookId = await prepareWebhook(store, actor, name);
  await store.noteUsage([{ ...actor, hour: 490_000, requests: name.length, refusals: 0 }]);
  await store.keepColumnMapping(sellerId, HEADER_HASH, { sku: name });
  await store.saveFilter(sellerId, { list: 'products', name: 'Low', query: `q=${name}` });
  const sessionHash = joining.session.hash;
  return {
    name, actor, account, editor, by, importId, webhookId, keyHash: secret.hash, sessionHash,
    inviteHash,
  };
}

async function writeCatalogue(store: Store, actor: Actor, name: string): Promise<ImportId> {
  await store.createProduct(
    { ...actor, idempotency: { key: 'first', part: 0 } },
    makeNewProduct({ name: `Mug ${name}`, sku: 'A', stock: 7, price: 20 }));
  const part = { id: undefined, record: { kind: 'products' as const, fileName: `${name}.csv` } };
  const { importId } = await store.importProducts(
    { ...actor, import: { ...part, counts: {}, isLast: true } },
    ['B', 'C', 'D'].map((letter) => makeNewProduct({
      name: `Pot ${name} ${letter}`, sku: letter, category: name, stock: 4,
    })), 'upsert');
  await store.syncStock(actor, makeSync(
    [{ sku: sku('A'), adjust: -2, sequence: 5 }], { source: 'till', reason: name }), false);
  await store.patchProduct(actor, { sku: sku('C') }, { sku: sku('E') }, {});
  await store.deleteProduct(actor, { sku: sku('D') }, {});
  assert.ok(importId);
  return importId;
}

async function invite(
  store: Store, { sellerId }: AccountReference, role: Role, name: string,
): Promise<string> {
  const hash = makeSecretHash();
  const expiresAt = Number.MAX_SAFE_INTEGER;
  await store.createInvitation(hash, makeInvitation({ sellerId, role, name, expiresAt }));
  return hash;
}

async function prepareAccounts(
  store: Store, { account, editor, by, name }: Pick<Twin, 'account' | 'editor' | 'by' | 'name'>,
): Promise<void> {
  const codeHash = await invite(store, account, 'editor', `Second ${name}`);
  const second = await store.register(makeJoining({ codeHash }, `second-${name}@shop.example`));
  assert.equal(second.rejection, undefined);
  // The cast: any text will do for a secret.
  const secret = `secret of ${name}` as TotpSecret;
  for (const person of [account, editor]) {
    await store.enableTotp(person, { secret, step: 3, recoveryHashes: RECOVERY_HASHES }, by);
  }
  await store.disableTotp(editor, by);
  await store.addPasskey(account, makePasskey(name), by);
  await store.addPasskey(editor, { ...makePasskey(name), credentialId: 'ZWRpdG9y' }, by);
  await store.setPasswordOff(editor, true, by);
}

async function prepareWebhook(store: Store, actor: Actor, name: string): Promise<WebhookId> {
  const { webhook } = await store.createWebhook(actor, makeNewWebhook({ description: name }));
  await store.replayWebhook(actor, webhook.id, 0);
  const current = await store.findWebhook(webhook);
  assert.ok(current);
  const message = makeMessage(`msg_${name}`, 1, 2);
  assert.ok(await store.beginWebhookMessage(current, current.position, message));
  await store.endWebhookAttempt(current, message, { ...FAILED, outcome: name }, {
    isDelivered: false, retryAt: 9, disabledReason: undefined,
  });
  return webhook.id;
}

/** Everything that a seller can read, without what differs by chance. */
export async function readAll(store: Store, twin: Twin): Promise<string> {
  const { actor: { sellerId, keyId }, account, editor } = twin;
  const isEnabled = (await store.findSeller(sellerId))?.disabledAt === undefined;
  return plain([
    await readCatalogue(store, twin), await readHistory(store, twin),
    await store.findSeller(sellerId), await store.findKey({ sellerId, keyId }),
    await store.findKeyByHash(sellerId, twin.keyHash), await store.findGrant(twin.keyHash),
    await store.listKeys(sellerId, ALL), await store.listKeys(sellerId, ALL, true),
    await store.readUsage(sellerId, { since: 0, limit: 100 }),
    ...await Promise.all([account, editor].flatMap((person) => [
      store.findAccount(person), store.findTotp(person), store.listSessions(person, 100),
      store.listPasskeys(person),
    ])),
    isEnabled && await store.findSignedInSession(sellerId, twin.sessionHash),
    await store.findSignedInSession(sellerId, twin.foreign.sessionHash),
    await store.findKeyByHash(sellerId, twin.foreign.keyHash),
    await store.listAccounts(sellerId), await store.listInvitations(sellerId),
    await store.listAuditEvents(sellerId, { type: undefined, before: undefined, limit: 100 }),
    await store.listAuditEvents(sellerId, { type: 'signed_in', before: undefined, limit: 100 }),
    await store.countAuditEvents(sellerId, undefined),
    await store.findColumnMapping(sellerId, HEADER_HASH),
    await store.listFilters(sellerId, 'products'),
    await readWebhooks(store, twin.actor, twin.webhookId),
    await store.listWebhooks(sellerId, ALL),
    await readWebhooks(store, twin.actor, twin.foreign.webhookId),
  ]);
}

async function readCatalogue(store: Store, { actor: { sellerId } }: Twin): Promise<unknown> {
  const { products, position } = await store.listProducts(sellerId, { ...ALL, archived: 'any' });
  const ids = products.map(({ id }) => id);
  const query = { filter: { q: 'pot' }, sort: BY_ID, ...ALL };
  return [
    products, position, [...await store.findProducts(sellerId, ids)],
    ...await Promise.all(ids.map((id) => store.findProduct(sellerId, { id }))),
    await store.findProduct(sellerId, { sku: sku('B') }),
    await store.searchProducts(sellerId, query, position),
    await store.readTotals(sellerId, position),
    await store.countProducts(sellerId, { stockMax: 4 }, position),
    await store.listCategories(sellerId, { from: undefined, limit: 100 }, position),
  ];
}

async function readHistory(store: Store, { actor: { sellerId }, importId }: Twin) {
  const { position, changes } = await store.listChanges(sellerId, { after: 0, limit: 100 });
  const movements = { after: 0, upTo: position, isDescending: true, limit: 100 };
  const sums = { since: 0, after: 0, upTo: position };
  return [
    changes, await store.listChanges(sellerId, { after: 0, limit: 9, importId }),
    await store.listMovements(sellerId, { ...movements, filter: {} }),
    await store.listMovements(sellerId, { ...movements, filter: { sku: sku('D') } }),
    await store.listMovements(sellerId, { ...movements, filter: { source: 'till' } }),
    await store.countMovements(sellerId, { ...movements, filter: { sku: sku('A') } }),
    await store.listCollapsedChanges(sellerId, { ...movements, isContinued: false }),
    await store.listCollapsedChanges(sellerId, { ...movements, upTo: 3, isContinued: true }),
    [...await store.findPreviousSnapshots(sellerId, changes.map((change) => change.position))],
    await store.findPositionAt(sellerId, changes[0]?.at ?? 0),
    await store.listStockAt(sellerId, 4, ALL), await store.listProductsAt(sellerId, 4, ALL),
    ...await Promise.all(['A', 'C', 'D', 'E'].map((text) =>
      store.findProductAt(sellerId, { sku: sku(text) }, 4))),
    ...await Promise.all([...new Set(changes.map(({ productId }) => productId))].map((id) =>
      store.findProductAt(sellerId, { id }, 5))),
    await store.sumStockChanges(sellerId, sums),
    await store.listTopMovers(sellerId, { ...sums, limit: 9 }),
    await store.listStockDays(sellerId, { since: 0, limit: 9 }),
    await store.findImport(sellerId, importId),
    await store.listImports(sellerId, { before: undefined, limit: 9 }),
    await store.countImports(sellerId, undefined), await store.countImports(sellerId, 'products'),
    await store.searchImports(sellerId, '.csv', 9),
  ];
}

async function readWebhooks(store: Store, { sellerId }: Actor, id: WebhookId) {
  return [
    await store.findWebhook({ sellerId, id }),
    await store.listWebhookAttempts({ sellerId, id }, { before: undefined, limit: 9 }),
    await store.findWebhookAttempt({ sellerId, id }, 1), await store.findLowStock(sellerId),
    (await store.findWebhookSecrets({ sellerId, id }))?.length,
  ];
}

export function makePasskey(name: string) {
  return {
    name, rpId: 'shop.example', signCount: 1, transports: [], credentialId: 'c2FtZQ',
    publicKey: Buffer.from(name).toString('base64url'),
  };
}

const OMITTED: ReadonlySet<string> = new Set([
  'lastFour', 'hash', 'sellerId', 'publicKey', 'secret', 'livedAt', 'seenLivedAt',
  'failingLivedSince',
]);

/**
 * As JSON, without what is random (secrets, hashes, and the ids of sellers and webhooks), and
 * without lived times, which do not go back to the start of the other seller.
 */
export function plain(value: unknown): string {
  const text = JSON.stringify(value, (name, member: unknown) => {
    if (OMITTED.has(name)) return undefined;
    if (isRandomlyNamed(member)) return { ...member, id: undefined };
    return typeof member === 'bigint' ? String(member) : member;
  }, 1) ?? '';
  return text.replaceAll(/(sel|prd|key|imp|whk)_\w+/g, '$1');
}

/** A seller or a webhook. */
function isRandomlyNamed(member: unknown): member is object {
  return typeof member === 'object' && member !== null && 'id' in member && member.id !== undefined
    && ('url' in member || ('name' in member && 'position' in member && !('sku' in member)));
}
