/**
 * A call of every method of the store's ports that takes a seller, with ids that may be another
 * seller's. A method without a call does not compile.
 */
import type { AccountReference } from '../../../src/domain/access/account.ts';
import type { TotpSecret } from '../../../src/domain/access/totp.ts';
import type { PasskeyUse } from '../../../src/store/account-store.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { ImportId, ProductId, SellerId } from '../../../src/domain/id.ts';
import type { Webhook } from '../../../src/domain/webhooks/webhook.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeNewKey, makeNewProduct, makeSecret } from './fixture.ts';
import { makePasskey } from './passkeys.ts';
import { makeInvitation, makeNewSession, makeSecretHash, SHOWN } from './portal-fixture.ts';
import { makeSync } from './stock.ts';
import { FAILED, makeMessage } from './webhook-deliveries.ts';
import { makeNewWebhook } from './webhooks.ts';

/** A seller with everything that a store keeps for one. */
export interface Shop {
  /** Part of its texts. */
  readonly name: string;
  readonly sellerId: SellerId;
  readonly actor: Actor;
  readonly keyHash: string;
  readonly account: AccountReference;
  readonly sessionId: number;
  readonly sessionHash: string;
  readonly passkey: PasskeyUse;
  readonly invitationHash: string;
  readonly productId: ProductId;
  readonly importId: ImportId;
  readonly webhook: Webhook;
}

/** Calls a method for the seller `own`, with the ids of `ids`. */
export type Call = (store: Store, own: Shop, ids: Shop) => unknown;

/** They have no seller, or find one by a secret or an address, and the port says which. */
type WithoutSeller = 'createSeller' | 'listSellers' | 'findGrant' | 'noteUsage'
  | 'findInvitation' | 'register' | 'findCredentials' | 'encrypt' | 'decrypt' | 'watchAll'
  | 'joinDelivery' | 'readMetrics' | 'readOldestTransaction' | 'findNewestTime' | 'pruneHistory'
  | 'pruneIdempotency' | 'close' | 'takeThrottle' | 'refundThrottle' | 'cursorKey' | 'importJobs'
  | 'rateLeases' | 'lost' | 'generation' | 'now' | 'keepLivedTime'
  | 'findTimeLivedAgo';

/** Of a product of each shop. */
export const BARCODE = '4006381333931';
export const HEADER_HASH = 'a'.repeat(64);
const PAGE = { after: undefined, limit: 100 };
const ALL = { filter: {}, after: 0, upTo: 1_000, isDescending: false, limit: 100 };
const BY = { actorName: 'Own', address: '192.0.2.1' };
const accountOf = (own: Shop, ids: Shop): AccountReference =>
  ({ ...ids.account, sellerId: own.sellerId });
const webhookOf = (own: Shop, ids: Shop) => ({ sellerId: own.sellerId, id: ids.webhook.id });
const keyOf = (own: Shop, ids: Shop) => ({ sellerId: own.sellerId, keyId: ids.actor.keyId });
const positionOf = async (store: Store, { sellerId }: Shop): Promise<number> =>
  (await store.findSeller(sellerId))?.position ?? 0;

