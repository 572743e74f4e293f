/** Two `serve` processes on one database: each sees the changes of the other immediately. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test, type TestContext } from 'node:test';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { apiClient } from '../api-client.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { PASSWORD } from '../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../support/postgres/shared-server.ts';
import { openEvents } from '../../features/changes/event-stream.ts';
import { makeAccount, PageClient } from '../../features/portal/page-client.ts';
import { makeProduct } from '../../support/server.ts';
import { type CommandDatabase, makeDatabase } from './setup.ts';

describe('two servers on one database', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  before(async () => { server = await sharePostgres(); });

  async function prepare(t: TestContext, ...flags: readonly string[]) {
    const folder = makeFolder(t);
    const database = await makeDatabase(server, folder);
    await database.succeed('migrate');
    const start = () => startServing(t, [...database.flags, ...flags], database.environment);
    const [one, two] = await Promise.all([start(), start()]);
    return { database, folder, one, two, start };
  }

  async function makeShop(t: TestContext, { url, keyFile }: CommandDatabase, folder: string) {
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
    const store = await openStore({ database: url, serverKeyFile: keyFile, passwordFile });
    t.after(() => store.close());
    return makeAccount(store);
  }

  test('say which limits their role lacks behind a pooler in transaction mode', async (t) => {
    const database = await makeDatabase(server, makeFolder(t));
    await database.succeed('migrate');
    const [flag = '', url, ...others] = database.flags;
    const flags = [flag, `${url}?pool_mode=transaction`, ...others];
    const serving = await startServing(t, flags, database.environment);
    await serving.waitForNote(/Sessions behind the pooler have no idle_in_trans.*ALTER ROLE/);
  });

  test('show each other\'s changes, feeds, live events and sessions', async (t) => {
    const { database, folder, one, two } = await prepare(t);
    const shop = await makeShop(t, database, folder);
    const [first, second] = [apiClient(one.port, shop.key), apiClient(two.port, shop.key)];
    const events = await openEvents(t, two.port, shop);
    const created = await first('POST', 'products', makeProduct());
    assert.equal(created.status, 201, created.text);
    const { id } = created.json();
    const read = await second('GET', `products/${id}`);
    assert.deepEqual([read.status, read.json()], [200, created.json()]);
    await events.reach(1);
    assert.equal(events.events.at(-1)?.change?.type, 'created');
    const changed = await second('PATCH', `products/${id}`, { stock: 3 });
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await first('GET', `products/${id}`)).json().stock, 3);
    const feed = (await first('GET', 'changes')).json();
    assert.deepEqual(feed.changes.map(({ position }: { position: number }) => position), [1, 2]);

    const browser = new PageClient(one.port);
    await browser.get('/portal/sign-in');
    const signedIn = await browser.submit({ email: shop.email, password: shop.password });
    assert.equal(signedIn.status, 303, signedIn.text);
    const elsewhere = new PageClient(two.port);
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
    assert.equal((await elsewhere.get('/portal/products')).status, 200);

    const { id: keyId } = JSON.parse(await database.succeed('key', 'list', '--json')).keys[0];
    await database.succeed('key', 'revoke', keyId);
    for (const node of [first, second]) assert.equal((await node('GET', 'products')).status, 401);
  });

  test('share the rate limit of a key', async (t) => {
    const { database, folder, one, two } = await prepare(t, '--rate-limit', '40');
    const { key } = await makeShop(t, database, folder);
    const nodes = [apiClient(one.port, key), apiClient(two.port, key)];
    const startedAt = performance.now();
    let answered = 0;
    for (let n = 0; n < 80; n += 1) {
      const { status } = await (nodes[n % 2] ?? assert.fail())('GET', 'products?limit=1');
      assert.ok(status === 200 || status === 429, String(status));
      if (status === 200) answered += 1;
    }
    const refilled = 40 * (performance.now() - startedAt) / MINUTE_MS;
    assert.ok(answered >= 36 && answered <= 44 + refilled, `${answered} of 40 a minute`);
  });

  test('stop and start one after the other, and keep everything', async (t) => {
    const { database, folder, one, two, start } = await prepare(t);
    const { key } = await makeShop(t, database, folder);
    const { id } = (await apiClient(one.port, key)('POST', 'products', makeProduct())).json();
    assert.equal(await one.stop('SIGTERM'), 0);
    assert.equal((await apiClient(two.port, key)('GET', `products/${id}`)).status, 200);
    const again = await start();
    assert.equal(await two.stop('SIGTERM'), 0);
    assert.equal((await apiClient(again.port, key)('GET', `products/${id}`)).status, 200);
    assert.equal(await again.stop('SIGTERM'), 0);
    assert.doesNotMatch(again.notes(), /error/i);
  });
});
