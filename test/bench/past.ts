/**
 * The catalogue as it was: pages at positions before and among a million changes, beside plain
 * pages of the same products, and what it takes to find a product by a SKU that it had.
 */
import { performance } from 'node:perf_hooks';
import { parseNewProduct } from '../../src/domain/catalogue/product.ts';
import type { NewProduct } from '../../src/domain/catalogue/product-fields.ts';
import { parseKeyId } from '../../src/domain/id.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { generateLoad } from './load.ts';
import { makeVariedProduct } from './made-up.ts';
import { runCommand, startServer } from './process.ts';
import { printRow } from './table.ts';

const PRODUCTS = 100_000;
/**
 * Each round moves the stock of every product once, or changes its price, in the order that its
 * factor gives: none of them shares a divisor with the number of products.
 */
const FACTORS = [3, 7, 9, 11, 13, 17, 19, 21, 23, 27];
const CHANGES = PRODUCTS * FACTORS.length;
const EDITING_ROUNDS = [3, 7];
const BATCH = 1_000;
const PAGE = 100;
/** Pages that are requested in turn, evenly spread over the catalogue. */
const PAGES = 200;
const PATH = '/api/v1/products';
/** Few, so that the time of an answer is its own and not that of a queue. */
const CONNECTIONS = 2;
const MEASURE_MS = 3_000;
const EURO = { code: 'EUR', decimals: 2 };
const RENAMED = 'RENAMED-1';

export async function measurePast(data: string): Promise<void> {
  runCommand('seller', 'create', 'Bench', '--data', data);
  const { id = '', key = '' } = runCommand('key', 'create', '--name', 'bench', '--data', data);
  await fill(data, id);
  const server = await startServer(data);
  const get = async (query: string): Promise<{ next_cursor: string | null }> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${PATH}${query}`, {
      headers: { 'x-api-key': key },
    });
    if (!response.ok) throw new Error(await response.text());
    // The cast: a list responds with pages.
    return await response.json() as { next_cursor: string | null };
  };
  const measure = async (at: string): Promise<number> => {
    const cursors: string[] = [];
    for (let cursor = ''; cursors.length < PAGES;) {
      const { next_cursor: next } = await get(`?limit=${PRODUCTS / PAGES}${at}${cursor}`);
      if (next === null) break;
      cursors.push(next);
      cursor = `&cursor=${next}`;
    }
    let count = 0;
    // A plain page is cached: each request has another limit than the last one of its page.
    const request = (): string => {
      count += 1;
      const limit = PAGE - 5 + (Math.floor(count / cursors.length) % 10);
      const query = `?limit=${limit}${at}&cursor=${cursors[count % cursors.length]}`;
      return `GET ${PATH}${query} HTTP/1.1\r\nHost: bench\r\nx-api-key: ${key}\r\n\r\n`;
    };
    const { port } = server;
    const load = { port, connections: CONNECTIONS, durationMs: MEASURE_MS, request };
    return (await generateLoad(load)).p50;
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
  await get(`/sku/${RENAMED}?at=${PRODUCTS}`);
  printRow(['renamed SKU', performance.now() - start, '']);
  await server.stop();
}

async function fill(data: string, keyId: string): Promise<void> {
  const actor = parseKeyId(keyId);
  if (!actor) throw new Error(`not the id of a key: ${keyId}`);
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
