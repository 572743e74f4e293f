/** Rows of a product file whose price or stock differ: rejected, added up, or the last one used. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startServer } from '../../support/server.ts';
import { importFile } from './import.ts';

const NDJSON = 'application/x-ndjson';
const HEADER = 'name,category,sku,price,stock\n';

async function openSeller(t: TestContext) {
  const seller = await (await startServer(t)).makeSeller();
  const readStock = async (sku: string): Promise<number> =>
    (await seller.send({ path: `/api/v1/products/sku/${sku}` })).json().stock;
  return { seller, readStock };
}

test('rejects a row with another price or stock, whatever the format and the batch', async (t) => {
  const { seller, readStock } = await openSeller(t);
  const rows = Array.from({ length: 1_200 }, (_, n) => `P,K,S-${n},1,5\n`).join('');
  const csv = `${HEADER}M,K,M,1,10\n${rows}N,K,M,1,10\nM,K,M,1,2\nM,K,M,2,10\nM,K,M,1,10\n`;
  const products = csv.split('\n').slice(1, -1).map((line) => {
    const [name, category, sku, price, stock] = line.split(',');
    return JSON.stringify({ name, category, sku, price: Number(price), stock: Number(stock) });
  });
  const ndjson = { body: products.join('\n'), type: NDJSON };
  for (const file of [{ body: csv }, ndjson]) {
    for (const query of ['dry_run=true', '']) {
      const { rows: lines, summary } = await importFile(seller, { ...file, query });
      const start = file === ndjson ? 1 : 2;
      assert.deepEqual(lines.map(({ line, errors: [error] }) => [line, error.pointer]), [
        [start + 1_202, '/stock'], [start + 1_203, '/price'],
      ]);
      assert.match(lines[0].errors[0].detail, new RegExp(`^Line ${start + 1_201} has a stock of `
        + 'this product, too\\. Set duplicates=sum to add up .*, or duplicates=last '));
      assert.match(lines[1].errors[0].detail, /has another price .* set duplicates=last to use/);
      assert.deepEqual([summary.failed, summary.duplicates, summary.advice], [2, 2, undefined]);
    }
  }
  assert.equal(await readStock('M'), 10);
});

test('adds up the stock, also if the file is sent again under a key', async (t) => {
  const { seller, readStock } = await openSeller(t);
  const body = `${HEADER}M,K,M,1,10\nM,K,M,1,\nM,K,M,,5\nM,K,M,2,1\nA,K,A,1,x\nA,K,A,1,7\n`
    + 'B,K,B,1,1000000000\nB,K,B,1,1\n';
  const file = { body, query: 'duplicates=sum', headers: { 'idempotency-key': '"k"' } };
  const first = await importFile(seller, file);
  assert.deepEqual(first.rows.map(({ line, errors: [error] }) => [line, error.code]),
    [[5, 'duplicate'], [6, 'format'], [7, 'mismatch'], [9, 'duplicate']]);
  assert.equal(await readStock('M'), 15);
  assert.equal(await readStock('B'), 1_000_000_000);
  assert.deepEqual(await importFile(seller, file), first);
  await importFile(seller, { body, query: 'duplicates=sum' });
  assert.equal(await readStock('M'), 15);
});

test('rejects all later stock of a product in a file with locations', async (t) => {
  const { seller, readStock } = await openSeller(t);
  const body = 'name,category,sku,price,Lager,stock\nM,K,M,1,A,5\nM,K,M,1,B,5\nM,K,M,1,C,\n';
  const { rows } = await importFile(seller, { body });
  assert.deepEqual(rows.map(({ line }) => line), [3]);
  await importFile(seller, { body, query: 'duplicates=sum' });
  assert.equal(await readStock('M'), 10);
  await importFile(seller, { body, query: 'duplicates=last' });
  assert.equal(await readStock('M'), 5);
  const named = body.replace(',stock', '').replace(/,[ABC],/g, ',');
  const mapped = await importFile(seller, { body: named, query: 'map=stock:Lager' });
  assert.deepEqual(mapped.rows, []);
});

test('adds nothing of a row whose id is that of another product', async (t) => {
  const { seller, readStock } = await openSeller(t);
  const { id } = (await seller.create({ sku: 'N', stock: 3 })).json();
  await seller.create({ sku: 'M', stock: 3, price: 1 });
  const body = `id,sku,stock\n${id},M,10\n,M,2\n${id},N,4\n`;
  const { rows } = await importFile(seller, { body, query: 'duplicates=sum' });
  assert.deepEqual(rows.map(({ line }) => line), [2, 3, 4]);
  assert.deepEqual([await readStock('M'), await readStock('N')], [3, 3]);
});

test('rejects a sum that would lack rows, or of products that are only created', async (t) => {
  const { seller } = await openSeller(t);
  const send = (body: string, query: string) => seller.send({
    method: 'POST', path: `/api/v1/products/import?${query}`, body,
    headers: { 'content-type': 'text/csv' },
  });
  const again = await send(`error,${HEADER}x,M,K,M,1,1\n`, 'duplicates=sum');
  assert.equal(again.status, 400);
  assert.match(again.json().detail, /A file of rejected rows has only some rows of a product/);
  const create = await send(`${HEADER}M,K,M,1,1\n`, 'duplicates=sum&mode=create');
  assert.deepEqual([create.status, create.json().errors[0].parameter], [400, 'duplicates']);
});
