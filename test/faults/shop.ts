/**
 * A shop that is used while its server is killed and restarted: clerks who change products, a user
 * who signs in to the portal, and a webhook receiver. After each kill, the data is checked against
 * their records.
 */
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ApiKeySecret } from '../../src/domain/access/api-key.ts';
import type { Random } from '../domain/random.ts';
import { makeAccount } from '../features/portal/page-client.ts';
import { countTo } from '../store/contract/fixture.ts';
import { readChain } from '../store/sqlite/accounts/audit-chain.ts';
import { openStore } from '../store/sqlite/open.ts';
import { readRows } from '../store/sqlite/engine/read-file.ts';
import { type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { assertHealthy } from '../support/health.ts';
import { type Answer, send } from '../support/http.ts';
import { startReceiver, type Receiver } from '../features/webhooks/receiver.ts';
import { assertGapless } from '../features/webhooks/gapless.ts';
import { Clerk, type Connection, type Item } from './clerk.ts';
import { SignInClient } from './sign-in-client.ts';

const CLERKS = 8;
const IMPORTERS = 3;

export interface Shop {
  readonly folder: string;
  readonly key: ApiKeySecret;
  readonly clerks: readonly Clerk[];
  readonly signInClient: SignInClient;
  readonly receiver: Receiver;
  /** The history up to this position is known to be complete. */
  readonly seen: { position: number; readonly stock: Map<string, number>; in: number; out: number };
}

export async function openShop(
  t: TestContext, random: Random, folder = join(makeFolder(t), 'data'),
): Promise<Shop> {
  const store = await openStore(t, { folder });
  const { key, ...credentials } = await makeAccount(store);
  await store.close();
  return {
    folder, key, signInClient: new SignInClient(credentials), receiver: await startReceiver(t),
    clerks: countTo(CLERKS).map((n) => new Clerk(`C${n}`, random, n <= IMPORTERS)),
    seen: { position: 0, stock: new Map(), in: 0, out: 0 },
  };
}

/** Starts the server; the first time, with a webhook for all changes. */
export async function serve(
  t: TestContext, { folder, key, receiver, seen }: Shop,
): Promise<Serving> {
  const flags = ['--rate-limit', '0', '--webhook-allow-private', '--webhook-allow-http'];
  const serving = await startServing(t, ['--data', folder, ...flags]);
  if (seen.position > 0) return serving;
  const webhooks = await read(serving.port, key, '/api/v1/webhooks');
  if (webhooks.json().webhooks.length > 0) return serving;
  const made = await send(serving.port, {
    method: 'POST', path: '/api/v1/webhooks', body: JSON.stringify({ url: receiver.url }),
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
  assert.equal(made.status, 201, made.text);
  return serving;
}

/** Callbacks of the workers, and their end. */
interface Watching {
  /** Called after each response, with the number of responses. */
  onAnswer?(count: number): void;
  onRejection?(status: number): void;
  /** Ends all work; without it they work until the server is gone. */
  readonly end?: AbortSignal;
}

/** Runs all workers, and returns the number of responses. */
export async function work(
  { clerks, signInClient, key }: Shop, { port }: Serving,
  { onAnswer, onRejection, end }: Watching = {},
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLERKS });
  const connection: Connection = { port, key, agent };
  let count = 0;
  await Promise.all([
    ...clerks.map(async (clerk) => {
      while (!end?.aborted) {
        const outcome = await clerk.work(connection);
        if (outcome === 'broken') return;
        if (outcome === 'done') {
          count += 1;
          onAnswer?.(count);
        } else {
          onRejection?.(outcome.rejected);
        }
      }
    }),
    signInClient.work(port, end),
  ]);
  agent.destroy();
  return count;
}

/** Asserts that every acknowledged change exists once, and that no change is half done. */
export async function check(shop: Shop, { port }: Serving): Promise<void> {
  const { clerks, key, seen } = shop;
  const agent = new Agent({ keepAlive: true, maxSockets: CLERKS });
  await Promise.all(clerks.map((clerk) => clerk.settle({ port, key, agent })));
  agent.destroy();
  const products = await listAll(port, key);
  const found = products.products.map(({ sku, name, price, stock }) =>
    [sku, { name, price, stock }] as const);
  const expected = clerks.flatMap(({ items }) => [...items]);
  assert.deepEqual(new Map(found), new Map(expected));
  assert.equal(found.length, expected.length, 'a SKU exists twice');
  await readHistory(port, key, seen);
  assert.equal(seen.position, products.position);
  const stock = products.products.map((product) => [product.id, product.stock] as const);
  const sums = [...seen.stock].filter(([, sum]) => sum !== 0);
  assert.deepEqual(new Map(sums), new Map(stock.filter(([, units]) => units !== 0)));
}

/** Checks the files of the stopped server, and the records of the webhook receiver. */
export function checkFiles({ folder, signInClient, seen }: Shop): void {
  assertHealthy(folder);
  assert.deepEqual(
    readRows(folder, 'SELECT sum(units_in) AS came, sum(units_out) AS went FROM stock_day'),
    [{ came: seen.in, went: seen.out }],
  );
  const { rows, expected } = readChain(folder);
  assert.deepEqual(rows.map(({ n }) => n), countTo(rows.length));
  assert.deepEqual(rows.map(({ hash }) => Buffer.from(hash)), expected);
  const signedIn = rows.filter(({ type }) => type === 'signed_in').length;
  const { answered, asked } = signInClient;
  assert.ok(signedIn >= answered && signedIn <= asked, `${answered} ${signedIn} ${asked}`);
}

/** Waits until the receiver has the last change, and checks that it missed none. */
export async function checkWebhook({ receiver, seen }: Shop): Promise<void> {
  await receiver.until((received) => received.at(-1)?.body.data.last_position === seen.position);
  assertGapless(receiver.received, seen.position);
}

interface Listed {
  readonly position: number;
  readonly products: readonly (Item & { readonly id: string; readonly sku: string })[];
}

async function listAll(port: number, key: string): Promise<Listed> {
  const products: Listed['products'][number][] = [];
  for (let cursor = ''; ;) {
    const answer = await read(port, key, `/api/v1/products?limit=1000${cursor}`);
    const { products: page, next_cursor: next } = answer.json();
    products.push(...page);
    const position = Number(answer.headers.etag?.replaceAll('"', '').split('-')[0]);
    if (next === null) return { position, products };
    cursor = `&cursor=${next}`;
  }
}

/** Reads the new changes: without gaps, and each movement starts at the previous stock. */
async function readHistory(port: number, key: string, seen: Shop['seen']): Promise<void> {
  for (;;) {
    const path = `/api/v1/stock/movements?after=${seen.position}&limit=1000`;
    const { movements } = (await read(port, key, path)).json();
    const { changes, next } = (await read(
      port, key, `/api/v1/changes?after=${seen.position}&limit=1000`,
    )).json();
    const positions = changes.map(({ position }: { position: number }) => position);
    assert.deepEqual(positions, countTo(next - seen.position).map((n) => n + seen.position));
    for (const { product_id: id, position, before, after, delta } of movements) {
      if (position > next) break;
      assert.equal(before, seen.stock.get(id) ?? 0, `position ${position}`);
      assert.equal(after - before, delta);
      seen.stock.set(id, after);
      if (delta > 0) seen.in += delta;
      else seen.out -= delta;
    }
    if (changes.length === 0) return;
    seen.position = next;
  }
}

async function read(port: number, key: string, path: string): Promise<Answer> {
  const answer = await send(port, { path, headers: { 'x-api-key': key } });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}
