/**
 * A transaction that the server executes after its connection was lost: the network may delay what
 * was sent, while the store asks on another connection whether the transaction was committed.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { STALL_TIMEOUT_MS } from '../../../src/http/limits.ts';
import { POSTGRES_OUTCOME_LIMIT_MS } from '../../../src/store/postgres/limits.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import {
  POSTGRES_ANSWER_TIMEOUT_MS, POSTGRES_QUEUE_TIMEOUT_MS,
} from '../../../src/store/postgres/wire/limits.ts';
import { makeClock } from '../../support/clock.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { TEST_KEY } from '../../support/postgres/server.ts';
import { borrowDatabase, sharePostgres } from '../../support/postgres/shared-server.ts';
import { makeActor, makeNewProduct, readAll } from '../contract/fixture.ts';

const COMMITTED = 'COMMIT\0';

/** A chunk that was sent on a connection, and is held back. */
interface Held {
  readonly upstream: Socket;
  readonly chunk: Buffer;
}

/**
 * Relays connections. After `cutNext`, it holds what a client sends next, and closes the connection
 * of that client. The server gets it after the next commit, before the response to that commit
 * reaches its client.
 */
class HoldingRelay {
  readonly #servers = createServer((client) => this.#relay(client));
  readonly #upstreamPort: number;
  #isCutNext = false;
  #held: Held | undefined;
  readonly #clients = new Set<Socket>();
  #onRefused: (() => void) | undefined;
  /** Resolves with the server's response to the held chunk. */
  readonly late = Promise.withResolvers<string>();

  constructor(upstreamPort: number) {
    this.#upstreamPort = upstreamPort;
  }

  async listen(t: TestContext): Promise<number> {
    this.#servers.listen(0, '127.0.0.1');
    await once(this.#servers, 'listening');
    t.after(() => this.#servers.close());
    return (this.#servers.address() as AddressInfo).port; // it listens on a port
  }

  cutNext(): void {
    this.#isCutNext = true;
  }

  /** Closes all connections once a client sends something, and each new one after that. */
  cutForever(onRefused: () => void): void {
    this.#onRefused = onRefused;
  }

  #relay(client: Socket): void {
    if (this.#onRefused && this.#clients.size === 0) {
      client.destroy();
      this.#onRefused();
      return;
    }
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
    const upstream = connect(this.#upstreamPort, '127.0.0.1');
    client.on('error', () => {}).on('data', (chunk: Buffer) => {
      if (this.#onRefused) {
        for (const socket of this.#clients) socket.destroy();
        this.#clients.clear();
      } else if (this.#isCutNext) {
        this.#isCutNext = false;
        this.#held = { upstream, chunk };
        client.destroy();
      } else upstream.write(chunk);
    }).on('close', () => {
      if (this.#held?.upstream !== upstream) upstream.destroy();
    });
    upstream.on('error', () => {}).on('close', () => client.destroy())
      .on('data', async (chunk: Buffer) => {
        if (this.#held && chunk.includes(COMMITTED)) await this.#release(this.#held);
        if (!client.destroyed) client.write(chunk);
      });
  }

  async #release({ upstream, chunk }: Held): Promise<void> {
    this.#held = undefined;
    upstream.write(chunk);
    const [answer] = await once(upstream, 'data');
    this.late.resolve(String(answer));
    upstream.destroy();
  }
}

describe('a transaction that is executed after its connection was lost', {
  skip: NO_POSTGRES,
}, () => {
  async function prepareStore(t: TestContext) {
    const server = await sharePostgres();
    const { database } = await borrowDatabase(t);
    const options = server.connectOptions(database);
    const relay = new HoldingRelay(server.port);
    const port = await relay.listen(t);
    const servers = [{ host: '127.0.0.1', port, sslMode: 'disable' }] as const;
    const connectOptions = { ...options, servers };
    const clock = makeClock();
    const store = await openPostgresStore({ connect: connectOptions, key: TEST_KEY, clock });
    t.after(() => store.close());
    const actor = await makeActor(store);
    const product = makeNewProduct({ stock: 5 });
    await store.createProduct(actor, product); // from now on, this node caches the seller
    return { relay, clock, store, actor, product };
  }

  test('does not create a product twice, or reject it as existing', async (t) => {
    const { relay, store, actor } = await prepareStore(t);
    relay.cutNext();
    const { position } = await store.createProduct(actor, makeNewProduct());
    assert.equal(position, 2);
    assert.match(await relay.late.promise, /null value in column "position"/);
    assert.equal((await readAll(store, actor.sellerId)).length, 2);
  });

  test('does not adjust stock twice', async (t) => {
    const { relay, store, actor, product: { sku } } = await prepareStore(t);
    const sync = { isAtomic: false, completion: undefined, source: undefined, reason: undefined };
    const sell = () =>
      store.syncStock(actor, { ...sync, changes: [{ sku, adjust: -1 }] }, false);
    await sell(); // from now on, this node caches the level
    relay.cutNext();
    await sell();
    assert.match(await relay.late.promise, /null value in column "position"/);
    const [product] = await readAll(store, actor.sellerId);
    assert.deepEqual([product?.stock, product?.position], [3, 3]);
  });

  test('is looked up for some time, and then its outcome is unknown', async (t) => {
    const { relay, clock, store, actor } = await prepareStore(t);
    relay.cutForever(() => { clock.now += POSTGRES_OUTCOME_LIMIT_MS; });
    const startedAt = performance.now();
    await assert.rejects(store.createProduct(actor, makeNewProduct()), /outcome is unknown/);
    assert.ok(performance.now() - startedAt < 10_000, 'it looked as often as without that time');
  });

  test('has an outcome before the server closes the connection of its client', () => {
    const longestMs = POSTGRES_ANSWER_TIMEOUT_MS + POSTGRES_OUTCOME_LIMIT_MS
      + POSTGRES_QUEUE_TIMEOUT_MS;
    assert.ok(longestMs < STALL_TIMEOUT_MS);
  });
});
