/**
 * Many sellers: the cost of one more seller in one shop, and of many shops with few sellers. Each
 * case creates sellers with a product each in one process, and measures another process that opens
 * the shops again.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createShop, type Shop } from '../../src/index.ts';
import { printRow } from './table.ts';

/** How many shops, and how many sellers in each. */
const CASES = [[1, 1], [1, 1_000], [10, 100], [50, 20]] as const;
const SELLERS_AT_ONCE = 50;

interface Cost {
  readonly openMs: number;
  readonly createMs: number;
  readonly memoryMib: number;
  readonly threads: number;
  readonly files: number;
}

export async function measureTenants(folder: string): Promise<void> {
  console.log('\nMany sellers: shops opened again by one process, after a request of each seller');
  printRow(['shops', 'sellers', 'open ms', 'MiB', 'threads', 'open files', 'created/s'], 8);
  for (const [shops, sellers] of CASES) {
    const path = join(folder, `${shops}-${sellers}`);
    mkdirSync(path, { recursive: true });
    const run = (): Cost => JSON.parse(execFileSync(process.execPath,
      [import.meta.filename, path, String(shops), String(sellers)], { encoding: 'utf8' }));
    const { createMs } = run();
    const { openMs, memoryMib, threads, files } = run();
    const total = shops * sellers;
    printRow([
      String(shops), String(total), openMs, memoryMib, threads, files, total / createMs * 1_000,
    ], 8);
  }
}

/** In a process of its own. */
async function open(folder: string, shopCount: number, sellerCount: number): Promise<Cost> {
  const start = performance.now();
  const shops: Shop[] = [];
  for (let n = 0; n < shopCount; n += 1) {
    shops.push(await createShop({ folder: join(folder, String(n)) }));
  }
  const opened = performance.now();
  for (const shop of shops) {
    for (let n = 0; n < sellerCount; n += SELLERS_AT_ONCE) {
      const length = Math.min(SELLERS_AT_ONCE, sellerCount - n);
      await Promise.all(Array.from({ length }, (_, at) => visit(shop, `user ${n + at}`)));
    }
  }
  const createMs = performance.now() - opened;
  const cost = {
    openMs: opened - start, createMs,
    memoryMib: Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024,
    threads: readdirSync('/proc/self/task').length,
    files: readdirSync('/proc/self/fd').length,
  };
  for (const shop of shops) await shop.close();
  return cost;
}

/** Creates the seller if there is none, or else lists its products. */
async function visit(shop: Shop, externalId: string): Promise<void> {
  const { products } = shop.as(externalId);
  const page = await products.listPage({ limit: 1 }).catch(() => undefined);
  if (page) return;
  await shop.sellers.create({ name: 'A shop', externalId });
  await products.create({ name: 'Cup', category: 'Kitchen', sku: 'C-1', price: 8, stock: 5 });
}

if (import.meta.main) {
  const [, , folder = '', shops, sellers] = process.argv;
  process.stdout.write(JSON.stringify(await open(folder, Number(shops), Number(sellers))));
}
