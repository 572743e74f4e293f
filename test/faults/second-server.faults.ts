/** Several servers on one folder: one is killed or blocks the others, which recover. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { makeRandom } from '../domain/random.ts';
import { countTo } from '../store/contract/fixture.ts';
import { FILE_NAME } from '../store/sqlite/engine/read-file.ts';
import { startReading } from './reads.ts';
import { check, checkFiles, checkWebhook, openShop, serve, type Shop, work } from './shop.ts';

const KILLS = 12;

test('continues while another server on its folder is killed, with the same data', async (t) => {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats its kills`);
  const random = makeRandom(seed);
  const shop = await openShop(t, random);
  let [one, other] = [await serve(t, shop), await serve(t, shop)];
  let answers = 0;
  for (const _ of countTo(KILLS)) {
    // Half of the clerks work at each; the one that is killed is the one that may deliver, or not.
    const halves = [shop.clerks.slice(0, 4), shop.clerks.slice(4)] as const;
    const enough = new AbortController();
    const target = 20 + random.below(100);
    const stays = startReading(other.port, shop.key);
    const [killed, stayed] = await Promise.all([
      work({ ...shop, clerks: halves[0] }, one, { onAnswer(count) {
        if (count === target) one.child.kill('SIGKILL');
      } }).finally(() => enough.abort()),
      work({ ...shop, clerks: halves[1] }, other, { end: enough.signal }),
    ]);
    await stays.end(t);
    assert.equal(await one.ended, null);
    assert.equal(other.child.exitCode, null, other.notes());
    answers += killed + stayed;
    await check(shop, other);
    one = await serve(t, shop);
    await check(shop, one);
    if (random.below(2) === 0) [one, other] = [other, one];
  }
  await checkWebhook(shop);
  assert.deepEqual([await one.stop('SIGTERM'), await other.stop('SIGTERM')], [0, 0]);
  checkFiles(shop);
  t.diagnostic(`${KILLS} kills of one of two servers, ${answers} answers kept by both`);
});

test('rejects writes as busy while another process locks the database, and keeps reading',
  async (t) => {
    const shop = await openShop(t, makeRandom(7));
    const serving = await serve(t, shop);
    for (const begin of ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE']) {
      // Of this round only.
      const agent = new Agent({ keepAlive: true });
      const connection = { port: serving.port, key: shop.key, agent };
      const release = await hold(t, shop, begin);
      const reading = startReading(serving.port, shop.key);
      // Writes wait for five seconds, and are rejected then.
      const outcomes = await Promise.all(shop.clerks.map((clerk) => clerk.work(connection)));
      assert.deepEqual(outcomes, shop.clerks.map(() => ({ rejected: 503 })));
      await reading.end(t);
      await release();
      const then = await Promise.all(shop.clerks.map((clerk) => clerk.work(connection)));
      assert.deepEqual(then, shop.clerks.map(() => 'done'));
      agent.destroy();
      await check(shop, serving);
    }
    await checkWebhook(shop);
    assert.equal(await serving.stop('SIGTERM'), 0);
    checkFiles(shop);
  });

/** Starts a transaction in another process, and returns the function that ends it. */
async function hold(
  t: TestContext, { folder }: Shop, begin: string,
): Promise<() => Promise<void>> {
  const file = JSON.stringify(join(folder, FILE_NAME));
  const child = spawn(process.execPath, ['-e', `
    const { DatabaseSync } = require('node:sqlite');
    const db = new DatabaseSync(${file}, { timeout: 5000 });
    db.exec('${begin}');
    console.log('held');
    process.stdin.resume().on('end', () => { db.exec('ROLLBACK'); db.close(); });
  `], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => { child.kill('SIGKILL'); });
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end();
    await once(child, 'exit');
  };
}
