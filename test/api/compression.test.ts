/** Compressed responses: complete, with an ETag of their own, and only for clients that ask. */
import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { test, type TestContext } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startServer, type TestSeller, type TestServer } from '../support/server.ts';

const PRODUCTS = '/api/v1/products';
const DECOMPRESS = { br: brotliDecompressSync, gzip: gunzipSync } as const;

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

interface Shop extends TestServer {
  readonly seller: TestSeller;
  /** Requests the list, or another path, and returns the bytes as received. */
  ask(headers: Record<string, string>, method?: string, path?: string): Promise<RawAnswer>;
}

/** A seller with products that fill more than a page of 1 KiB. */
async function openShop(t: TestContext, count = 10): Promise<Shop> {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (let n = 0; n < count; n += 1) await seller.create();
  const ask: Shop['ask'] = (headers, method = 'GET', path = PRODUCTS) =>
    new Promise((resolve, reject) => {
      const outgoing = request({
        host: '127.0.0.1', port: server.port, method, path, agent: false,
        headers: { 'x-api-key': seller.key, ...headers },
      });
      outgoing.on('error', reject);
      outgoing.on('response', async (response) => {
        const chunks = await response.toArray().catch(reject) ?? [];
        const { statusCode: status, headers: fields } = response;
        resolve({ status, headers: fields, bytes: Buffer.concat(chunks) });
      });
      outgoing.end();
    });
  return { ...server, seller, ask };
}

for (const coding of ['br', 'gzip'] as const) {
  test(`sends a complete list in ${coding}, and 304 for its ETag`, async (t) => {
    const { ask } = await openShop(t);
    const plain = await ask({});
    for (let n = 0; n < 2; n += 1) { // first compressed, then cached
      const { status, headers, bytes } = await ask({ 'accept-encoding': coding });
      assert.equal(status, 200);
      assert.equal(headers['content-encoding'], coding);
      assert.equal(headers['content-length'], String(bytes.length));
      assert.equal(headers.etag, `"10-${coding}"`);
      assert.ok(bytes.length < plain.bytes.length / 2);
      assert.deepEqual(DECOMPRESS[coding](bytes), plain.bytes);
      const again = await ask({ 'accept-encoding': coding, 'if-none-match': headers.etag ?? '' });
      assert.equal(again.status, 304);
      assert.equal(again.headers.etag, headers.etag);
      assert.equal(again.headers['content-encoding'], undefined);
    }
  });

  test(`accepts the ETag of a ${coding} representation in preconditions`, async (t) => {
    const { seller, ask } = await openShop(t, 1);
    const path = `${PRODUCTS}/sku/one`;
    const headers = { 'content-type': 'application/json' };
    await seller.create({ sku: 'one' });
    const change = (stock: number, fields: Record<string, string>) => seller.send({
      method: 'PATCH', path, headers: { ...headers, ...fields }, body: JSON.stringify({ stock }),
    });
    assert.equal((await change(1, { 'if-match': `"2-${coding}"` })).headers.etag, '"3"');
    assert.equal((await change(2, { 'if-match': `"2-${coding}"` })).status, 412);
    assert.equal((await change(2, { 'if-none-match': `"3-${coding}"` })).status, 412);
    assert.equal((await ask({ 'if-none-match': `"3-${coding}"` }, 'GET', path)).status, 304);
  });
}

test('sends Vary with a list, compressed or not, and with its 304', async (t) => {
  const { ask } = await openShop(t);
  for (const headers of [{}, { 'accept-encoding': 'br' }, { 'if-none-match': '*' }]) {
    const { vary = '' } = (await ask(headers)).headers;
    assert.deepEqual(vary.split(', ').sort(), ['accept', 'accept-encoding']);
  }
});

test('responds to HEAD as to GET, without the body', async (t) => {
  const { ask } = await openShop(t);
  const [get, head] = [await ask({ 'accept-encoding': 'gzip' }), await ask({}, 'HEAD')];
  const compressed = await ask({ 'accept-encoding': 'gzip' }, 'HEAD');
  for (const name of ['content-length', 'content-encoding', 'etag', 'vary'] as const) {
    assert.equal(compressed.headers[name], get.headers[name]);
  }
  assert.equal(compressed.bytes.length, 0);
  assert.equal(head.headers['content-encoding'], undefined);
});

test('does not compress short responses and problems', async (t) => {
  const { seller, ask } = await openShop(t, 1);
  const accept = { 'accept-encoding': 'br, gzip' };
  const answers = [
    await ask(accept), await ask(accept, 'GET', `${PRODUCTS}?unknown=${'x'.repeat(2_000)}`),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [200, 400]);
  for (const { headers, bytes } of answers) {
    assert.equal(headers['content-encoding'], undefined);
    assert.doesNotThrow(() => JSON.parse(bytes.toString()));
  }
  const created = await seller.create({ name: 'é'.repeat(10) });
  assert.equal(created.headers['content-encoding'], undefined);
});

test('compresses a long response to a write, too', async (t) => {
  const { port, seller } = await openShop(t, 0);
  const body = JSON.stringify({
    name: '部'.repeat(200), category: '部'.repeat(100), sku: '部'.repeat(64), price: 1, stock: 1,
  });
  const response = await fetch(`http://127.0.0.1:${port}${PRODUCTS}`, {
    method: 'POST', body,
    headers: {
      'x-api-key': seller.key, 'content-type': 'application/json', 'accept-encoding': 'br',
    },
  });
  assert.equal(response.status, 201);
  assert.equal(response.headers.get('content-encoding'), 'br');
  assert.equal(response.headers.get('etag'), '"1-br"');
  assert.ok((await response.text()).includes('部'.repeat(200)));
});

test('sends a changed catalogue again in each coding', async (t) => {
  const { seller, ask } = await openShop(t);
  const before = await ask({ 'accept-encoding': 'br' });
  await seller.create({ name: 'The newest' });
  const after = await ask({ 'accept-encoding': 'br', 'if-none-match': before.headers.etag ?? '' });
  assert.equal(after.status, 200);
  assert.equal(after.headers.etag, '"11-br"');
  assert.match(brotliDecompressSync(after.bytes).toString(), /The newest/);
});
