/** Exports: all matching products, as one stream and at one position. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test, type TestContext } from 'node:test';
import { makeProduct, startServer, type TestSeller, type TestServer } from '../support/server.ts';
import { generateApiKey, toStoredSecret } from '../../src/domain/access/api-key.ts';
import { countTo, makeNewKey } from '../store/contract/fixture.ts';
import { assertProblem, faultsOf } from './problem.ts';

const PRODUCTS = '/api/v1/products';
const OPTIONAL_COLUMNS = ['barcode', 'description', 'metadata', 'low_stock', 'archived'];

interface Shop {
  readonly server: TestServer;
  readonly seller: TestSeller;
}

async function startShop(t: TestContext, count: number): Promise<Shop> {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  if (count > 0) await importProducts(seller, count);
  const other = await server.makeSeller();
  await other.create({ sku: 'S-1', name: 'Of somebody else' });
  return { server, seller };
}

async function importProducts(seller: TestSeller, count: number): Promise<void> {
  const lines = countTo(count).map((n) =>
    `${JSON.stringify({ ...makeProduct(), sku: `S-${n}`, stock: n })}\n`);
  const { text } = await seller.send({
    method: 'POST', path: `${PRODUCTS}/import`, body: lines.join(''),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.match(text, new RegExp(`"created":${count}\\b`));
}

function readLines(text: string): any[] {
  assert.ok(text === '' || text.endsWith('\n'));
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

for (const how of ['accept', 'format'] as const) {
  test(`returns NDJSON and CSV if ${how} asks for it`, async (t) => {
    const { seller } = await startShop(t, 3);
    const ask = (format: string, type: string) => (how === 'format'
      ? seller.send({ path: `${PRODUCTS}?format=${format}` })
      : seller.send({ path: PRODUCTS, headers: { accept: type } }));
    const list = (await seller.send({ path: PRODUCTS })).json().products;
    const lines = await ask('ndjson', 'application/x-ndjson');
    assert.equal(lines.headers['content-type'], 'application/x-ndjson');
    assert.equal(lines.headers['seller-position'], '3');
    assert.deepEqual(readLines(lines.text), list);
    const csv = await ask('csv', 'text/csv');
    assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8');
    assert.equal(csv.headers['seller-position'], '3');
    const [header, ...rows] = csv.text.trimEnd().split('\r\n');
    // A column for each optional member, too, although no product has a value there.
    assert.equal(header, [...Object.keys(list[0]), ...OPTIONAL_COLUMNS].join(','));
    const noValues = OPTIONAL_COLUMNS.map(() => '');
    assert.deepEqual(rows, list.map((product: object) =>
      [...Object.values(product), ...noValues].join(',')));
  });
}

test('exports matching products in the requested order, with the requested members', async (t) => {
  const { seller } = await startShop(t, 20);
  const query = 'stock_min=5&stock_max=7&sort=-stock&fields=sku,stock';
  const lines = await seller.send({ path: `${PRODUCTS}?format=ndjson&${query}` });
  assert.deepEqual(readLines(lines.text), [7, 6, 5].map((n) => ({ sku: `S-${n}`, stock: n })));
  const csv = await seller.send({ path: `${PRODUCTS}?format=csv&${query}` });
  assert.equal(csv.text, 'sku,stock\r\nS-7,7\r\nS-6,6\r\nS-5,5\r\n');
});

test('a seller keeps a currency that ISO 4217 has withdrawn: it is exported and imported',
  async (t) => {
    const server = await startServer(t);
    const currency = { code: 'HRK', decimals: 2 };
    const { id: sellerId } = await server.store.createSeller({ name: 'Old', currency });
    const key = generateApiKey();
    await server.store.createKey(sellerId, toStoredSecret(key), makeNewKey());
    const ask = (path: string, body?: string) => server.send({
      path, method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': key, 'content-type': 'text/csv' },
      ...(body !== undefined && { body }),
    });
    const file = 'sku,name,category,price,stock,currency\nA,Mug,Kitchen,7.50,1,HRK\n';
    assert.match((await ask(`${PRODUCTS}/import`, file)).text, /"created":1/);
    const { text } = await ask(`${PRODUCTS}?format=csv`);
    assert.match(text, /,7\.5,HRK,/);
    assert.match((await ask(`${PRODUCTS}/import`, text)).text, /"unchanged":1/);
  });

test('an empty export has a header and no rows', async (t) => {
  const { seller } = await startShop(t, 0);
  assert.equal((await seller.send({ path: `${PRODUCTS}?format=ndjson` })).text, '');
  const csv = await seller.send({ path: `${PRODUCTS}?format=csv&fields=sku` });
  assert.equal(csv.text, 'sku\r\n');
});

test('rejects a limit and a cursor', async (t) => {
  const { seller } = await startShop(t, 1);
  const answer = await seller.send({ path: `${PRODUCTS}?format=csv&limit=5&cursor=x` });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer), ['limit mismatch', 'cursor mismatch']);
});

test('returns the position to HEAD, any number of times', async (t) => {
  const { seller } = await startShop(t, 2);
  for (const _ of countTo(12)) {
    const answer = await seller.send({ method: 'HEAD', path: `${PRODUCTS}?format=ndjson` });
    assert.equal(answer.status, 200, JSON.stringify(answer.headers));
    assert.equal(answer.headers['seller-position'], '2');
  }
});

/** Starts an export without reading its body. */
async function beginExport({ server, seller }: Shop): Promise<IncomingMessage> {
  const outgoing = request({
    host: '127.0.0.1', port: server.port, path: `${PRODUCTS}?format=ndjson`, agent: false,
    headers: { 'x-api-key': seller.key },
  });
  outgoing.on('error', () => {}); // the test ends the connection
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

async function readAll(response: IncomingMessage): Promise<any[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return readLines(Buffer.concat(chunks).toString());
}

test('exports one position during concurrent writes', async (t) => {
  const shop = await startShop(t, 3_000);
  const { seller, server } = shop;
  const expected = new Map<string, any>();
  for (let path: string | undefined = `${PRODUCTS}?limit=1000`; path !== undefined;) {
    const page: any = await seller.send({ path });
    for (const product of page.json().products) expected.set(product.id, product);
    path = /<(.*)>; rel="next"/.exec(page.headers['link'])?.[1];
  }
  const response = await beginExport(shop);
  const headers = { 'content-type': 'application/json' };
  const ids = [...expected.keys()];
  await Promise.all(countTo(300).map(async (n) => {
    const path = `${PRODUCTS}/${ids[ids.length - n]}`;
    if (n % 3 === 0) await seller.send({ method: 'DELETE', path });
    else if (n % 3 === 1) {
      await seller.send({ method: 'PATCH', path, headers, body: '{"stock":9}' });
    } else await seller.create({ name: 'New' });
  }));
  // A search makes the projection catch up beyond the position of the export.
  const found = await seller.send({ path: `${PRODUCTS}?q=new&limit=1000` });
  assert.equal(found.json().products?.length, 100, found.text.slice(0, 300));
  const position = Number(response.headers['seller-position']);
  const exported = await readAll(response);
  assert.equal(position, 3_000);
  assert.deepEqual(exported, [...expected.values()]);
  assert.equal(server.reports.length, 0);
});

test('serves other requests while an export waits for its reader', async (t) => {
  const shop = await startShop(t, 2_000);
  const waiting = await beginExport(shop);
  const { seller } = shop;
  assert.equal((await seller.create()).status, 201);
  assert.equal((await seller.send({ path: `${PRODUCTS}?q=product&limit=1` })).status, 200);
  assert.equal((await readAll(await beginExport(shop))).length, 2_001);
  assert.equal((await readAll(waiting)).length, 2_000);
});

test('frees the slot of an export whose reader disconnects', async (t) => {
  const shop = await startShop(t, 2_000);
  for (const _ of countTo(12)) {
    const response = await beginExport(shop);
    assert.equal(response.statusCode, 200);
    response.destroy();
    await once(response, 'close');
  }
  assert.equal(shop.server.reports.length, 0);
});
