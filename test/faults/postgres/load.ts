/**
 * A write load on a PostgreSQL store: two nodes and three sellers; both nodes write to one of them.
 * After a fault, the data is checked against the acknowledged writes.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { SellerId } from '../../../src/domain/id.ts';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';
import { migrate } from '../../../src/store/postgres/schema/migrate.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import type { Row } from '../../../src/store/postgres/wire/values.ts';
import { chainHash, deriveAuditKey, isAuthentic } from '../../../src/store/rules/audit.ts';
import { mapHashedEvent, mapSegment } from '../../../src/store/sql/accounts/audit.ts';
import { readBytes, type Row as SharedRow } from '../../../src/store/sql/sql.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRandom, type Random } from '../../domain/random.ts';
import { countTo, eventually, makeActor, readAll } from '../../store/contract/fixture.ts';
import { TEST_KEY } from '../../support/postgres/server.ts';
import { type Counts, StoreClerk } from './store-clerk.ts';

const CLERKS_PER_SELLER = 4;

export class Load {
  readonly counts: Counts = {
    acknowledged: 0, rejected: 0, codes: new Set(), unknown: { done: 0, undone: 0 },
  };
  readonly random: Random;
  readonly stores: readonly Store[];
  readonly clerks: readonly StoreClerk[];
  #options: ConnectOptions;
  #isStopping = true;
  #working: Promise<unknown> = Promise.resolve();

  private constructor(
    options: ConnectOptions, random: Random, stores: readonly Store[],
    sellers: readonly Awaited<ReturnType<typeof makeActor>>[],
  ) {
    this.#options = options;
    this.random = random;
    this.stores = stores;
    this.clerks = sellers.flatMap((actor, seller) => countTo(CLERKS_PER_SELLER).map((n) => {
      // The first two sellers have a node each, the third has both.
      const store = stores[seller < 2 ? seller : n % 2] ?? assert.fail();
      return new StoreClerk(`${seller}-${n}`, actor, store, random, this.counts);
    }));
  }

  /** The stores connect with `through` to the database of `options`. */
  static async open(
    t: TestContext, options: ConnectOptions, through: ConnectOptions = options,
  ): Promise<Load> {
    const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
    t.diagnostic(`seed ${seed}`);
    const connection = await openConnection(options);
    await migrate(connection, TEST_KEY);
    await connection.close();
    const stores = await Promise.all([1, 2].map(() =>
      openPostgresStore({ connect: through, key: TEST_KEY })));
    const [first = assert.fail()] = stores;
    const sellers = [await makeActor(first), await makeActor(first), await makeActor(first)];
    const load = new Load(options, makeRandom(seed), stores, sellers);
    t.after(async () => {
      await load.pause();
      await Promise.all(stores.map((store) => store.close()));
    });
    return load;
  }

  start(): void {
    assert.ok(this.#isStopping);
    this.#isStopping = false;
    this.#working = Promise.all(this.clerks.map(async (clerk) => {
      while (!this.#isStopping) await clerk.work();
    }));
    this.#working.catch(() => {}); // reported by `pause`
  }

  async pause(): Promise<void> {
    this.#isStopping = true;
    await this.#working;
  }

  /** Waits until so many more mutations of each clerk are acknowledged. */
  async acknowledge(count: number): Promise<void> {
    const before = this.clerks.map(({ acknowledged }) => acknowledged);
    await Promise.race([
      eventually(() => this.clerks.forEach(({ acknowledged }, index) =>
        assert.ok(acknowledged >= (before[index] ?? 0) + count, `${index} has not recovered`))),
      this.#working,
    ]);
  }

  /**
   * Asserts that every acknowledged change exists once, and no change by half. Pauses the load.
   * `options` are those of another server if one has taken over.
   */
  async check(options = this.#options): Promise<void> {
    this.#options = options;
    await this.pause();
    await this.#awaitTransactions();
    await Promise.all(this.clerks.map((clerk) => clerk.settle()));
    for (const sellerId of new Set(this.clerks.map(({ actor }) => actor.sellerId))) {
      await this.#checkSeller(sellerId);
    }
    await this.#checkAudit();
  }

  describe(): string {
    const { acknowledged, rejected, unknown: { done, undone } } = this.counts;
    return `${acknowledged} writes acknowledged, ${rejected} rejected, ${done + undone} unknown, `
      + `of which ${done} were done`;
  }

  async query(text: string): Promise<readonly Row[]> {
    const connection = await openConnection(this.#options);
    const [result] = await connection.run([{ text, values: [] }]);
    await connection.close();
    return result?.rows ?? [];
  }

  /** Waits until the server has finished the transactions of lost connections. */
  async #awaitTransactions(): Promise<void> {
    await eventually(async () => {
      const rows = await this.query(`
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
          AND backend_type = 'client backend'`);
      assert.deepEqual(rows, []);
    });
    await wait(1);
  }

  async #checkSeller(sellerId: SellerId): Promise<void> {
    const clerks = this.clerks.filter(({ actor }) => actor.sellerId === sellerId);
    const [store = assert.fail()] = this.stores;
    const products = await readAll(store, sellerId);
    assert.deepEqual(
      new Map(products.map(({ sku, stock }) => [sku, stock])),
      new Map(clerks.flatMap(({ stocks }) => [...stocks])),
    );
    assert.equal(new Set(products.map(({ sku }) => sku)).size, products.length);
    const total = clerks.reduce((sum, { changes }) => sum + changes, 0);
    const stocks = new Map<number, number>();
    const units = { in: 0, out: 0 };
    let after = 0;
    for (;;) {
      const page = await store.listChanges(sellerId, { after, limit: 1_000 });
      for (const { position, productId, movement } of page.changes) {
        after += 1;
        assert.equal(position, after);
        assert.equal(movement.before, stocks.get(productId) ?? 0);
        stocks.set(productId, movement.after);
        units[movement.after > movement.before ? 'in' : 'out']
          += Math.abs(movement.after - movement.before);
      }
      if (page.next === page.position) break;
    }
    assert.equal(after, total, 'the history has every acknowledged or found change, and no other');
    assert.equal((await store.findSeller(sellerId))?.position, total);
    for (const { id, stock } of products) assert.equal(stocks.get(id), stock);
    const days = await store.listStockDays(sellerId, { since: 0, limit: 100 });
    assert.deepEqual(days.reduce((sum, { unitsIn, unitsOut }) =>
      ({ in: sum.in + unitsIn, out: sum.out + unitsOut }), { in: 0, out: 0 }), units);
    for (const hash of clerks.flatMap(({ keys }) => keys)) {
      assert.equal((await store.findGrant(hash))?.sellerId, sellerId);
    }
    const [row] = await this.query(
      `SELECT count(*) AS keys FROM api_key WHERE seller_id = ${sellerId}`);
    assert.equal(row?.['keys'], 1 + clerks.reduce((sum, { keys }) => sum + keys.length, 0));
  }

  /** Asserts that each audit chain has all numbers, valid hashes and one authentic segment. */
  async #checkAudit(): Promise<void> {
    const key = deriveAuditKey(TEST_KEY);
    const events = await this.query('SELECT * FROM audit_event ORDER BY seller_id, n');
    const segments = await this.query('SELECT * FROM audit_segment ORDER BY seller_id, id');
    assert.ok(events.length > 0);
    for (const segment of (segments as readonly SharedRow[]).map(mapSegment)) {
      const chain = (events as readonly SharedRow[])
        .filter((row) => row['seller_id'] === segment.chain);
      assert.deepEqual([segment.first, segment.last, segment.origin], [1, chain.length, 'start']);
      let hash: Uint8Array = new Uint8Array(32);
      for (const [index, row] of chain.entries()) {
        const event = mapHashedEvent(row);
        assert.equal(event.n, index + 1);
        hash = chainHash(hash, event);
        assert.deepEqual(Buffer.from(readBytes(row, 'hash')), hash);
      }
      assert.ok(isAuthentic(segment, hash, key));
    }
    assert.equal(new Set(segments.map((row) => row['seller_id'])).size, segments.length);
  }
}
