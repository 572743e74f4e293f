/** Writes to catalogues on PostgreSQL: several nodes, failing mutations, and lost connections. */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import type { KeyId, ProductId, SellerId } from '../../../../src/domain/id.ts';
import {
  type ConnectOptions, openConnection,
} from '../../../../src/store/postgres/connect/open-connection.ts';
import type { FindPlace } from '../../../../src/store/postgres/engine/placement.ts';
import { productReads } from '../../../../src/store/postgres/catalogue/product-reads.ts';
import {
  CatalogueTransactions,
} from '../../../../src/store/postgres/engine/catalogue-transactions.ts';
import { CatalogueWriter } from '../../../../src/store/rules/working-set/catalogue-writer.ts';
import { searchProducts } from '../../../../src/store/postgres/search/product-search.ts';
import { queryOf } from '../../../../src/store/postgres/sql.ts';
import { Connection } from '../../../../src/store/postgres/wire/connection.ts';
import { Pool } from '../../../../src/store/postgres/wire/pool.ts';
import {
  mutationMethods,
} from '../../../../src/store/rules/mutations/mutation-methods.ts';
import { describeCall, type RunMutation } from '../../../../src/store/rules/mutations/registry.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { borrowDatabase, sharePostgres } from '../../../support/postgres/shared-server.ts';
import { recordStatements } from '../../../support/postgres/statement-recorder.ts';
import { countTo, makeNewProduct } from '../../contract/fixture.ts';

// The tests insert these.
const actor = { sellerId: 1 as SellerId, keyId: 9 as KeyId };
const other = { ...actor, sellerId: 2 as SellerId };
const makeSync = (changes: readonly object[]) =>
  ({ changes, isAtomic: false, completion: undefined, source: undefined, reason: undefined });

