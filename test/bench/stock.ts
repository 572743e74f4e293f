/**
 * Stock in step: a million changes as NDJSON, CSV and a stocktake, beside a bare SQLite loop that
 * writes the same rows, and how soon a change reaches those who follow the catalogue live. On its
 * own, `node test/bench/stock.ts 100000` measures that many changes.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { makeVariedProduct } from './made-up.ts';
import { type Running, runCommand, startServer } from './process.ts';
import { printRow } from './table.ts';

const PRODUCTS = 10_000;
const CHANGES_PER_COMMIT = 1_000;
const READERS = 200;
const READERS_PER_KEY = 50;
const LIVE_CHANGES = 200;
const LIVE_PAUSE_MS = 20;
const STOCK = '/api/v1/stock';

/** Each round has all of them in turn, so that the growing history slows them alike. */
const ROUNDS = 3;

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
const FORMATS: Readonly<Record<string, Format>> = {
  NDJSON: {
    type: 'application/x-ndjson', query: '', header: '',
    formatLine: (sku, stock) => `{"sku":"${sku}","set":${stock}}\n`,
  },
  CSV: { ...csv, query: '' },
  'CSV count': { ...csv, query: '&complete=true' },
};

export async function measureStock(folder: string, changes = 1_000_000): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const data = join(folder, 'data');
  runCommand('seller', 'create', 'Bench', '--data', data);
  const keys = Array.from({ length: READERS / READERS_PER_KEY }, (_, n) =>
    runCommand('key', 'create', '--name', `bench ${n}`, '--data', data)['key'] ?? '');
  const [key = ''] = keys;
  const server = await startServer(data);
  await fill(server, key);

  console.log(`\nStock: ${changes.toLocaleString('en')} changes, median of ${ROUNDS}`);
  printRow(['', 'changes/s', 'bare loop', 'of bare', 'of NDJSON', 'peak MiB']);
  const bare = changeBare(join(folder, 'bare.db'), changes);
  const rates = new Map(Object.keys(FORMATS).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, format] of Object.entries(FORMATS)) {
      const start = performance.now();
      await sync(server, key, format, changes);
      rates.get(name)?.push((changes / (performance.now() - start)) * 1000);
    }
  }
  const lines = median(rates.get('NDJSON'));
  for (const [name, all] of rates) {
    const rate = median(all);
    printRow([name, rate, bare, rate / bare, rate / lines, server.peakMemory()]);
  }
  await server.stop();

  const fresh = await startServer(data);
  await measureLive(fresh, keys);
  await fresh.stop();
}

async function fill({ port }: Running, key: string): Promise<void> {
  const outgoing = post(port, key, '/api/v1/products/import', 'application/x-ndjson');
  for (let n = 0; n < PRODUCTS; n += 1) {
    outgoing.write(`${JSON.stringify({ ...makeVariedProduct(n), sku: `S-${n}` })}\n`);
  }
  const { text } = await finish(outgoing);
  if (!text.includes(`"created":${PRODUCTS}`)) throw new Error(text.slice(-300));
}

/** Products in no order, as sales are; no two in a row of the same stock. */
function changeOf(n: number): { readonly product: number; readonly stock: number } {
  return { product: (n * 7_919) % PRODUCTS, stock: Math.floor(n / PRODUCTS) % 90 + 1_000 };
}

async function sync(
  { port }: Running, key: string, { type, query, header, formatLine }: Format, changes: number,
): Promise<void> {
  const outgoing = post(port, key, `${STOCK}?source=bench${query}`, type);
  const answered = finish(outgoing, false);
  outgoing.write(header);
  for (let from = 0; from < changes; from += CHANGES_PER_COMMIT) {
    const lines = Array.from({ length: CHANGES_PER_COMMIT }, (_, n) => {
      const { product, stock } = changeOf(from + n);
      return formatLine(`S-${product}`, stock);
    });
    if (!outgoing.write(lines.join(''))) await once(outgoing, 'drain');
  }
  outgoing.end();
  const { text } = await answered;
  if (!text.includes('"failed":0,')) throw new Error(text.slice(-300));
}

