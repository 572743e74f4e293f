/**
 * `make bench`: this server beside the floor in one run, growth from 1,000 to 1,000,000 products of
 * one seller, a whole catalogue in and out, stock in step, the past, reverts, webhooks, and how
 * long heavy requests hold up others. Machines differ and are shared: the ratios are what to
 * compare.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeyId } from '../../src/domain/id.ts';
import { parseNewProduct } from '../../src/domain/catalogue/product.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { measureCatalogue } from './catalogue.ts';
import { generateLoad, type Measured } from './load.ts';
import { measureLoop } from './loop/main.ts';
import { makeProduct } from './made-up.ts';
import { type Running, runCommand, startFloor, startServer } from './process.ts';
import { measurePast } from './past.ts';
import { measureReverts } from './reverts.ts';
import { measureStock } from './stock.ts';
import { format, printRow } from './table.ts';
import { measureWebhooks } from './webhooks.ts';

const ROUNDS = 3;
const ROUND_MS = 3_000;
const SIDE_BY_SIDE_CONNECTIONS = 64;
/** Few, so that the time of an answer is its own and not that of a queue. */
const GROWTH_CONNECTIONS = 4;
const SIZES = [1_000, 100_000, 1_000_000];
const FILL_AT_ONCE = 500;

let created = 0;
const folder = mkdtempSync(join(tmpdir(), 'seller-api-bench-'));
try {
  await compareWithFloor(join(folder, 'side-by-side'));
  await measureGrowth(join(folder, 'growth'));
  await measureCatalogue(join(folder, 'catalogue'));
  await measureStock(join(folder, 'stock'));
  await measurePast(join(folder, 'past'));
  await measureReverts(join(folder, 'reverts'));
  await measureWebhooks(join(folder, 'webhooks'));
  await measureLoop(join(folder, 'loop'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compareWithFloor(data: string): Promise<void> {
  const { key } = prepare(data);
  await fill(data, key, 0, 1_000);
  const floor = await startFloor();
  const server = await startServer(data);
  const idle = server.memory();
  console.log(`\nSide by side: ${SIDE_BY_SIDE_CONNECTIONS} connections, median of ${ROUNDS}`);
  printRow(['', 'req/s', 'p50 ms', 'p99 ms', 'floor req/s', 'of floor', 'RSS MiB']);
  const workloads = { list: listRequest(key.key), create: createRequest(key.key) };
  for (const [name, request] of Object.entries(workloads)) {
    const ours: Measured[] = [];
    const bare: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(await measure(floor, request, SIDE_BY_SIDE_CONNECTIONS));
      ours.push(await measure(server, request, SIDE_BY_SIDE_CONNECTIONS));
    }
    const { rate, p50, p99 } = median(ours);
    const limit = median(bare).rate;
    printRow([name, rate, p50, p99, limit, rate / limit, server.memory()]);
  }
  console.log(`Idle after the start: ${format(idle)} MiB`);
  await server.stop();
  await floor.stop();
}

async function measureGrowth(data: string): Promise<void> {
  const { key } = prepare(data);
  console.log(`\nGrowth of one seller's catalogue: ${GROWTH_CONNECTIONS} connections`);
  printRow(['products', 'create p50', 'x first', 'list p50', 'x first', 'start ms', 'idle MiB']);
  let first: { create: number; list: number } | undefined;
  let count = 0;
  for (const size of SIZES) {
    await fill(data, key, count, size);
    count = size;
    const server = await startServer(data);
    const idle = server.memory();
    const request = createRequest(key.key, `G${size}`);
    await measure(server, request, GROWTH_CONNECTIONS); // warms up
    const create = (await measure(server, request, GROWTH_CONNECTIONS)).p50;
    const list = (await measure(server, listRequest(key.key), GROWTH_CONNECTIONS)).p50;
    first ??= { create, list };
    printRow([
      size.toLocaleString('en'), create, create / first.create, list, list / first.list,
      Math.round(server.startMs), idle,
    ]);
    await server.stop();
  }
}

interface BenchKey {
  readonly id: string;
  readonly key: string;
}

function prepare(data: string): { key: BenchKey } {
  runCommand('seller', 'create', 'Bench', '--data', data);
  const { id = '', key = '' } = runCommand('key', 'create', '--name', 'bench', '--data', data);
  return { key: { id, key } };
}

/** Brings the catalogue from `from` to `to` products, with SKUs in no order, as real ones are. */
async function fill(data: string, { id }: BenchKey, from: number, to: number): Promise<void> {
  const actor = parseKeyId(id);
  if (!actor) throw new Error(`not the id of a key: ${id}`);
  const store = await openSqliteStore({ folder: data });
  const euro = { code: 'EUR', decimals: 2 };
  for (let start = from; start < to; start += FILL_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(FILL_AT_ONCE, to - start) }, (_, n) =>
      store.createProduct(actor, parseNewProduct(makeProduct(start + n, 'F'), euro))));
  }
  await store.close();
}

function listRequest(key: string): () => string {
  return () => `GET /api/v1/products HTTP/1.1\r\nHost: bench\r\nx-api-key: ${key}\r\n\r\n`;
}

function createRequest(key: string, series = 'C'): () => string {
  const head = 'POST /api/v1/products HTTP/1.1\r\nHost: bench\r\ncontent-type: application/json'
    + `\r\nx-api-key: ${key}\r\ncontent-length: `;
  return () => {
    const body = JSON.stringify(makeProduct(created, series));
    created += 1;
    return `${head}${body.length}\r\n\r\n${body}`;
  };
}

function measure(
  { port }: Running, request: () => string, connections: number,
): Promise<Measured> {
  return generateLoad({ port, connections, durationMs: ROUND_MS, request });
}

function median(rounds: readonly Measured[]): Measured {
  const middle = rounds.toSorted((a, b) => a.rate - b.rate)[rounds.length >> 1];
  if (!middle) throw new Error('no round was measured');
  return middle;
}