/** In an order in which each succeeds after the others, for a shop's own ids. */
const CALLS: { readonly [Method in Exclude<keyof Store, WithoutSeller>]: Call } = {
  findSeller: (store, own) => store.findSeller(own.sellerId),
  findKey: (store, own, ids) => store.findKey(keyOf(own, ids)),
  findKeyByHash: (store, own, ids) => store.findKeyByHash(own.sellerId, ids.keyHash),
  listKeys: (store, own) => store.listKeys(own.sellerId, PAGE),
  readUsage: (store, own) => store.readUsage(own.sellerId, { since: 0, limit: 100 }),
  findProduct: (store, own, ids) => store.findProduct(own.sellerId, { id: ids.productId }),
  findProducts: async (store, own, ids) =>
    [...await store.findProducts(own.sellerId, [ids.productId])],
  listBarcodeOwners: (store, own) => store.listBarcodeOwners(own.sellerId, [Number(BARCODE)]),
  listProducts: (store, own) => store.listProducts(own.sellerId, { ...PAGE, archived: 'any' }),
  listChanges: (store, own, ids) =>
    store.listChanges(own.sellerId, { after: 0, limit: 100, importId: ids.importId }),
  listMovements: (store, own, ids) => store.listMovements(own.sellerId, {
    ...ALL, filter: { productId: ids.productId, keyId: ids.actor.keyId },
  }),
  countMovements: (store, own, ids) => store.countMovements(own.sellerId, {
    ...ALL, filter: { productId: ids.productId },
  }),
  listCollapsedChanges: (store, own) =>
    store.listCollapsedChanges(own.sellerId, { ...ALL, isContinued: false }),
  findPreviousSnapshots: async (store, own) =>
    [...await store.findPreviousSnapshots(own.sellerId, [1, 2, 3, 4])],
  findPositionAt: (store, own) => store.findPositionAt(own.sellerId, Date.now()),
  listStockAt: async (store, own) =>
    store.listStockAt(own.sellerId, await positionOf(store, own), PAGE),
  listProductsAt: async (store, own) =>
    store.listProductsAt(own.sellerId, await positionOf(store, own), PAGE),
  findProductAt: async (store, own, ids) =>
    store.findProductAt(own.sellerId, { id: ids.productId }, await positionOf(store, own)),
  sumStockChanges: async (store, own) =>
    store.sumStockChanges(own.sellerId, { since: 0, after: 0, upTo: await positionOf(store, own) }),
  listTopMovers: async (store, own) => store.listTopMovers(own.sellerId, {
    since: 0, after: 0, upTo: await positionOf(store, own), limit: 10,
  }),
  listStockDays: (store, own) => store.listStockDays(own.sellerId, { since: 0, limit: 100 }),
  watch: (store, own) => new Promise((resolve) => { store.watch(own.sellerId, 0, resolve); }),
  searchProducts: async (store, own) => store.searchProducts(own.sellerId, {
    filter: { archived: 'any' }, sort: { by: 'name', isDescending: false }, after: undefined,
    limit: 100,
  }, await positionOf(store, own)),
  lookUpProducts: async (store, own, ids) => store.lookUpProducts(own.sellerId, [
    { id: ids.productId }, { sku: 'SHOP-1' as Sku }, { barcode: BARCODE },
    { metadata: { erp: '1' } },
  ], await positionOf(store, own)),
  readTotals: async (store, own) =>
    store.readTotals(own.sellerId, await positionOf(store, own), 'any'),
  countProducts: async (store, own) =>
    store.countProducts(own.sellerId, { q: 'shop' }, await positionOf(store, own)),
  countLowStock: async (store, own) =>
    store.countLowStock(own.sellerId, { stockMax: 9, limit: 100 }, await positionOf(store, own)),
  listCategories: async (store, own) => store.listCategories(
    own.sellerId, { from: undefined, limit: 100 }, await positionOf(store, own),
  ),
  exportProducts: async (store, own) => {
    const sort = { by: 'name', isDescending: false } as const;
    const { pages } = await store.exportProducts(
      own.sellerId, { filter: { archived: 'any' }, sort }, await positionOf(store, own),
    );
    return (await Array.fromAsync(pages)).flat();
  },
  findImport: (store, own, ids) => store.findImport(own.sellerId, ids.importId),
  listImports: (store, own) => store.listImports(own.sellerId, { before: undefined, limit: 100 }),
  countImports: (store, own) => store.countImports(own.sellerId, undefined),
  searchImports: (store, own) => store.searchImports(own.sellerId, 'shop', 100),
  findWebhook: (store, own, ids) => store.findWebhook(webhookOf(own, ids)),
  listWebhooks: (store, own) => store.listWebhooks(own.sellerId, PAGE),
  listWebhookAttempts: (store, own, ids) =>
    store.listWebhookAttempts(webhookOf(own, ids), { before: undefined, limit: 100 }),
  findWebhookAttempt: (store, own, ids) => store.findWebhookAttempt(webhookOf(own, ids), 1),
  findLowStock: (store, own) => store.findLowStock(own.sellerId),
  findWebhookSecrets: (store, own, ids) => store.findWebhookSecrets(webhookOf(own, ids)),
  findColumnMapping: (store, own) => store.findColumnMapping(own.sellerId, HEADER_HASH),
  listFilters: (store, own) => store.listFilters(own.sellerId, 'products'),
  listInvitations: (store, own) => store.listInvitations(own.sellerId),
  findAccount: (store, own, ids) => store.findAccount(accountOf(own, ids)),
  listAccounts: (store, own) => store.listAccounts(own.sellerId),
  findTotp: (store, own, ids) => store.findTotp(accountOf(own, ids)),
  findSignedInSession: (store, own, ids) =>
    store.findSignedInSession(own.sellerId, ids.sessionHash),
  listSessions: (store, own, ids) => store.listSessions(accountOf(own, ids), 100),
  listAuditEvents: (store, own) =>
    store.listAuditEvents(own.sellerId, { type: undefined, before: undefined, limit: 100 }),
  countAuditEvents: (store, own) => store.countAuditEvents(own.sellerId, undefined),
  listPasskeys: (store, own, ids) => store.listPasskeys(accountOf(own, ids)),

  dryRunImport: async (store, own) => {
    const dryRun = store.dryRunImport(own.actor, 'upsert');
    const effects = await dryRun.try([makeNewProduct({ sku: 'SHOP-1' })]);
    await dryRun.close();
    return effects;
  },
  dryRunStock: async (store, own) => {
    const dryRun = store.dryRunStock(own.actor, await positionOf(store, own), 'till');
    const outcome = await dryRun.try([{ sku: 'SHOP-1' as Sku, adjust: 1, sequence: 1 }]);
    await dryRun.close();
    return outcome;
  },
  openStocktake: async (store, own) => {
    const stocktake = store.openStocktake(own.sellerId);
    const missing = await stocktake.findMissing(await positionOf(store, own));
    const list = await stocktake.listMissing(PAGE);
    await stocktake.close();
    return { missing, list };
  },
  setShopSettings: (store, own) => store.setShopSettings(own.sellerId, { lowStock: 3 }, BY),
  createKey: (store, own) =>
    store.createKey(own.sellerId, makeSecret(), makeNewKey({ name: `${own.name} key` })),
  noteKeyUse: (store, own, ids) => store.noteKeyUse(keyOf(own, ids), '192.0.2.9'),
  createProduct: (store, own) => store.createProduct(
    { ...own.actor, idempotency: { key: 'shop', part: 1 } }, makeNewProduct({ sku: 'SHOP-2' }),
  ),
  putProduct: (store, own) =>
    store.putProduct(own.actor, makeNewProduct({ sku: 'SHOP-1', name: own.name, stock: 8 }), {}),
  patchProduct: (store, own, ids) =>
    store.patchProduct(own.actor, { id: ids.productId }, { stock: 9 }, {}),
  importProducts: (store, own) =>
    store.importProducts(own.actor, [makeNewProduct({ sku: 'SHOP-3' })], 'upsert'),
  editProducts: (store, own, ids) => store.editProducts(own.actor, [
    { id: ids.productId, expected: {}, patch: { stock: 4 } },
  ], 'counted'),
  syncStock: (store, own) => store.syncStock(
    own.actor, makeSync([
      { sku: 'SHOP-1' as Sku, set: 5, sequence: 2 }, { barcode: BARCODE, set: 6, sequence: 3 },
    ], { source: 'till' }), false,
  ),
  zeroStock: (store, own, ids) => store.zeroStock(own.actor, {
    products: [ids.productId], zeroLimitPercent: 100, source: undefined, reason: 'counted',
    total: { missing: 1, inStock: 1 },
  }),
  startRevert: async (store, own, ids) => {
    const revert = await store.startRevert(own.actor, {
      selection: { importId: ids.importId }, isForced: true, isDryRun: false,
    });
    while ((await revert.next()).length > 0);
    await revert.finish();
  },
  createWebhook: (store, own) => store.createWebhook(own.actor, makeNewWebhook()),
  patchWebhook: (store, own, ids) =>
    store.patchWebhook(own.actor, ids.webhook.id, { description: own.name }),
  rotateWebhookSecret: (store, own, ids) =>
    store.rotateWebhookSecret(own.actor, ids.webhook.id, 1_000),
  retryWebhook: (store, own, ids) => store.retryWebhook(own.actor, ids.webhook.id),
  replayWebhook: (store, own, ids) => store.replayWebhook(own.actor, ids.webhook.id, 1),
  beginWebhookMessage: async (store, own, ids) => {
    const webhook = await store.findWebhook(webhookOf(own, ids))
      ?? { ...ids.webhook, sellerId: own.sellerId };
    return store.beginWebhookMessage(webhook, 2, makeMessage('msg_2', 1, 2));
  },
  endWebhookAttempt: (store, own, ids) => store.endWebhookAttempt(
    webhookOf(own, ids), makeMessage('msg_2', 1, 2), FAILED,
    { isDelivered: false, retryAt: 9, disabledReason: undefined },
  ),
  noteWebhookAttempt: (store, own, ids) =>
    store.noteWebhookAttempt(webhookOf(own, ids), makeMessage('msg_3', 1, 2), FAILED),
  disableWebhook: async (store, own, ids) => {
    const webhook = await store.findWebhook(webhookOf(own, ids))
      ?? { ...ids.webhook, sellerId: own.sellerId };
    await store.disableWebhook(webhook, 'failed');
  },
  keepColumnMapping: (store, own) =>
    store.keepColumnMapping(own.sellerId, HEADER_HASH, { Stock: own.name }),
  saveFilter: (store, own) =>
    store.saveFilter(own.sellerId, { list: 'products', name: 'shop', query: 'q=1' }),
  deleteFilter: (store, own) => store.deleteFilter(own.sellerId, 'products', 'shop'),
  createInvitation: (store, own) => store.createInvitation(makeSecretHash(), makeInvitation({
    sellerId: own.sellerId, name: 'B', expiresAt: 9e12,
  })),
  revokeInvitation: (store, own, ids) =>
    store.revokeInvitation(own.sellerId, ids.invitationHash, BY),
  setRole: (store, own, ids) => store.setRole(accountOf(own, ids), 'editor', BY),
  setAccountName: (store, own, ids) => store.setAccountName(accountOf(own, ids), 'New name', BY),
  setAccountSettings: (store, own, ids) =>
    store.setAccountSettings(accountOf(own, ids), { locale: 'fr-FR', timeZone: 'UTC' }, BY),
  setEmail: (store, own, ids) =>
    store.setEmail(accountOf(own, ids), `${own.name}@mail.example`, BY),
  setRecoveryCodes: (store, own, ids) =>
    store.setRecoveryCodes(accountOf(own, ids), ['c'.repeat(64), 'd'.repeat(64)], BY),
  takeRecoveryCode: (store, own, ids) =>
    store.takeRecoveryCode(accountOf(own, ids), 'c'.repeat(64), '192.0.2.1'),
  disableTotp: (store, own, ids) => store.disableTotp(accountOf(own, ids), BY),
  enableTotp: (store, own, ids) => store.enableTotp(accountOf(own, ids), {
    secret: 'A'.repeat(32) as TotpSecret, step: 1, recoveryHashes: ['b'.repeat(64)],
  }, BY),
  takeTotpStep: (store, own, ids) => store.takeTotpStep(accountOf(own, ids), 2),
  createSession: (store, own, ids) =>
    store.createSession({ ...accountOf(own, ids), ...SHOWN, hasTotp: true }, makeNewSession()),
  noteSessionSeen: (store, own, ids) => store.noteSessionSeen(accountOf(own, ids), ids.sessionId),
  setPassword: (store, own, ids) => store.setPassword(accountOf(own, ids), '$argon2id$two', {
    id: ids.sessionId, hash: makeSecretHash(),
  }, BY),
  noteAuditEvent: (store, own) =>
    store.noteAuditEvent({ sellerId: own.sellerId, type: 'signed_in', subject: own.name, ...BY }),
  renamePasskey: (store, own, ids) =>
    store.renamePasskey(accountOf(own, ids), ids.passkey.id, 'New name'),
  addPasskey: (store, own, ids) => store.addPasskey(accountOf(own, ids), makePasskey(), BY),
  setPasswordOff: (store, own, ids) => store.setPasswordOff(accountOf(own, ids), true, BY),
  notePasskeyUse: (store, own, ids) => store.notePasskeyUse(accountOf(own, ids), ids.passkey),
  createPasskeySession: (store, own, ids) =>
    store.createPasskeySession(accountOf(own, ids), ids.passkey, makeNewSession()),
  removePasskey: (store, own, ids) =>
    store.removePasskey(accountOf(own, ids), ids.passkey.id, BY),
  endSessions: (store, own, ids) => store.endSessions(
    accountOf(own, ids), { allBut: 0 }, { type: 'session_ended', ...BY },
  ),
  resetTotp: (store, own, ids) => store.resetTotp(accountOf(own, ids)),
  resetPassword: (store, own, ids) => store.resetPassword(accountOf(own, ids), '$argon2id$three'),
  rotateKey: (store, own, ids) => store.rotateKey(keyOf(own, ids), makeSecret(), 0),
  revokeKey: (store, own, ids) => store.revokeKey(keyOf(own, ids)),
  deleteWebhook: (store, own, ids) => store.deleteWebhook(own.actor, ids.webhook.id),
  deleteProduct: (store, own, ids) => store.deleteProduct(own.actor, { id: ids.productId }, {}),
  removeAccount: (store, own, ids) => store.removeAccount(accountOf(own, ids)),
  updateSeller: (store, own) => store.updateSeller(own.sellerId, { name: 'Own name' }),
  setSellerDisabled: (store, own) => store.setSellerDisabled(own.sellerId, true),
  deleteSeller: (store, own) => store.deleteSeller(own.sellerId),
};

/** They change nothing. */
export const READS: readonly [string, Call][] = Object.entries(CALLS).filter(([method]) =>
  /^(?:lookUp|find|list|read|count|search|export|sum|watch|dryRun|open)/.test(method));
export const WRITES: readonly [string, Call][] =
  Object.entries(CALLS).filter(([method]) => !READS.some(([read]) => read === method));
