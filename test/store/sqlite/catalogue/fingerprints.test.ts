/**
 * Fingerprints of all mutations that take an Idempotency-Key, as they are stored. A retry after an
 * upgrade is recognized by its fingerprint, so the names of the hashed members never change after
 * the first release. Earlier versions hashed them in the order that is written here; since then,
 * they are sorted.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, test } from 'node:test';
import {
  findSku, parseNewProduct, parseProductPatch, parseProductRow,
} from '../../../../src/domain/catalogue/product.ts';
import { parseStockSync } from '../../../../src/domain/catalogue/stock-sync.ts';
import {
  parseNewWebhook, parseReplay, parseRotation, parseWebhookPatch,
} from '../../../../src/domain/webhooks/webhook-input.ts';
import type { ProductId, WebhookId } from '../../../../src/domain/id.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { WriteContext } from '../../../../src/store/write.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';
import { processEnd } from '../../../support/process-end.ts';
import { makeActor, makeNewKey } from '../../contract/fixture.ts';

const EUR = { code: 'EUR', decimals: 2 };
const MUG = { stock: 7, sku: 'M-1', price: 19.99, name: 'Mug', category: 'Kitchen' };
const PRODUCT = '{"name":"Mug","category":"Kitchen","sku":"M-1","priceMinor":1999,"stock":7}';
const SECRET = { hash: 'a'.repeat(64), lastFour: 'a1B2' };
/** All of an earlier version. */
const SCOPES = [
  'products:read', 'products:write', 'stock:write', 'changes:read', 'webhooks:write',
] as const;
const OTHER_SECRET = { hash: 'b'.repeat(64), lastFour: 'c3D4' };
/** The first id of each kind, at the time of `makeClock`. */
const ID = 1_809_738_798_774_272;
const PRODUCT_ID = ID as ProductId;
const skuOf = (text: string) => findSku(text) ?? assert.fail(text);
const anyUrl = async (): Promise<undefined> => undefined;

/** `webhook` is the one that an earlier call has created. */
type Call = (store: Store, write: WriteContext, webhook: WebhookId) => Promise<unknown>;

/** In this order, on one store: products and keys get the ids of the fixed clock. */
const CALLS: readonly (readonly [text: string, call: Call])[] = [
  [
    `["createProduct",{"product":${PRODUCT}}]`,
    (store, write) => store.createProduct(write, parseNewProduct(MUG, EUR)),
  ],
  [
    `["putProduct",{"product":${PRODUCT},"precondition":{"ifMatch":"*"}}]`,
    (store, write) => store.putProduct(write, parseNewProduct(MUG, EUR), { ifMatch: '*' }),
  ],
  [
    '["patchProduct",{"target":{"sku":"M-1"},"patch":{"name":"Pot","stock":1},"precondition":'
      + '{"ifMatch":[1]}}]',
    (store, write) => store.patchProduct(
      write, { sku: skuOf('M-1') }, parseProductPatch({ stock: 1, name: 'Pot' }, EUR),
      { ifMatch: [1] },
    ),
  ],
  [
    `["patchProduct",{"target":{"id":${ID}},"patch":{"category":"Bar","priceMinor":100},`
      + '"precondition":{}}]',
    (store, write) => store.patchProduct(
      write, { id: PRODUCT_ID }, parseProductPatch({ price: 1, category: 'Bar' }, EUR), {},
    ),
  ],
  [
    `["importProducts",{"products":[${PRODUCT},{"sku":"N","priceMinor":100,"defaults":`
      + '{"stock":0,"category":"Misc"}}],"mode":"upsert"}]',
    (store, write) => store.importProducts(write, [
      parseProductRow(MUG, EUR),
      {
        ...parseProductRow({ sku: 'N', price: 1 }, EUR), defaults: { stock: 0, category: 'Misc' },
      },
    ], 'upsert'),
  ],
  [
    '["syncStock",{"sync":{"changes":[{"reason":"sold","sku":"M-1","adjust":-1,"sequence":5},'
      + '{"id":"prd_0","set":3,"expect":4}],"isAtomic":false,"source":"erp","reason":"count",'
      + '"completion":{"zeroLimitPercent":20},"faulty":[{"sku":"BAD"}]},"isDryRun":false}]',
    async (store, write) => store.syncStock(write, (await parseStockSync({
      changes: [
        { reason: 'sold', sku: 'M-1', adjust: -1, sequence: 5 }, { id: 'prd_0', set: 3, expect: 4 },
        { sku: 'BAD', set: -1 },
      ],
      source: 'erp', reason: 'count', complete: true, zero_limit: 20,
    })).sync, false),
  ],
  [
    '["syncStock",{"sync":{"changes":[{"sku":"M-1","set":3}],"isAtomic":true,"faulty":[]},'
      + '"isDryRun":false}]',
    async (store, write) => store.syncStock(write, (await parseStockSync({
      atomic: true, changes: [{ sku: 'M-1', set: 3 }],
    })).sync, false),
  ],
  [
    '["deleteProduct",{"target":{"sku":"M-1"},"precondition":{"ifMatch":"*"}}]',
    (store, write) => store.deleteProduct(write, { sku: skuOf('M-1') }, { ifMatch: '*' }),
  ],
  [
    '["createWebhook",{"webhook":{"url":"https://a.example/","description":"Desk","types":'
      + '["created"]}}]',
    async (store, write) => store.createWebhook(write, await parseNewWebhook(
      { types: ['created'], url: 'https://a.example/', description: 'Desk' }, anyUrl,
    )),
  ],
  [
    `["patchWebhook",{"id":${ID},"patch":{"url":"https://b.example/","description":"Till",`
      + '"types":null,"status":"disabled"}}]',
    async (store, write, webhook) => store.patchWebhook(write, webhook, await parseWebhookPatch(
      { status: 'disabled', description: 'Till', url: 'https://b.example/', types: null }, anyUrl,
    )),
  ],
  [
    `["rotateWebhookSecret",{"id":${ID},"overlapMs":3600000}]`,
    (store, write, webhook) =>
      store.rotateWebhookSecret(write, webhook, parseRotation({ overlap: '1h' })),
  ],
  [
    `["replayWebhook",{"id":${ID},"position":2}]`,
    (store, write, webhook) =>
      store.replayWebhook(write, webhook, parseReplay({ position: 2 }, 9)),
  ],
  [
    `["deleteWebhook",{"id":${ID}}]`,
    (store, write, webhook) => store.deleteWebhook(write, webhook),
  ],
  [
    `["createKey",{"sellerId":${ID},"secret":${JSON.stringify(SECRET)},"key":{"name":"test",`
      + '"scopes":["products:read","products:write","stock:write","changes:read",'
      + '"webhooks:write"],"addressRanges":[],"expiresAt":9000000000000},"address":"::1"}]',
    (store, { sellerId, ...context }) =>
      store.createKey(sellerId, SECRET, makeNewKey({ scopes: SCOPES, expiresAt: 9e12 }), context),
  ],
  [
    `["rotateKey",{"key":{"sellerId":${ID},"keyId":${ID}},"secret":${
      JSON.stringify(OTHER_SECRET)},"overlapMs":60000,"address":"::1"}]`,
    (store, { sellerId, keyId, ...context }) =>
      store.rotateKey({ sellerId, keyId }, OTHER_SECRET, 60_000, context),
  ],
];