describe('catalogues on PostgreSQL', { skip: NO_POSTGRES }, () => {
  /** A database with two sellers, and a function that opens a node on it. */
  async function prepare(t: TestContext) {
    const options = await borrowDatabase(t);
    const pool = new Pool({ open: () => openConnection(options), max: 4 });
    t.after(() => pool.close());
    const query = queryOf(pool);
    await query(`INSERT INTO seller (id, name, currency, currency_decimals, created_at)
      SELECT id, 'A shop', 'EUR', 2, 1 FROM unnest($1::bigint[]) AS n (id)`, [1, 2]);
    const open = (through: ConnectOptions = options, findPlace?: FindPlace) =>
      openNode(t, through, findPlace);
    return { options, query, open };
  }

  function openNode(t: TestContext, options: ConnectOptions, findPlace?: FindPlace) {
    const pool = new Pool({ open: () => openConnection(options), max: 8 });
    const commits: number[] = [];
    const now = () => ({ wall: Date.now(), lived: 0 });
    const transactions = new CatalogueTransactions(pool, now, (_, position) => {
      commits.push(position);
    }, findPlace);
    const writer = new CatalogueWriter(transactions);
    t.after(() => writer.close().then(() => pool.close()));
    const run: RunMutation = (name, input, idempotency) => {
      const { scope, rows } = describeCall(name, input, idempotency);
      return writer.run(name as never, input as never, scope, rows); // only those of catalogues
    };
    return { ...mutationMethods(run), ...productReads(queryOf(pool)), pool, commits };
  }

  test('gives the changes of several nodes positions without gaps', async (t) => {
    const { open, query } = await prepare(t);
    const nodes = [open(), open(), open()];
    const made = await Promise.all(countTo(300).map((n) =>
      nodes[n % 3]?.createProduct(n % 2 ? actor : other, makeNewProduct({ sku: `S-${n}` }))));
    for (const who of [actor, other]) {
      const rows = await query(`
        SELECT position, product_id FROM change WHERE seller_id = $1 ORDER BY position`,
      who.sellerId);
      assert.deepEqual(rows.map(({ position }) => position), countTo(150));
    }
    assert.equal(new Set(made.map((one) => one?.json)).size, 300);
    const products = await query(`
      SELECT count(*) AS n, count(DISTINCT (seller_id, id)) AS ids FROM product`);
    assert.deepEqual(products, [{ n: 300, ids: 300 }]);
  });

  test('writes sellers of one placement together, each with its own statements', async (t) => {
    const { open } = await prepare(t);
    const places: readonly [FindPlace, number][] = [[() => 7, 1], [(sellerId) => sellerId, 2]];
    for (const [findPlace, roundTrips] of places) {
      const node = open(undefined, findPlace);
      const create = () => Promise.all([actor, other].map((who) =>
        node.createProduct(who, makeNewProduct())));
      await create(); // locked: the node does not know the sellers yet
      const recorder = recordStatements();
      t.after(() => recorder.restore());
      await create();
      assert.equal(recorder.countRoundTrips(), roundTrips);
      assert.deepEqual(recorder.take().filter(({ text }) => /unnest|ANY/.test(text)), []);
      recorder.restore();
    }
  });

  test('a mutation that violates a constraint fails alone', async (t) => {
    const { open } = await prepare(t);
    const node = open();
    await node.createProduct(actor, makeNewProduct({ sku: 'TAKEN' }));
    const outcomes = await Promise.allSettled([
      node.createProduct(actor, makeNewProduct({ sku: 'A' })),
      node.createProduct(actor, { ...makeNewProduct({ sku: 'B' }), stock: -1 }),
      node.createProduct(actor, makeNewProduct({ sku: 'TAKEN' })),
      node.createProduct(actor, makeNewProduct({ sku: 'C' })),
      node.createProduct({ ...actor, sellerId: 7 as SellerId }, makeNewProduct()),
      node.createProduct(actor, makeNewProduct({ sku: 'C' })),
    ]);
    assert.deepEqual(outcomes.map((one) =>
      (one.status === 'fulfilled' ? one.value.position : one.reason.code)),
    [2, 'internal', 'sku_taken', 3, 'not_found', 'sku_taken']);
  });

  test('gives a SKU to one of two nodes only', async (t) => {
    const { open } = await prepare(t);
    const nodes = [open(), open()];
    for (const n of countTo(5)) {
      const outcomes = await Promise.allSettled(nodes.map((node) =>
        node.createProduct(actor, makeNewProduct({ sku: `S-${n}` }))));
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    }
  });

  test('lets a statement swap SKUs between products, in any row order', async (t) => {
    const { open, query } = await prepare(t);
    const node = open();
    for (const sku of ['A', 'B']) await node.createProduct(actor, makeNewProduct({ sku }));
    await query(`UPDATE product SET sku = CASE sku WHEN 'A' THEN 'B' ELSE 'A' END`);
    const rows = await query('SELECT sku FROM product ORDER BY id');
    assert.deepEqual(rows.map(({ sku }) => sku), ['B', 'A']);
  });

  test('replays an outcome that another node has recorded', async (t) => {
    const { open } = await prepare(t);
    const [one, two] = [open(), open()];
    const write = { ...actor, idempotency: { key: 'K', part: 0 } };
    const product = makeNewProduct({ sku: 'ONCE' });
    const [first, again] = await Promise.all([
      one.createProduct(write, product), two.createProduct(write, product),
    ]);
    assert.deepEqual({ ...first, isReplay: false }, { ...again, isReplay: false });
    assert.deepEqual([first.isReplay, again.isReplay].sort(), [false, true]);
    await assert.rejects(two.createProduct(write, makeNewProduct({ sku: 'OTHER' })),
      { code: 'idempotency_mismatch' });
  });

  test('adjusts the stock level that any node has written', async (t) => {
    const { open } = await prepare(t);
    const nodes = [open(), open()];
    const products = await Promise.all(['A', 'B'].map((sku) =>
      nodes[0]?.createProduct(actor, makeNewProduct({ sku, stock: 0 }))));
    const sync = makeSync([
      { sku: 'A', adjust: 1 }, { sku: 'B', adjust: 2 }, { sku: 'C', set: 1 },
      { sku: 'A', adjust: 1 },
    ]);
    const synced = await Promise.all(countTo(40).map((n) =>
      nodes[n % 2]?.syncStock(actor, sync as never, false)));
    assert.deepEqual(synced[0]?.results.map(({ status }) => status),
      ['ok', 'ok', 'not_found', 'ok']);
    const stocks = await Promise.all(products.map((one) =>
      nodes[1]?.findProduct(actor.sellerId, { id: one?.id ?? 0 as ProductId })));
    assert.deepEqual(stocks.map((one) => one?.stock), [80, 80]);
    assert.deepEqual(stocks.map((one) => one?.position).sort(), [121, 122]);
  });

  test('rejects all of an atomic sync, and caches none of its levels', async (t) => {
    const { open } = await prepare(t);
    const node = open();
    await node.createProduct(actor, makeNewProduct({ sku: 'A', stock: 5 }));
    const run = (changes: readonly object[], isAtomic: boolean) =>
      node.syncStock(actor, { ...makeSync(changes), isAtomic } as never, false);
    const [first, rejected, last] = await Promise.all([
      run([{ sku: 'A', adjust: 1 }], false),
      run([{ sku: 'A', adjust: 10 }, { sku: 'NONE', set: 1 }], true),
      run([{ sku: 'A', adjust: 1 }], false),
    ]);
    assert.equal(rejected?.rejection, 'failures');
    assert.deepEqual([first, last].map((one) => one?.results[0]?.stock), [6, 7]);
  });

  test('rejects nothing because of a cached level that another node has changed', async (t) => {
    const { open } = await prepare(t);
    const [one, two] = [open(), open()];
    await one.createProduct(actor, makeNewProduct({ sku: 'A', stock: 5 }));
    const sync = async (node: typeof one, change: object) => {
      const { results } = await node.syncStock(
        actor, makeSync([{ sku: 'A', ...change }]) as never, false,
      );
      return results[0]?.status;
    };
    assert.equal(await sync(one, { set: 50 }), 'ok');
    assert.equal(await sync(two, { set: 1 }), 'ok');
    assert.equal(await sync(one, { expect: 1, adjust: 1 }), 'ok');
  });

  test('reads what a stocktake sets to 0 without a lock, and only at last with one', async (t) => {
    const { open, query } = await prepare(t);
    const node = open();
    await Promise.all(countTo(700).map((n) =>
      node.createProduct(actor, makeNewProduct({ sku: `S-${n}`, stock: 2 }))));
    const completion = { zeroLimitPercent: 100 };
    const take = () => node.syncStock(actor,
      { ...makeSync([{ sku: 'S-1', set: 9 }]), completion } as never, false);
    const recorder = recordStatements();
    t.after(() => recorder.restore()); // which also ends what follows
    const { run } = Connection.prototype;
    let snapshots = 0;
    let isMoving = true;
    Connection.prototype.run = async function move(this: Connection, ...args) {
      const results = await run.apply(this, args);
      if (!args[0][0]?.text.includes('REPEATABLE READ')) return results;
      snapshots += 1;
      // Another node writes after each snapshot.
      if (isMoving) await query('UPDATE seller SET position = position + 1 WHERE id = 1');
      return results;
    };
    const single = makeSync([{ sku: 'O', adjust: 1 }]);
    const [first, beside] = await Promise.all([
      take(), node.syncStock(other, { ...single, source: 'shop' } as never, false),
    ]);
    assert.equal(beside?.results[0]?.status, 'not_found'); // of the same transaction
    assert.deepEqual([first.zeroed, first.results[0]?.stock, first.position], [699, 9, 1_406]);
    assert.equal(snapshots, 6, 'for both sellers, and then for the large one');
    const texts = recorder.take().map(({ text }) => text);
    const locked = texts.slice(texts.findIndex((text) => text.includes('FOR UPDATE')));
    assert.ok(locked.some((text) => /^FETCH \d+ FROM/.test(text)), 'in pages');
    isMoving = false;
    await query('UPDATE product SET stock = 2 WHERE seller_id = 1');
    assert.equal((await take()).zeroed, 699);
    assert.equal(snapshots, 7);
    assert.ok(!recorder.take().some(({ text }) => text.includes('FOR UPDATE')));
  });

  test('reads a page together with the position of its catalogue', async (t) => {
    const { open } = await prepare(t);
    const node = open();
    for (const n of countTo(5)) {
      await node.createProduct(actor, makeNewProduct({ sku: `S-${n}`, name: `Mug ${n} 100%` }));
    }
    const search = async (filter: object) => {
      const sort = { by: 'sku', isDescending: true } as const;
      const query = { filter, sort, after: undefined, limit: 2 };
      return searchProducts(queryOf(node.pool), actor.sellerId, query, 5);
    };
    const { products, hasMore, position } = await search({ q: 'MUG' });
    assert.deepEqual(products.map(({ sku }) => sku), ['S-5', 'S-4']);
    assert.deepEqual([hasMore, position], [true, 5]);
    assert.equal((await search({ q: '_00%', changedSince: 3 })).products.length, 0);
    assert.equal((await search({ q: '00%', changedSince: 4 })).products.length, 1);
    assert.deepEqual(await node.listProducts(5 as SellerId, { after: undefined, limit: 2 }),
      { products: [], hasMore: false, position: 0 });
  });

  test('finds out whether a commit took effect whose response was lost', async (t) => {
    const { open, options, query } = await prepare(t);
    const server = await sharePostgres();
    const proxy = await openProxy(t, server.port);
    const servers = [{ host: '127.0.0.1', port: proxy.port, sslMode: 'disable' }] as const;
    const node = open({ ...server.connectOptions(options.database), servers });
    await node.createProduct(actor, makeNewProduct({ sku: 'FIRST' }));
    for (const n of countTo(10)) {
      proxy.cutNextAnswer();
      await node.createProduct(actor, makeNewProduct({ sku: `CUT-${n}` }));
    }
    assert.equal(proxy.cuts(), 10);
    const rows = await query('SELECT sku FROM product WHERE seller_id = 1 ORDER BY id');
    assert.equal(rows.length, 11);
    assert.deepEqual(await query('SELECT position FROM seller WHERE id = 1'), [{ position: 11 }]);
  });
});

/** Forwards to a server; on request it withholds the answer to the next pipeline, and closes. */
async function openProxy(t: TestContext, port: number) {
  let isArmed = false;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let isCut = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => { client.destroy(); upstream.destroy(); });
    }
    client.on('data', (chunk: Buffer) => {
      upstream.write(chunk);
      if (!isArmed) return;
      isArmed = false;
      isCut = true;
      cuts += 1;
    });
    upstream.on('data', (chunk: Buffer) => {
      if (isCut) client.destroy();
      else client.write(chunk);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  // The cast: it listens on TCP.
  const { port: own } = proxy.address() as { readonly port: number };
  return { port: own, cutNextAnswer: () => { isArmed = true; }, cuts: () => cuts };
}
