/**
 * Stock changes to 100,000 products in scattered order: calls of 1,000, and streams as NDJSON, CSV
 * and a stocktake, compared with a bare SQLite loop that writes the same rows; and the latency of
 * live readers. `node test/bench/stock.ts 100000` runs only this part, with 100,000 changes.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { get, open, postJson, readTail, type Target } from './client.ts';
import { createKey, createSeller } from './data.ts';
import { type BareChange, BareStock } from './floor/stock.ts';
import { makeVariedProduct } from './load/made-up.ts';
import { startServer } from './process.ts';
import { median, percentile, printRow } from './table.ts';

const PRODUCTS = 100_000;
const CHANGES_PER_COMMIT = 1_000;
const CONCURRENT_CALLS = 4;
const READERS = 200;
const READERS_PER_KEY = 50;
const LIVE_CHANGES = 200;
const LIVE_PAUSE_MS = 20;
const STOCK = '/api/v1/stock';

/** Each round visits all methods in turn, so the growing history slows all of them equally. */
const ROUNDS = 3;

/** Makes this many changes, starting with number `first`. */
type Method = (target: Target, first: number, changes: number) => Promise<void>;

interface Format {
  readonly type: string;
  readonly query: string;
  readonly header: string;
  readonly formatLine: (sku: string, stock: number) => string;
}

const csv = {
  type: 'text/csv', header: 'Artikelnummer;Bestand\n',
  formatLine: (sku: string, stock: number) => `${sku};${stock}\n`,
};
const METHODS: Readonly<Record<string, Method>> = {
  'JSON calls': call,
  NDJSON: (...to) => stream({
    type: 'application/x-ndjson', query: '', header: '',
    formatLine: (sku, stock) => `{"sku":"${sku}","set":${stock}}\n`,
  }, ...to),
  CSV: (...to) => stream({ ...csv, query: '' }, ...to),
  stocktake: (...to) => stream({ ...csv, query: '&complete=true' }, ...to),
};

export async function measureStock(folder: string, changes = 300_000): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const data = join(folder, 'data');
  const { key } = createSeller(data);
  const server = await startServer(data);
  const target = { port: server.port, key };
  await fill(target);

  console.log(`\nStock: ${changes.toLocaleString('en')} changes, median of ${ROUNDS} rounds`);
  printRow(['', 'changes/s', 'bare loop', 'of bare', 'of calls', 'peak MiB']);
  const bare = new BareStock(join(folder, 'bare.db'),
    Array.from({ length: PRODUCTS }, (_, n) => `S-${n}`));
  const bareRates: number[] = [];
  const rates = new Map(Object.keys(METHODS).map((name) => [name, [] as number[]]));
  let made = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    bareRates.push(changeBare(bare, changes));
    for (const [name, make] of Object.entries(METHODS)) {
      const start = performance.now();
      await make(target, made, changes);
      rates.get(name)?.push((changes / (performance.now() - start)) * 1000);
      made += changes;
    }
  }
  bare.close();
  const compare = (ours: readonly number[], others: readonly number[] = []): number =>
    median(ours.map((rate, round) => rate / (others[round] ?? NaN)));
  for (const [name, all] of rates) {
    printRow([
      name, median(all), median(bareRates), compare(all, bareRates),
      compare(all, rates.get('JSON calls')), server.peakMemory(),
    ]);
  }
  await server.stop();

  const keys = Array.from({ length: READERS / READERS_PER_KEY }, (_, n) =>
    createKey(data, `reader ${n}`).key);
  const fresh = await startServer(data);
  await measureLive({ port: fresh.port, key }, keys);
  await fresh.stop();
}

async function fill(target: Target): Promise<void> {
  const outgoing = open(target, 'POST', '/api/v1/products/import', {
    'content-type': 'application/x-ndjson',
  });
  for (let n = 0; n < PRODUCTS; n += 1) {
    outgoing.write(`${JSON.stringify({ ...makeVariedProduct(n), sku: `S-${n}` })}\n`);
  }
  const report = await readTail(outgoing.end());
  if (!report.includes(`"created":${PRODUCTS}`)) throw new Error(report);
}

