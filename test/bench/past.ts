/**
 * Reads of past catalogues: pages at positions before and among 1,000,000 changes, compared with
 * plain pages of the same products, and how long it takes to find a product by its former SKU.
 */
import { performance } from 'node:perf_hooks';
import { parseNewProduct } from '../../src/domain/catalogue/product.ts';
import type { NewProduct } from '../../src/domain/catalogue/product-fields.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { get } from './client.ts';
import { createSeller, EURO, parseActor } from './data.ts';
import { generateLoad } from './load/load.ts';
import { makeVariedProduct } from './load/made-up.ts';
import { PRODUCTS_PATH } from './load/workloads.ts';
import { startServer } from './process.ts';
import { percentile, printRow } from './table.ts';

const PRODUCTS = 100_000;
/**
 * Each round changes the stock or the price of every product once, in an order that its factor
 * determines: no factor has a common divisor with the number of products.
 */
const FACTORS = [3, 7, 9, 11, 13, 17, 19, 21, 23, 27];
const CHANGES = PRODUCTS * FACTORS.length;
const EDITING_ROUNDS = [3, 7];
const BATCH = 1_000;
const PAGE = 100;
/** Pages requested in turn, evenly spread over the catalogue. */
const PAGES = 200;
/** A plain page is cached, so each page is requested with this many different limits in turn. */
const LIMITS = 10;
/** Few, so that a response hardly waits for others. */
const CONNECTIONS = 2;
const MEASURE_MS = 3_000;
const RENAMED = 'RENAMED-1';

export async function measurePast(data: string): Promise<void> {
  const { id, key } = createSeller(data);
  await fill(data, id);
  const server = await startServer(data);
  const target = { port: server.port, key };
  const measure = async (at: string): Promise<number> => {
    const cursors: string[] = [];
    for (let cursor = ''; cursors.length < PAGES;) {
      const text = await get(target, `${PRODUCTS_PATH}?limit=${PRODUCTS / PAGES}${at}${cursor}`);
      const { next_cursor: next } = JSON.parse(text);
      if (next === null) break;
      cursors.push(next);
      cursor = `&cursor=${next}`;
    }
    const paths = Array.from({ length: LIMITS }, (_, n) => PAGE - LIMITS / 2 + n).flatMap(
      (limit) => cursors.map((cursor) =>
        `${PRODUCTS_PATH}?limit=${limit}${at}&cursor=${cursor}`));
    const { latencies } = await generateLoad({
      port: server.port, connections: CONNECTIONS, durationMs: MEASURE_MS,
      workload: { kind: 'get', key, paths },
    });
    return percentile(latencies, 0.5);
  };

  const [products, changes] = [PRODUCTS, CHANGES].map((number) => number.toLocaleString('en'));
  console.log(`\nThe past of ${products} products and ${changes} changes: a page of ${PAGE}`);
  printRow(['at', 'p50 ms', 'x plain']);
  const plain = await measure('');
  printRow(['plain', plain, 1]);
  for (const share of [0, 0.5, 0.9, 1]) {
    const p50 = await measure(`&at=${PRODUCTS + CHANGES * share}`);
    printRow([`${Math.round(CHANGES * (1 - share))} ago`, p50, p50 / plain]);
  }
  const start = performance.now();
  await get(target, `${PRODUCTS_PATH}/sku/${RENAMED}?at=${PRODUCTS}`);
  printRow(['renamed SKU', performance.now() - start, '']);
  await server.stop();
}

async function fill(data: string, keyId: string): Promise<void> {
  const actor = parseActor(keyId);
  const store = await openSqliteStore({ folder: data });
  const make = (n: number, round: number): NewProduct => parseNewProduct({
    ...makeVariedProduct(n), ...(n === 0 && { sku: RENAMED }), price: round,
  }, EURO);
  const batches = Array.from({ length: PRODUCTS / BATCH }, (_, batch) =>
    Array.from({ length: BATCH }, (_, n) => batch * BATCH + n));
  for (const [round, factor] of [1, ...FACTORS].entries()) {
    for (const numbers of batches) {
      const products = numbers.map((n) => make((n * factor) % PRODUCTS, round));
      if (round === 0 || EDITING_ROUNDS.includes(round)) {
        await store.importProducts(actor, products, 'upsert');
        continue;
      }
      const changes = products.map(({ sku }) => ({ sku, set: 1_000 + round }));
      await store.syncStock(actor, {
        changes, source: undefined, reason: undefined, isAtomic: false, completion: undefined,
      }, false);
    }
  }
  await store.patchProduct(actor, { sku: make(0, 0).sku }, { sku: make(PRODUCTS, 0).sku }, {});
  await store.close();
}
