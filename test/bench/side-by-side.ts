/**
 * The server beside the floor: both keep running, and each workload visits them in turn in short
 * slices. A ratio is the median of the ratios within each round, because the speed of a shared
 * machine changes within minutes.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findFirstPath, waitForSearch } from './client.ts';
import { createSeller, fillCatalogue } from './data.ts';
import { BareStock } from './floor/stock.ts';
import { generateLoad } from './load/load.ts';
import { makeProduct } from './load/made-up.ts';
import {
  CHANGES_PER_CALL, CONNECTIONS, countConnections, makeWorkload, NAMES, SYNC_CONNECTIONS,
  type Workload,
} from './load/workloads.ts';
import { type Running, startFloor, startServer } from './process.ts';
import { median, percentile, printRow } from './table.ts';

const PRODUCTS = 1_000;

/** One visit of one workload to one server. Of `sync`, rate and CPU time are those of changes. */
interface Slice {
  readonly rate: number;
  /** CPU time of all threads of the server per request, microseconds. */
  readonly cpuUs: number;
  readonly latencies: Float64Array;
}

export async function compareWithFloor(
  folder: string, { rounds = 5, sliceMs = 1_500 } = {},
): Promise<void> {
  mkdirSync(folder);
  const data = join(folder, 'data');
  const { id, key } = createSeller(data);
  await fillCatalogue(data, id, 0, PRODUCTS);
  const skus = Array.from({ length: PRODUCTS }, (_, n) => makeProduct(n, 'F').sku);
  const bare = new BareStock(join(folder, 'bare.db'), skus);
  const floor = await startFloor();
  const server = await startServer(data);
  const target = { port: server.port, key };
  const path = await findFirstPath(target);

  console.log(`\nSide by side: ${rounds} rounds, ${CONNECTIONS} connections`
    + ` (sync: ${SYNC_CONNECTIONS} connections; its units are changes, not requests)`);
  printRow(['', 'per s', 'floor per s', 'of floor', 'CPU us', 'x floor CPU', 'p50 ms', 'p99 ms',
    'RSS MiB']);
  for (const name of NAMES) {
    const [floors, ours]: [Slice[], Slice[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const workload = makeWorkload(name, { key, path }, `${name}${round}`);
      floors.push(workload.kind === 'sync'
        ? changeBare(bare, skus, sliceMs) : await visit(floor, workload, sliceMs));
      ours.push(await visit(server, workload, sliceMs, () => waitForSearch(target)));
    }
    printSlices(name, ours, floors, server.memory());
  }
  await Promise.all([server.stop(), floor.stop()]);
  bare.close();
}

/** Its CPU time includes what it does until `settled`. */
async function visit(
  running: Running, workload: Workload, durationMs: number, settled = async () => {},
): Promise<Slice> {
  const perRequest = workload.kind === 'sync' ? CHANGES_PER_CALL : 1;
  const connections = countConnections(workload);
  const before = running.cpuTime();
  const { rate, responses, latencies } = await generateLoad({
    port: running.port, connections, durationMs, workload,
  });
  await settled();
  const cpuUs = (running.cpuTime() - before) / responses / perRequest;
  return { rate: rate * perRequest, cpuUs, latencies };
}

/** The transactions that `sync` needs at least, in this thread. */
function changeBare(bare: BareStock, skus: readonly string[], durationMs: number): Slice {
  const before = process.threadCpuUsage();
  let round = 0;
  const makeBatch = () => {
    round += 1;
    return skus.map((sku, n) => ({ sku, stock: (n + round) % 90 + 1 }));
  };
  const { changes, ms } = bare.run(makeBatch, (_, spentMs) => spentMs >= durationMs);
  const { user, system } = process.threadCpuUsage(before);
  return {
    rate: (changes / ms) * 1000, cpuUs: (user + system) / changes, latencies: new Float64Array(),
  };
}

function printSlices(
  name: string, ours: readonly Slice[], floors: readonly Slice[], memory: number,
): void {
  const rates = ours.map(({ rate }, n) => rate / (floors[n]?.rate ?? NaN));
  const cpus = ours.map(({ cpuUs }, n) => cpuUs / (floors[n]?.cpuUs ?? NaN));
  const latencies = Float64Array.from(ours.flatMap((slice) => [...slice.latencies]));
  printRow([
    name, median(ours.map(({ rate }) => rate)), median(floors.map(({ rate }) => rate)),
    median(rates), median(ours.map(({ cpuUs }) => cpuUs)), median(cpus),
    percentile(latencies, 0.5), percentile(latencies, 0.99), memory,
  ]);
}
