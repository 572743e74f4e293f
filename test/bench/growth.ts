/** Responses, start and idle memory while one seller's catalogue grows to 1,000,000 products. */
import { waitForSearch } from './client.ts';
import { createSeller, fillCatalogue } from './data.ts';
import { generateLoad } from './load/load.ts';
import { PRODUCTS_PATH, type Workload } from './load/workloads.ts';
import { startServer } from './process.ts';
import { percentile, printRow } from './table.ts';

const SIZES = [1_000, 100_000, 1_000_000];
/** Few, so that a response hardly waits for others. */
const CONNECTIONS = 4;
const MEASURE_MS = 3_000;

export async function measureGrowth(data: string, sizes: readonly number[] = SIZES): Promise<void> {
  const { id, key } = createSeller(data);
  console.log(`\nGrowth of one seller's catalogue: ${CONNECTIONS} connections`);
  printRow(['products', 'create p50', 'x first', 'list p50', 'x first', 'start ms', 'idle MiB']);
  let first: { create: number; list: number } | undefined;
  let filled = 0;
  for (const size of sizes) {
    await fillCatalogue(data, id, filled, size);
    filled = size;
    const server = await startServer(data);
    const idle = server.memory();
    const measure = async (workload: Workload): Promise<number> => {
      const { port } = server;
      const load = { port, connections: CONNECTIONS, durationMs: MEASURE_MS, workload };
      return percentile((await generateLoad(load)).latencies, 0.5);
    };
    await waitForSearch({ port: server.port, key }); // its first build takes a core
    const list = await measure({ kind: 'get', key, paths: [PRODUCTS_PATH] });
    await measure({ kind: 'create', key, series: `W${size}` }); // warms up
    const create = await measure({ kind: 'create', key, series: `G${size}` });
    first ??= { create, list };
    printRow([
      size.toLocaleString('en'), create, create / first.create, list, list / first.list,
      Math.round(server.startMs), idle,
    ]);
    await server.stop();
  }
}
