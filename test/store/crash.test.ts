/**
 * `kill -9` under load, round after round: no write that was answered is ever lost, and one that
 * was not is made once when it is sent again.
 */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { generateApiKey, hashApiKey } from '../../src/domain/api-key.ts';
import { makeRandom } from '../domain/random.ts';
import { type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { type Answer, send } from '../support/http.ts';
import { countTo, makeNewKey, makeSeller } from './contract/fixture.ts';
import { openStore } from './sqlite/open.ts';

const ROUNDS = 20;
const CONNECTIONS = 8;
const PATH = '/api/v1/products';

test('loses no answered write to kill -9 under load', { timeout: 60_000 }, async (t) => {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats its kills`);
  const random = makeRandom(seed);
  const folder = join(makeFolder(t), 'data');
  const key = await prepareSeller(t, folder);
  const answered = new Map<string, string>();
  const unanswered = new Set<string>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const serving = await serve(t, folder);
    await assertAllThere(serving.port, key, answered);
    await sendAgain(serving.port, key, answered, unanswered);
    const target = 50 + random.below(400);
    await killUnderLoad(serving, key, { answered, unanswered }, `R${round}`, target);
  }
  const size = readHistory(folder);
  const serving = await serve(t, folder);
  assert.equal(await assertAllThere(serving.port, key, answered), size);
  t.diagnostic(`${ROUNDS} kills, ${answered.size} answered, ${size} kept`);
});

/** One seller with a key, which is returned. */
async function prepareSeller(t: TestContext, folder: string): Promise<string> {
  const store = await openStore(t, { folder });
  const { id } = await makeSeller(store);
  const key = generateApiKey();
  await store.createKey(id, hashApiKey(key), makeNewKey());
  await store.close();
  return key;
}

function serve(t: TestContext, folder: string): Promise<Serving> {
  return startServing(t, ['--data', folder, '--rate-limit', '0']);
}

/** By SKU: what was answered, and what was sent and not answered. */
interface Sent {
  readonly answered: Map<string, string>;
  readonly unanswered: Set<string>;
}

/** Creates products over several connections at full speed; kills after `target` answers. */
async function killUnderLoad(
  serving: Serving, key: string, { answered, unanswered }: Sent, prefix: string, target: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const state = { count: 0, sent: 0, isKilled: false };
  const work = async (): Promise<void> => {
    while (!state.isKilled) {
      state.sent += 1;
      const sku = `${prefix}-${state.sent}`;
      unanswered.add(sku);
      const json = await create(agent, serving.port, key, sku);
      if (json === undefined) return; // the connection broke
      unanswered.delete(sku);
      answered.set(sku, json);
      state.count += 1;
      if (state.count === target) {
        state.isKilled = true;
        serving.child.kill('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  assert.ok(state.isKilled, `${state.count} of ${target} answers: ${serving.notes()}`);
  assert.equal(await serving.stop('SIGKILL'), null);
  agent.destroy();
}

/** What was not answered is sent again and made once; what was is answered as it was. */
async function sendAgain(
  port: number, key: string, answered: Map<string, string>, unanswered: Set<string>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  await Promise.all([...unanswered].map(async (sku) => {
    answered.set(sku, await create(agent, port, key, sku) ?? assert.fail('no answer'));
  }));
  unanswered.clear();
  const last = [...answered].slice(-20);
  assert.deepEqual(
    await Promise.all(last.map(([sku]) => create(agent, port, key, sku))),
    last.map(([, json]) => json),
  );
  agent.destroy();
}

/** The body of a 201, undefined where the connection broke first. */
function create(
  agent: Agent, port: number, key: string, sku: string,
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const headers = {
    'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': sku,
  };
  const outgoing = request({ host: '127.0.0.1', port, path: PATH, method: 'POST', agent, headers });
  outgoing.on('error', () => resolve(undefined));
  outgoing.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => { text += chunk; });
    response.on('error', () => resolve(undefined));
    response.on('end', () => {
      if (response.statusCode === 201) resolve(text);
      else reject(new Error(`${response.statusCode}: ${text}`));
    });
  });
  outgoing.end(JSON.stringify({
    name: `Mug ${sku} “ü”`, category: 'Kitchen', sku, price: 12.34, stock: 5,
  }));
  return promise;
}

/** Walks the whole list: all that was answered is in it as it was answered. Returns its length. */
async function assertAllThere(
  port: number, key: string, answered: ReadonlyMap<string, string>,
): Promise<number> {
  const listed = new Map<string, unknown>();
  let count = 0;
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`;
    const path = `${PATH}?limit=1000${query}`;
    const answer: Answer = await send(port, { path, headers: { 'x-api-key': key } });
    assert.equal(answer.status, 200, answer.text);
    const { products, next_cursor: next } = answer.json();
    for (const product of products) listed.set(product.sku, product);
    count += products.length;
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  assert.equal(listed.size, count, 'SKUs are unique');
  for (const [sku, json] of answered) assert.deepEqual(listed.get(sku), JSON.parse(json));
  return count;
}

/** Asserts that the history is gapless and agrees with the products; returns its length. */
function readHistory(folder: string): number {
  const db = new DatabaseSync(join(folder, 'catalogue.db'), { readOnly: true });
  try {
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    const [seller] = db.prepare('SELECT position FROM seller').all();
    const size = Number(seller?.['position']);
    const positions = db.prepare('SELECT position FROM change ORDER BY position').all();
    assert.deepEqual(positions.map((row) => row['position']), countTo(size));
    const rows = db.prepare(`
      SELECT count(*) AS pairs, count(DISTINCT p.sku) AS skus FROM product AS p JOIN change AS c
      ON c.seller_id = p.seller_id AND c.product_id = p.id AND c.position = p.position
      WHERE c.type = 'created' AND json_extract(c.product, '$.sku') = p.sku`).get();
    assert.deepEqual({ ...rows }, { pairs: size, skus: size });
    assert.equal(db.prepare('SELECT count(*) AS rows FROM product').get()?.['rows'], size);
    return size;
  } finally {
    db.close();
  }
}
