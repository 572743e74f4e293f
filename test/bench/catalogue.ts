/**
 * A million products in and out: an import beside a bare SQLite loop that inserts the same rows, an
 * export, and a search beside the reading of one product.
 */
import { once } from 'node:events';
import { closeSync, createReadStream, mkdirSync, openSync, writeSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { generateLoad } from './load.ts';
import { makeVariedProduct } from './made-up.ts';
import { type Running, runCommand, startServer } from './process.ts';
import { printRow } from './table.ts';

const ROWS = 1_000_000;
const ROWS_PER_COMMIT = 1_000;
const PRODUCTS = '/api/v1/products';
/** Few, so that the time of an answer is its own and not that of a queue. */
const CONNECTIONS = 2;
const MEASURE_MS = 3_000;

export async function measureCatalogue(folder: string): Promise<void> {
  mkdirSync(folder);
  const data = join(folder, 'data');
  const file = join(folder, 'catalogue.csv');
  writeCatalogue(file);
  runCommand('seller', 'create', 'Bench', '--data', data);
  const { key = '' } = runCommand('key', 'create', '--name', 'bench', '--data', data);

  console.log(`\nA catalogue of ${ROWS.toLocaleString('en')} products`);
  printRow(['', 'rows/s', 'bare loop', 'of bare', 'peak MiB']);
  const bare = insertBare(join(folder, 'bare.db'));
  await withServer(data, async (server) => {
    const rate = await timeRows(() => importFile(server, key, file));
    printRow(['import', rate, bare, rate / bare, server.peakMemory()]);
  });
  await withServer(data, async (server) => {
    const seconds = await waitForSearch(server, key);
    printRow(['search ready', ROWS / seconds, '', '', server.peakMemory()]);
  });
  await withServer(data, async (server) => {
    const rate = await timeRows(() => exportAll(server, key));
    printRow(['export', rate, '', '', server.peakMemory()]);
  });
  await withServer(data, (server) => compareSearch(server, key));
}

function writeCatalogue(file: string): void {
  const handle = openSync(file, 'w');
  writeSync(handle, 'name,category,sku,price,stock\n');
  for (let from = 0; from < ROWS; from += ROWS_PER_COMMIT) {
    const rows = Array.from({ length: ROWS_PER_COMMIT }, (_, n) => {
      const { name, category, sku, price, stock } = makeVariedProduct(from + n);
      return `${name},${category},${sku},${price},${stock}\n`;
    });
    writeSync(handle, rows.join(''));
  }
  closeSync(handle);
}

/** Rows a second of a loop that does nothing but insert: as durable, and SKUs as unique. */
function insertBare(file: string): number {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE product (id INTEGER PRIMARY KEY, seller_id INTEGER NOT NULL, sku TEXT NOT NULL,
      name TEXT NOT NULL, category TEXT NOT NULL, price_minor INTEGER NOT NULL,
      stock INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      UNIQUE (seller_id, sku)) STRICT`);
  const insert = db.prepare(`
    INSERT INTO product (seller_id, sku, name, category, price_minor, stock, created_at, updated_at)
    VALUES (1, ?, ?, ?, ?, ?, 0, 0)`);
  let insertingMs = 0;
  for (let from = 0; from < ROWS; from += ROWS_PER_COMMIT) {
    const rows = Array.from({ length: ROWS_PER_COMMIT }, (_, n) => makeVariedProduct(from + n));
    const start = performance.now();
    db.exec('BEGIN');
    for (const { sku, name, category, price, stock } of rows) {
      insert.run(sku, name, category, Math.round(price * 100), stock);
    }
    db.exec('COMMIT');
    insertingMs += performance.now() - start;
  }
  db.close();
  return (ROWS / insertingMs) * 1000;
}

async function withServer(
  data: string, measure: (server: Running) => Promise<void>,
): Promise<void> {
  const server = await startServer(data);
  await measure(server);
  await server.stop();
}

async function timeRows(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return (ROWS / (performance.now() - start)) * 1000;
}

async function importFile({ port }: Running, key: string, file: string): Promise<void> {
  const outgoing = request({
    port, host: '127.0.0.1', method: 'POST', path: `${PRODUCTS}/import`,
    headers: { 'x-api-key': key, 'content-type': 'text/csv' },
  });
  createReadStream(file).pipe(outgoing);
  const text = await readText(outgoing);
  if (!text.includes(`"created":${ROWS}`)) throw new Error(`imported: ${text.slice(-300)}`);
}

async function exportAll({ port }: Running, key: string): Promise<void> {
  const outgoing = ask(port, key, `${PRODUCTS}?format=ndjson`);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let lines = 0;
  for await (const chunk of response) lines += countLines(chunk);
  if (lines !== ROWS) throw new Error(`exported ${lines}`);
}

function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Asks until the projection has caught up; how many seconds that took. */
async function waitForSearch({ port }: Running, key: string): Promise<number> {
  const start = performance.now();
  for (;;) {
    const text = await readText(ask(port, key, `${PRODUCTS}?q=number&limit=1`));
    if (text.startsWith('{"products"')) return (performance.now() - start) / 1000;
    if (!text.includes('"status":503')) throw new Error(text);
  }
}

async function compareSearch({ port }: Running, key: string): Promise<void> {
  const first = JSON.parse(await readText(ask(port, key, `${PRODUCTS}?limit=1`))).products[0].id;
  const measure = async (path: (n: number) => string) => {
    let count = 0;
    const next = (): string => {
      count += 1;
      return `GET ${PRODUCTS}${path(count)} HTTP/1.1\r\nHost: bench\r\nx-api-key: ${key}\r\n\r\n`;
    };
    return (await generateLoad({
      port, connections: CONNECTIONS, durationMs: MEASURE_MS, request: next,
    })).p50;
  };
  const get = await measure(() => `/${first}`);
  printRow(['', 'p50 ms', 'x get']);
  printRow(['get', get, 1]);
  // Each is another one than those before it, so that no page is answered from memory.
  const searches: Readonly<Record<string, (n: number) => string>> = {
    'q rare': (n) => `?q=number%20${(n * 7_919) % ROWS}`,
    'q common': (n) => `?q=${spell('kettle', n)}&limit=${50 + (n % 51)}`,
    'q by price': (n) => `?q=${spell('kettle', n)}&sort=price&limit=${50 + (n % 51)}`,
    'price range': (n) => `?price_min=${(n % 8_000) / 100}&price_max=80`,
    'by name': (n) => `?sort=name&changed_since=${n}`,
  };
  for (const [name, path] of Object.entries(searches)) {
    const p50 = await measure(path);
    printRow([name, p50, p50 / get]);
  }
}

/** The nth spelling of a word in upper and lower case. */
function spell(word: string, n: number): string {
  return [...word].map((letter, at) => ((n >> at) & 1 ? letter.toUpperCase() : letter)).join('');
}

function ask(port: number, key: string, path: string) {
  return request({ port, host: '127.0.0.1', path, headers: { 'x-api-key': key } }).end();
}

async function readText(outgoing: ReturnType<typeof request>): Promise<string> {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