/** The text of a mutation with sorted members. */
function sortText(text: string): string {
  const sort = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sort);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) =>
      (one < other ? -1 : 1)).map(([name, member]) => [name, sort(member)]));
  };
  return JSON.stringify(sort(JSON.parse(text)));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').toUpperCase();
}

describe('the fingerprint', () => {
  const stored: string[] = [];
  /** Random. */
  let actor: Awaited<ReturnType<typeof makeActor>>;
  let webhookId = 0 as WebhookId;
  let folder = '';
  const textOf = (text: string): string =>
    (text.includes('Webhook') ? text.replace(`{"id":${ID}`, `{"id":${webhookId}`) : text)
      .replace(`"sellerId":${ID}`, `"sellerId":${actor.sellerId}`);
  const run = (store: Store, index: number): Promise<unknown> => {
    const write = { ...actor, idempotency: { key: 'k', part: index }, address: '::1' };
    return (CALLS[index]?.[1] ?? assert.fail())(store, write, webhookId);
  };

  before(async () => {
    folder = join(makeFolder(processEnd), 'data');
    const store = await openSqliteStore({ folder, clock: makeClock() });
    try {
      actor = await makeActor(store);
      for (const index of CALLS.keys()) {
        await run(store, index);
        const [webhook] = await store.listWebhooks(
          actor.sellerId, { after: undefined, limit: 1 },
        );
        webhookId = webhook?.id ?? webhookId;
      }
    } finally {
      await store.close();
    }
    const db = new DatabaseSync(join(folder, 'catalogue.db'));
    const rows = db.prepare('SELECT hex(fingerprint) AS hex FROM idempotency ORDER BY part').all();
    stored.push(...rows.map(({ hex }) => String(hex)));
    // As an earlier version has stored them.
    const update = db.prepare(
      'UPDATE idempotency SET fingerprint = unhex(:hash) WHERE part = :part',
    );
    for (const [part, [text]] of CALLS.entries()) update.run({ hash: hashOf(textOf(text)), part });
    db.close();
  });

  for (const [index, [text]] of CALLS.entries()) {
    test(`is the hash of ${text}, sorted`, () => {
      assert.equal(stored[index], hashOf(sortText(textOf(text))));
    });
  }

  test('is recognized if an earlier version has stored it, and rejected if it is of another call',
    async () => {
      const store = await openSqliteStore({ folder, clock: makeClock() });
      try {
        const { position } = await store.findSeller(actor.sellerId) ?? assert.fail();
        for (const index of CALLS.keys()) await run(store, index);
        assert.equal((await store.findSeller(actor.sellerId))?.position, position);
        const write = { ...actor, idempotency: { key: 'k', part: 0 } };
        const other = parseNewProduct({ ...MUG, stock: 8 }, EUR);
        await assert.rejects(store.createProduct(write, other), { code: 'idempotency_mismatch' });
      } finally {
        await store.close();
      }
    });
});