/** Products in scattered order, as sales are. No two changes of a product set the same stock. */
function changeOf(n: number): BareChange {
  return { sku: `S-${(n * 7_919) % PRODUCTS}`, stock: Math.floor(n / PRODUCTS) % 90 + 1_000 };
}

/** Calls of 1,000 changes, four at a time. */
async function call(target: Target, first: number, changes: number): Promise<void> {
  let next = first;
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, async () => {
    while (next < first + changes) {
      const batch = listChanges(next).map(({ sku, stock }) => ({ sku, set: stock }));
      next += CHANGES_PER_COMMIT;
      const text = await postJson(target, STOCK, { source: 'bench', changes: batch });
      if (!text.includes('"failed":0,')) throw new Error(text);
    }
  }));
}

async function stream(
  { type, query, header, formatLine }: Format, target: Target, first: number, changes: number,
): Promise<void> {
  const outgoing = open(target, 'POST', `${STOCK}?source=bench${query}`, { 'content-type': type });
  const report = readTail(outgoing);
  outgoing.write(header);
  for (let from = first; from < first + changes; from += CHANGES_PER_COMMIT) {
    const lines = listChanges(from).map(({ sku, stock }) => formatLine(sku, stock));
    // Rejects if the server responds early: it does so only to reject the request.
    if (!outgoing.write(lines.join(''))) await Promise.race([once(outgoing, 'drain'), report]);
  }
  outgoing.end();
  const text = await report;
  if (!text.includes('"failed":0,')) throw new Error(text);
}

/** The changes of a batch. */
function listChanges(first: number): BareChange[] {
  return Array.from({ length: CHANGES_PER_COMMIT }, (_, n) => changeOf(first + n));
}

/** Changes per second. */
function changeBare(bare: BareStock, count: number): number {
  let made = 0;
  const { changes, ms } = bare.run(() => {
    const batch = listChanges(made);
    made += CHANGES_PER_COMMIT;
    return batch;
  }, (done) => done >= count);
  return (changes / ms) * 1000;
}

/** Times from sending a change until its response, and until each reader has it. */
async function measureLive(target: Target, keys: readonly string[]): Promise<void> {
  const { position: first } = JSON.parse(await get(target, `${STOCK}?limit=1`));
  const sentAt = new Map<number, number>();
  const latencies: number[] = [];
  const readers = Array.from({ length: READERS }, (_, n) =>
    follow({ ...target, key: keys[n % keys.length] ?? '' }, first, (position) => {
      latencies.push(performance.now() - (sentAt.get(position) ?? NaN));
    }));
  await Promise.all(readers.map(({ hasBegun }) => hasBegun));
  const responses: number[] = [];
  for (let n = 1; n <= LIVE_CHANGES; n += 1) {
    const start = performance.now();
    sentAt.set(first + n, start);
    await postJson(target, STOCK, { changes: [{ sku: 'S-1', adjust: 1 }] });
    responses.push(performance.now() - start);
    await wait(LIVE_PAUSE_MS);
  }
  while (latencies.length < READERS * LIVE_CHANGES) await wait(LIVE_PAUSE_MS);
  for (const reader of readers) reader.end();
  console.log(`\nLive: ${LIVE_CHANGES} changes to ${READERS} readers`);
  printRow(['ms', 'p50', 'p99', 'max']);
  for (const [name, values] of Object.entries({ responded: responses, received: latencies })) {
    printRow([name, ...[0.5, 0.99, 1].map((share) => percentile(values, share))]);
  }
}

function follow(
  target: Target, after: number, note: (position: number) => void,
): { readonly hasBegun: Promise<unknown>; end(): void } {
  const outgoing = open(target, 'GET', `/api/v1/changes?after=${after}`, {
    accept: 'text/event-stream',
  }).end();
  const hasBegun = once(outgoing, 'response').then(([response]: IncomingMessage[]) => {
    response?.setEncoding('utf8').on('data', (text: string) => {
      for (const [, id] of text.matchAll(/^id: (\d+)$/gm)) note(Number(id));
    });
    response?.on('error', () => {}); // `end` below aborts it
  });
  outgoing.on('error', () => {});
  return { hasBegun, end: () => outgoing.destroy() };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-stock-'));
  try {
    await measureStock(folder, Number(process.argv[2] ?? 1_000_000));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
