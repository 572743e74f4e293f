/**
 * The store on PostgreSQL, compared with a program that executes one transaction per request on the
 * same tables, and with the store on SQLite; then one node compared with two. Takes three minutes,
 * and needs Debian's package postgresql. With `SELLER_API_TEST_CITUS`, the URL of a database on a
 * Citus coordinator, that database is measured instead; the shops that are created remain in it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConnection } from '../../../src/store/postgres/connect/open-connection.ts';
import { Pool } from '../../../src/store/postgres/wire/pool.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { median, printRow } from '../table.ts';
import { connectOptions, openStoreAt, startDatabase } from './database.ts';
import { naiveSubject } from './naive.ts';
import type { NodeLoad } from './node.ts';
import {
  makeShops, measureRate, productOf, type Shop, type Subject, subjectOf,
} from './subject.ts';

const ROUNDS = 5;
const SLICE_MS = 1_500;
const CALLERS = 64;
const SHOPS = 100;
/** Stock changes per call, one for each product. */
const CHANGES = 1_000;
const CHANGE_CALLERS = 4;
/** As many connections as a server with a few cores serves well. */
const NAIVE_CONNECTIONS = 16;

interface Measured {
  readonly subject: Subject;
  readonly shops: readonly Shop[];
}

/** Returns operations per second. `round` makes SKUs unique. */
type Workload = (measured: Measured, round: string) => Promise<number>;

const WORKLOADS: Readonly<Record<string, Workload>> = {
  'create, 1 seller': ({ subject, shops: [shop] }, round) =>
    measureRate(CALLERS, SLICE_MS, async (n) => shop && subject.create(shop, productOf(n, round))),
  [`create, ${SHOPS} sellers`]: ({ subject, shops }, round) =>
    measureRate(CALLERS, SLICE_MS, async (n) => {
      const shop = shops[n % shops.length];
      return shop && subject.create(shop, productOf(n, `${round}m`));
    }),
  'stock, 1 seller': async ({ subject, shops: [shop] }) => CHANGES
    * await measureRate(CHANGE_CALLERS, SLICE_MS, async () => shop && subject.adjust(shop, SKUS)),
  [`key look-up, ${SHOPS} keys`]: ({ subject, shops }) =>
    measureRate(CALLERS, SLICE_MS, async (n) => subject.findKey(shops[n % SHOPS]?.hash ?? '')),
};
const SKUS = Array.from({ length: CHANGES }, (_, n) => productOf(n, 'S').sku);

async function prepare(store: Store): Promise<Measured> {
  const shops = await makeShops(store, SHOPS);
  const subject = subjectOf(store);
  const [shop] = shops;
  if (shop) await Promise.all(SKUS.map((_, n) => subject.create(shop, productOf(n, 'S'))));
  return { subject, shops };
}

async function compare(url: string, folder: string): Promise<void> {
  const ours = await prepare(await openStoreAt(url));
  const sqlite = await prepare(await openSqliteStore({ folder: join(folder, 'sqlite') }));
  const open = () => openConnection(connectOptions(url));
  // With sellers of its own, so that it does not wait for locks of the other.
  const store = await openStoreAt(url);
  const { shops } = await prepare(store);
  await store.close();
  const naive = { subject: naiveSubject(new Pool({ open, max: NAIVE_CONNECTIONS })), shops };

  console.log(`\nOperations per second, and ratios: medians of ${ROUNDS} rounds`);
  printRow(['', 'PostgreSQL', 'naive', 'SQLite', 'x naive', 'x SQLite'], 24);
  for (const [name, measure] of Object.entries(WORKLOADS)) {
    const rates = { ours: [] as number[], naive: [] as number[], sqlite: [] as number[] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const slice = {
        ours: await measure(ours, `O${round}`), naive: await measure(naive, `N${round}`),
        sqlite: await measure(sqlite, `Q${round}`),
      };
      if (round === 0) continue; // warms up
      rates.ours.push(slice.ours);
      rates.naive.push(slice.naive);
      rates.sqlite.push(slice.sqlite);
    }
    const ratio = (others: readonly number[]): number =>
      median(rates.ours.map((rate, n) => rate / (others[n] ?? NaN)));
    printRow([
      name, median(rates.ours), median(rates.naive), median(rates.sqlite), ratio(rates.naive),
      ratio(rates.sqlite),
    ], 24);
  }
  await Promise.all([ours, naive, sqlite].map(({ subject }) => subject.close()));
}

async function compareNodes(url: string): Promise<void> {
  const nodes = await Promise.all([1, 2].map(async () => {
    const node = fork(new URL('node.ts', import.meta.url), [url]);
    await once(node, 'message');
    return node;
  }));
  // Each case has shops of its own: a node caches those that only it writes to.
  const store = await openStoreAt(url);
  const make = () => makeShops(store, SHOPS);
  const [alone, shared, divided] = [await make(), await make(), await make()];
  await store.close();
  const ways: Readonly<Record<string, readonly (readonly Shop[])[]>> = {
    'one node': [alone],
    'two, any seller': [shared, shared],
    'two, each its sellers': [divided.slice(0, SHOPS / 2), divided.slice(SHOPS / 2)],
  };
  const rates = new Map(Object.keys(ways).map((way) => [way, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [way, parts] of Object.entries(ways)) {
      const rate = await loadNodes(nodes, parts, `${way}${round}`);
      if (round > 0) rates.get(way)?.push(rate); // the first round warms up
    }
  }
  console.log(`\nCreates per second of ${SHOPS} sellers, ${CALLERS} callers in total`);
  printRow(['', 'create', 'x one'], 24);
  const one = rates.get('one node') ?? [];
  for (const [way, all] of rates) {
    printRow([way, median(all), median(all.map((rate, n) => rate / (one[n] ?? NaN)))], 24);
  }
  for (const node of nodes) node.disconnect();
}

/** The sum of the rates of as many nodes as `parts` has, each of which writes for its part. */
async function loadNodes(
  nodes: readonly ChildProcess[], parts: readonly (readonly Shop[])[], round: string,
): Promise<number> {
  const rates = await Promise.all(parts.map(async (shops, n) => {
    const [node] = nodes.slice(n);
    if (!node) throw new Error(`There is no node ${n}.`);
    const load: NodeLoad = {
      shops, callers: CALLERS / parts.length, durationMs: SLICE_MS, series: `${round}-${n}`,
    };
    node.send(load);
    const [rate] = await once(node, 'message');
    return Number(rate);
  }));
  return rates.reduce((sum, rate) => sum + rate, 0);
}

const folder = mkdtempSync(join(tmpdir(), 'seller-api-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));
const database = await startDatabase(process.env['SELLER_API_TEST_CITUS']);
await compare(database.url, folder);
await compareNodes(database.url);
await database.end();
