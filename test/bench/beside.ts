/**
 * What a long operation costs other requests: response times of each workload alone, and beside an
 * import, an export and a stocktake of 1,000,000 products of the same seller.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { countLines, get, type Target, uploadFile } from './client.ts';
import { createSeller, fillCatalogue } from './data.ts';
import { generateLoad } from './load/load.ts';
import { makeVariedProduct, writeCatalogue, writeRows } from './load/made-up.ts';
import { PRODUCTS_PATH, type Workload } from './load/workloads.ts';
import { startServer } from './process.ts';
import { percentile, printRow } from './table.ts';

const ROWS = 1_000_000;
const PRODUCTS = 1_000;

/** Response times of each workload, milliseconds. */
type Latencies = Readonly<Record<string, Float64Array>>;
type MakeWorkload = (slice: number) => Workload;

export async function measureBeside(
  folder: string, { rows = ROWS, sliceMs = 2_000, connections = 4 } = {},
): Promise<void> {
  mkdirSync(folder);
  const data = join(folder, 'data');
  const { id, key } = createSeller(data);
  await fillCatalogue(data, id, 0, PRODUCTS);
  const [catalogue, counts] = [join(folder, 'catalogue.csv'), join(folder, 'counts.ndjson')];
  writeCatalogue(catalogue, rows);
  writeRows(counts, rows, '', (n) => `{"sku":"${makeVariedProduct(n).sku}","set":${n % 100}}\n`);
  const server = await startServer(data);
  const target: Target = { port: server.port, key };
  const first = JSON.parse(await get(target, `${PRODUCTS_PATH}?limit=1`)).products[0].id;
  const workloads: Readonly<Record<string, MakeWorkload>> = {
    list: () => ({ kind: 'get', key, paths: [PRODUCTS_PATH] }),
    get: () => ({ kind: 'get', key, paths: [`${PRODUCTS_PATH}/${first}`] }),
    sync: () => ({ kind: 'sync', key }),
    create: (slice) => ({ kind: 'create', key, series: `B${slice}` }),
  };
  let slices = 0;
  /** Visits the workloads in turn, as long as `isOver` is false. */
  const measure = async (rounds: number, isOver: () => boolean): Promise<Latencies> => {
    const all: Record<string, number[]> = {};
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, make] of Object.entries(workloads)) {
        slices += 1;
        const { latencies } = await generateLoad({
          port: server.port, connections, durationMs: sliceMs, workload: make(slices),
        });
        if (isOver()) break;
        all[name] = [...all[name] ?? [], ...latencies];
      }
      if (isOver()) break;
    }
    return Object.fromEntries(Object.entries(all).map(([name, values]) =>
      [name, Float64Array.from(values)]));
  };
  console.log(`\nBeside an operation on ${rows.toLocaleString('en')} products:`
    + ` ${connections} connections`);
  printRow(['', 'beside', 'p50 ms', 'p99 ms', 'x alone']);
  await measure(1, () => false);
  const alone = await measure(3, () => false);
  print('-', alone, alone);
  const operations: Readonly<Record<string, () => Promise<unknown>>> = {
    import: () => uploadFile(target, `${PRODUCTS_PATH}/import`, 'text/csv', catalogue),
    export: () => countLines(target, `${PRODUCTS_PATH}?format=ndjson`),
    stocktake: () => uploadFile(
      target, '/api/v1/stock?complete=true&force=true', 'application/x-ndjson', counts),
  };
  for (const [name, run] of Object.entries(operations)) {
    let isOver = false;
    const operation = run().finally(() => { isOver = true; });
    const beside = await measure(Infinity, () => isOver);
    await operation;
    print(name, beside, alone);
  }
  await server.stop();
}

function print(operation: string, latencies: Latencies, alone: Latencies): void {
  for (const [name, values] of Object.entries(latencies)) {
    const p99 = percentile(values, 0.99);
    const ratio = p99 / percentile(alone[name] ?? [], 0.99);
    printRow([name, operation, percentile(values, 0.5), p99, ratio]);
  }
}
