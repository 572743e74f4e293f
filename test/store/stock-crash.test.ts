/**
 * `kill -9` under load of adjustments of stock: those that were not answered are sent again under
 * their Idempotency-Key, and in the end each was made exactly once.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { generateApiKey, hashApiKey } from '../../src/domain/api-key.ts';
import { makeRandom, type Random } from '../domain/random.ts';
import { type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { type Answer, send } from '../support/http.ts';
import { countTo, makeNewKey, makeNewProduct, makeSeller } from './contract/fixture.ts';
import { openStore } from './sqlite/open.ts';
import { readRows } from './sqlite/read-file.ts';

const ROUNDS = 5;
const CONNECTIONS = 8;
const PRODUCTS = 30;
const STOCK = 1_000_000;

/** A call that adjusts stock; its key is the reason of its movements too. */
interface Adjustment {
  readonly key: string;
  readonly changes: readonly { readonly sku: string; readonly adjust: number }[];
  /** What was answered: undefined for nothing yet. */
  answer: Answer | undefined;
}

test('makes every adjustment once, through kill -9 under load', { timeout: 60_000 }, async (t) => {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats its kills`);
  const random = makeRandom(seed);
  const folder = join(makeFolder(t), 'data');
  const key = await prepareCatalogue(t, folder);
  const calls: Adjustment[] = [];
  let unanswered = 0;
  for (const _ of countTo(ROUNDS)) {
    const serving = await serve(t, folder);
    await sendAgain(serving, key, calls, random);
    await killUnderLoad(serving, key, calls, random);
    unanswered += calls.filter(({ answer }) => !answer).length;
  }
  const serving = await serve(t, folder);
  await sendAgain(serving, key, calls, random);
  await assertSums(serving, key, calls);
  assertDays(folder, calls);
  t.diagnostic(`${ROUNDS} kills, ${calls.length} calls, ${unanswered} of them sent again`);
});

/** A seller's products, and the key, which is returned. */
async function prepareCatalogue(t: TestContext, folder: string): Promise<string> {
  const store = await openStore(t, { folder });
  const { id: sellerId } = await makeSeller(store);
  const key = generateApiKey();
  const { id: keyId } = await store.createKey(sellerId, hashApiKey(key), makeNewKey());
  const products = countTo(PRODUCTS).map((n) => makeNewProduct({ sku: `S-${n}`, stock: STOCK }));
  await store.importProducts({ sellerId, keyId }, products, 'create');
  await store.close();
  return key;
}

function serve(t: TestContext, folder: string): Promise<Serving> {
  return startServing(t, ['--data', folder, '--rate-limit', '0']);
}

/** Adjusts over several connections at full speed; kills after some answers. */
async function killUnderLoad(
  serving: Serving, key: string, calls: Adjustment[], random: Random,
): Promise<void> {
  const target = 20 + random.below(150);
  const state = { answers: 0, isKilled: false };
  const work = async (): Promise<void> => {
    while (!state.isKilled) {
      const call = makeCall(calls.length, random);
      calls.push(call);
      call.answer = await adjust(serving, key, call).catch(() => undefined);
      if (call.answer) state.answers += 1;
      if (state.answers < target || state.isKilled) continue;
      state.isKilled = true;
      serving.child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  assert.equal(await serving.stop('SIGKILL'), null);
}

function makeCall(number: number, random: Random): Adjustment {
  const changes = Array.from({ length: 1 + random.below(20) }, () => ({
    sku: `S-${1 + random.below(PRODUCTS)}`, adjust: random.pick([-3, -2, -1, 1, 2, 5]),
  }));
  return { key: `call-${number}`, changes, answer: undefined };
}

async function adjust(
  { port }: Serving, apiKey: string, { key, changes }: Adjustment,
): Promise<Answer> {
  const answer = await send(port, {
    method: 'POST', path: '/api/v1/stock', body: JSON.stringify({ changes, reason: key }),
    headers: {
      'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': key,
    },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json().failed, 0);
  return answer;
}

/** What was not answered is made, or told to be; some of what was is answered as it was. */
async function sendAgain(
  serving: Serving, key: string, calls: readonly Adjustment[], random: Random,
): Promise<void> {
  const open = calls.filter(({ answer }) => !answer);
  const answered = calls.filter(({ answer }) => answer);
  await Promise.all(open.map(async (call) => { call.answer = await adjust(serving, key, call); }));
  for (const _ of countTo(Math.min(20, answered.length))) {
    const call = random.pick(answered);
    const again = await adjust(serving, key, call);
    assert.equal(again.headers['idempotent-replay'], 'true');
    assert.equal(again.text, call.answer?.text);
  }
}

/** Every call is in the ledger once, and the stock is the sum of all. */
async function assertSums(
  { port }: Serving, key: string, calls: readonly Adjustment[],
): Promise<void> {
  const read = (path: string) =>
    send(port, { path, headers: { 'x-api-key': key, accept: 'application/x-ndjson' } });
  const lines = (answer: Answer) => answer.text.trimEnd().split('\n').map((one) => JSON.parse(one));
  const ledger = lines(await read('/api/v1/stock/movements'));
  const made = Map.groupBy(ledger, ({ reason }) => reason);
  for (const { key: reason, changes } of calls) {
    const deltas = made.get(reason)?.map(({ sku, delta }) => ({ sku, adjust: delta }));
    assert.deepEqual(deltas, changes, reason);
  }
  assert.equal(made.size, calls.length + 1); // the creations have no reason
  const sums = new Map(countTo(PRODUCTS).map((n) => [`S-${n}`, STOCK]));
  for (const { sku, adjust: by } of calls.flatMap(({ changes }) => changes)) {
    sums.set(sku, (sums.get(sku) ?? 0) + by);
  }
  const levels = lines(await read('/api/v1/stock'));
  assert.deepEqual(levels.map(({ sku, stock }) => [sku, stock]), [...sums]);
}

/** On all days together as much came in, and went out, as by the calls. */
function assertDays(folder: string, calls: readonly Adjustment[]): void {
  const deltas = calls.flatMap(({ changes }) => changes.map((change) => change.adjust));
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  const days = 'SELECT sum(units_in) AS came, sum(units_out) AS went FROM stock_day';
  assert.deepEqual(readRows(folder, days), [{
    came: PRODUCTS * STOCK + sum(deltas.filter((delta) => delta > 0)),
    went: -sum(deltas.filter((delta) => delta < 0)),
  }]);
}
