/** A revert compared with its import: without later changes, and with a later sale per product. */
import { performance } from 'node:perf_hooks';
import { SellerClient } from '../../src/client/index.ts';
import { createSeller } from './data.ts';
import { makeVariedProduct } from './load/made-up.ts';
import { startServer } from './process.ts';
import { printRow } from './table.ts';

const ROWS = 100_000;
const ROUNDS = 2;

export async function measureReverts(data: string): Promise<void> {
  const { key } = createSeller(data);
  const server = await startServer(data);
  const shop = new SellerClient({ baseUrl: `http://127.0.0.1:${server.port}`, key });
  const makeRows = (price: number): string => Array.from({ length: ROWS }, (_, n) =>
    `${JSON.stringify({ ...makeVariedProduct(n), price, stock: 50 + price })}\n`).join('');
  const time = async <Result>(work: () => Promise<Result>): Promise<[number, Result]> => {
    const start = performance.now();
    const result = await work();
    return [(performance.now() - start) / 1000, result];
  };
  const importRows = (price: number) => time(async () =>
    (await shop.products.import(makeRows(price), { type: 'application/x-ndjson' })).summary());
  const revert = (id: string | undefined, force: boolean) => time(async () =>
    (await shop.imports.revert({ import: id ?? '' }, { force })).summary());

  console.log(`\nReverts of imports of ${ROWS.toLocaleString('en')} rows`);
  printRow(['reverted', 'import s', 'revert s', 'x import', 'peak MiB']);
  const [createdIn, created] = await importRows(1);
  const [deletedIn] = await revert(created.import, false);
  printRow(['created', createdIn, deletedIn, deletedIn / createdIn, server.peakMemory()]);
  await importRows(1);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const isSold = round === ROUNDS;
    const [importedIn, { import: id }] = await importRows(round + 1);
    if (isSold) {
      const sales = Array.from({ length: ROWS }, (_, n) =>
        `${JSON.stringify({ sku: makeVariedProduct(n).sku, adjust: -1 })}\n`).join('');
      await (await shop.stock.sync(sales)).summary();
    }
    const [revertedIn, { restored }] = await revert(id, isSold);
    if (restored !== ROWS) throw new Error(`${restored} products were restored`);
    const name = isSold ? 'sold since' : 'updated';
    printRow([name, importedIn, revertedIn, revertedIn / importedIn, server.peakMemory()]);
  }
  await server.stop();
}
