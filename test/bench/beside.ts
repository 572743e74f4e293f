/**
 * What a long operation costs other requests: response times of each workload alone, and beside an
 * import, an export and a stocktake of 1,000,000 products of the same seller.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  countLines, findFirstPath, type Target, uploadFile, waitForSearch,
} from './client.ts';
import { createSeller, fillCatalogue } from './data.ts';
import { generateLoad } from './load/load.ts';
import { makeVariedProduct, writeCatalogue, writeRows } from './load/made-up.ts';
import {
  CONNECTIONS, countConnections, makeWorkload, NAMES, PRODUCTS_PATH, SYNC_CONNECTIONS,
  type WorkloadName,
} from './load/workloads.ts';
import { type Running, startServer } from './process.ts';
import { percentile, printRow } from './table.ts';

const PRODUCTS = 1_000;
const ROUNDS_ALONE = 3;
/** The highest p99 of `get` beside an import that is acceptable, as a multiple of that alone. */
const GOAL = 5;

/** The totals of all slices of one workload. */
interface Visits {
  readonly latencies: number[];
  /** Milliseconds that the server's main thread ran, and that it waited for a core. */
  ranMs: number;
  waitedMs: number;
}

type Results = Map<WorkloadName, Visits>;

export async function measureBeside(
  folder: string, { rows = 1_000_000, sliceMs = 1_500 } = {},
): Promise<void> {
  mkdirSync(folder);
  const data = join(folder, 'data');
  const { id, key } = createSeller(data);
  await fillCatalogue(data, id, 0, PRODUCTS);
  const [catalogue, counts] = [join(folder, 'catalogue.csv'), join(folder, 'counts.ndjson')];
  writeCatalogue(catalogue, rows);
  writeRows(counts, rows, '', (n) => `{"sku":"${makeVariedProduct(n).sku}","set":${n % 100}}\n`);
  const server = await startServer(data);
  const target = { port: server.port, key };
  const visit = await prepareVisits(server, target, sliceMs);

  console.log(`\nResponse times alone, and beside an operation on ${rows.toLocaleString('en')}`
    + ` products: ${CONNECTIONS} connections (sync: ${SYNC_CONNECTIONS})`);
  printRow(['', 'beside', 'p50 ms', 'p99 ms', 'p99 x alone', 'CPU wait %']);
  const alone: Results = new Map();
  // One after the other: the projection still catches up after the writes of the last ones.
  for (const name of NAMES) {
    await visit(name, new Map()); // warms up
    for (let round = 0; round < ROUNDS_ALONE; round += 1) await visit(name, alone);
  }
  print('-', alone, alone);
  await waitForSearch(target);
  const operations: Readonly<Record<string, () => Promise<unknown>>> = {
    import: () => uploadFile(target, `${PRODUCTS_PATH}/import`, 'text/csv', catalogue),
    export: () => countLines(target, `${PRODUCTS_PATH}?format=ndjson`),
    stocktake: () => uploadFile(
      target, '/api/v1/stock?complete=true&force=true', 'application/x-ndjson', counts),
  };
  const ratios = new Map<string, number>();
  for (const [name, run] of Object.entries(operations)) {
    const results: Results = new Map();
    // One operation is enough, unless it ends before each workload had a slice.
    for (let n = 0; results.size < alone.size;) {
      let isOver = false;
      const operation = run().finally(() => { isOver = true; });
      const measured = results.size;
      for (; !isOver; n += 1) {
        await visit(NAMES[n % NAMES.length] ?? 'get', results, () => isOver);
      }
      await operation;
      if (results.size === measured) throw new Error(`The ${name} ends too early to measure.`);
    }
    ratios.set(name, print(name, results, alone));
    await waitForSearch(target); // it builds its projection, which takes a core, too
  }
  console.log(`p99 of get beside the import: ${ratios.get('import')?.toFixed(1)} times that alone`
    + ` (goal: under ${GOAL})`);
  await server.stop();
}

/** Returns what visits one workload. Its slice counts only if `isOver` is false at the end. */
async function prepareVisits(
  server: Running, target: Target, durationMs: number,
): Promise<(name: WorkloadName, results: Results, isOver?: () => boolean) => Promise<void>> {
  const { port, key } = target;
  const path = await findFirstPath(target);
  let slices = 0;
  return async (name, results, isOver = () => false) => {
    slices += 1;
    const before = server.mainThread();
    const workload = makeWorkload(name, { key, path }, `B${slices}`);
    const connections = countConnections(workload);
    const { latencies } = await generateLoad({ port, connections, durationMs, workload });
    if (isOver()) return;
    const visits = results.get(name) ?? { latencies: [], ranMs: 0, waitedMs: 0 };
    results.set(name, visits);
    for (const latency of latencies) visits.latencies.push(latency);
    const after = server.mainThread();
    visits.ranMs += after.ranMs - before.ranMs;
    visits.waitedMs += after.waitedMs - before.waitedMs;
  };
}

/** Prints a row for each workload; returns the p99 of `get` as a multiple of that alone. */
function print(operation: string, results: Results, alone: Results): number {
  let ratioOfGet = NaN;
  for (const [name, { latencies, ranMs, waitedMs }] of results) {
    const p99 = percentile(latencies, 0.99);
    const ratio = p99 / percentile(alone.get(name)?.latencies ?? [], 0.99);
    const waited = (waitedMs / (ranMs + waitedMs)) * 100;
    printRow([name, operation, percentile(latencies, 0.5), p99, ratio, waited]);
    if (name === 'get') ratioOfGet = ratio;
  }
  return ratioOfGet;
}