/** Changes a second of a loop that finds, changes and notes the same rows, and does no more. */
function changeBare(file: string, changes: number): number {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE product (id INTEGER PRIMARY KEY, seller_id INTEGER NOT NULL, sku TEXT NOT NULL,
      stock INTEGER NOT NULL, position INTEGER NOT NULL, UNIQUE (seller_id, sku)) STRICT;
    CREATE TABLE change (seller_id INTEGER NOT NULL, position INTEGER NOT NULL,
      product_id INTEGER NOT NULL, before INTEGER NOT NULL, after INTEGER NOT NULL,
      at INTEGER NOT NULL, PRIMARY KEY (seller_id, position)) STRICT, WITHOUT ROWID;
    BEGIN`);
  const insert = db.prepare(
    'INSERT INTO product (seller_id, sku, stock, position) VALUES (1, ?, 0, 0)');
  for (let n = 0; n < PRODUCTS; n += 1) insert.run(`S-${n}`);
  db.exec('COMMIT');
  const find = db.prepare('SELECT id, stock FROM product WHERE seller_id = 1 AND sku = ?');
  const update = db.prepare('UPDATE product SET stock = ?, position = ? WHERE id = ?');
  const note = db.prepare('INSERT INTO change VALUES (1, ?, ?, ?, ?, 0)');
  const start = performance.now();
  for (let from = 0; from < changes; from += CHANGES_PER_COMMIT) {
    db.exec('BEGIN');
    for (let n = from; n < from + CHANGES_PER_COMMIT; n += 1) {
      const { product, stock } = changeOf(n);
      const row = find.get(`S-${product}`) ?? {};
      update.run(stock, n + 1, row['id'] ?? 0);
      note.run(n + 1, row['id'] ?? 0, row['stock'] ?? 0, stock);
    }
    db.exec('COMMIT');
  }
  const rate = (changes / (performance.now() - start)) * 1000;
  db.close();
  return rate;
}

function median(values: readonly number[] = []): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

/** From the moment a change is sent until a reader has it; and beside it, until it is answered. */
async function measureLive({ port }: Running, keys: readonly string[]): Promise<void> {
  const [key = ''] = keys;
  const first = JSON.parse(await read(port, key, `${STOCK}?limit=1`));
  const sentAt = new Map<number, number>();
  const latencies: number[] = [];
  const readers = Array.from({ length: READERS }, (_, n) =>
    follow(port, keys[n % keys.length] ?? '', first.position, (position) => {
      latencies.push(performance.now() - (sentAt.get(position) ?? NaN));
    }));
  await Promise.all(readers.map(({ begun }) => begun));
  const answers: number[] = [];
  for (let n = 1; n <= LIVE_CHANGES; n += 1) {
    const start = performance.now();
    sentAt.set(first.position + n, start);
    const outgoing = post(port, key, STOCK, 'application/json');
    outgoing.write(`{"changes":[{"sku":"S-1","adjust":1}]}`);
    await finish(outgoing);
    answers.push(performance.now() - start);
    await wait(LIVE_PAUSE_MS);
  }
  while (latencies.length < READERS * LIVE_CHANGES) await wait(LIVE_PAUSE_MS);
  for (const reader of readers) reader.end();
  console.log(`\nLive: ${LIVE_CHANGES} changes to ${READERS} readers`);
  printRow(['ms', 'p50', 'p99', 'most']);
  printRow(['answered', ...percentiles(answers)]);
  printRow(['at a reader', ...percentiles(latencies)]);
}

function percentiles(values: number[]): number[] {
  values.sort((a, b) => a - b);
  return [0.5, 0.99, 1].map((share) =>
    values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN);
}

function follow(
  port: number, key: string, after: number, note: (position: number) => void,
): { readonly begun: Promise<unknown>; end(): void } {
  const headers = { 'x-api-key': key, accept: 'text/event-stream' };
  const path = `/api/v1/changes?after=${after}`;
  const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const begun = once(outgoing, 'response').then(([response]: IncomingMessage[]) => {
    response?.setEncoding('utf8').on('data', (text: string) => {
      for (const [, id] of text.matchAll(/^id: (\d+)$/gm)) note(Number(id));
    });
    response?.on('error', () => {}); // it is ended below
  });
  outgoing.on('error', () => {});
  return { begun, end: () => outgoing.destroy() };
}

function post(port: number, key: string, path: string, type: string): ClientRequest {
  const headers = { 'x-api-key': key, 'content-type': type };
  return request({ host: '127.0.0.1', port, method: 'POST', path, headers });
}

async function read(port: number, key: string, path: string): Promise<string> {
  return (await finish(request({ host: '127.0.0.1', port, path, headers: { 'x-api-key': key } })))
    .text;
}

/** The end of the answer is enough: there may be a line for every change. */
async function finish(outgoing: ClientRequest, isSent = true): Promise<{ readonly text: string }> {
  if (isSent) outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text = `${text}${chunk}`.slice(-10_000);
  return { text };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-stock-'));
  try {
    await measureStock(folder, Number(process.argv[2] ?? 1_000_000));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
