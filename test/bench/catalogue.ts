/**
 * 1,000,000 products: their import compared with a bare SQLite loop that inserts the same rows,
 * the first build of the search projection, their export, and searches compared with `get`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { countLines, findFirstPath, type Target, uploadFile, waitForSearch } from './client.ts';
import { createSeller } from './data.ts';
import { insertBare } from './floor/catalogue.ts';
import { generateLoad } from './load/load.ts';
import { writeCatalogue } from './load/made-up.ts';
import { PRODUCTS_PATH } from './load/workloads.ts';
import { type Running, startServer } from './process.ts';
import { percentile, printRow } from './table.ts';

const ROWS = 1_000_000;
/** Few, so that a response hardly waits for others. */
const CONNECTIONS = 2;
const MEASURE_MS = 3_000;
const SEARCHES = 20_000;

export async function measureCatalogue(folder: string, rows = ROWS): Promise<void> {
  mkdirSync(folder);
  const data = join(folder, 'data');
  const file = join(folder, 'catalogue.csv');
  writeCatalogue(file, rows);
  const { key } = createSeller(data);

  console.log(`\nA catalogue of ${rows.toLocaleString('en')} products`);
  printRow(['', 'rows/s', 'bare loop', 'of bare', 'peak MiB']);
  const bare = insertBare(join(folder, 'bare.db'), rows);
  await withServer(data, key, async (target, server) => {
    const rate = await timeRows(rows, async () => {
      const report = await uploadFile(target, `${PRODUCTS_PATH}/import`, 'text/csv', file);
      if (!report.includes(`"created":${rows}`)) throw new Error(`imported: ${report}`);
    });
    printRow(['import', rate, bare, rate / bare, server.peakMemory()]);
  });
  await withServer(data, key, async (target, server) => {
    const rate = await timeRows(rows, () => waitForSearch(target));
    printRow(['search ready', rate, '', '', server.peakMemory()]);
  });
  await withServer(data, key, async (target, server) => {
    const rate = await timeRows(rows, async () => {
      const lines = await countLines(target, `${PRODUCTS_PATH}?format=ndjson`);
      if (lines !== rows) throw new Error(`exported ${lines}`);
    });
    printRow(['export', rate, '', '', server.peakMemory()]);
  });
  await withServer(data, key, (target) => compareSearch(target, rows));
}

async function withServer(
  data: string, key: string, measure: (target: Target, server: Running) => Promise<void>,
): Promise<void> {
  const server = await startServer(data);
  await measure({ port: server.port, key }, server);
  await server.stop();
}

async function timeRows(rows: number, run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return (rows / (performance.now() - start)) * 1000;
}

async function compareSearch(target: Target, rows: number): Promise<void> {
  const measure = async (paths: readonly string[]): Promise<number> => {
    const { latencies } = await generateLoad({
      port: target.port, connections: CONNECTIONS, durationMs: MEASURE_MS,
      workload: { kind: 'get', key: target.key, paths },
    });
    return percentile(latencies, 0.5);
  };
  const byId = await measure([await findFirstPath(target)]);
  printRow(['', 'p50 ms', 'x get']);
  printRow(['get', byId, 1]);
  // No search repeats an earlier one, so no page comes from the cache.
  const searches: Readonly<Record<string, (n: number) => string>> = {
    'q rare': (n) => `?q=number%20${(n * 7_919) % rows}`,
    'q common': (n) => `?q=${changeCase('kettle', n)}&limit=${50 + (n % 51)}`,
    'q by price': (n) => `?q=${changeCase('kettle', n)}&sort=price&limit=${50 + (n % 51)}`,
    'price range': (n) => `?price_min=${(n % 8_000) / 100}&price_max=80`,
    'by name': (n) => `?sort=name&changed_since=${n}`,
  };
  for (const [name, search] of Object.entries(searches)) {
    const paths = Array.from({ length: SEARCHES }, (_, n) => `${PRODUCTS_PATH}${search(n + 1)}`);
    const p50 = await measure(paths);
    printRow([name, p50, p50 / byId]);
  }
}

/** The nth variant of a word in upper and lower case. */
function changeCase(word: string, n: number): string {
  return [...word].map((letter, at) => ((n >> at) & 1 ? letter.toUpperCase() : letter)).join('');
}
