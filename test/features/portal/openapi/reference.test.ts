/** The API reference: a page for each operation, with a curl line that works. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { Instances } from '../../../../src/api/instances.ts';
import { description, routes } from '../../../support/routes.ts';
import { formatCurl, readDocument } from '../../../../src/features/portal/openapi/document.ts';
import { renderProse } from '../../../../src/features/portal/openapi/schema-view.ts';
import { LOCAL } from '../../webhooks/routes.ts';
import { type Answer, send } from '../../../support/http.ts';
import { startServer } from '../../../support/server.ts';
import { assertOwn, assertPage } from '../page-rules.ts';
import { openShop, readText, type Shop } from '../page-client.ts';

const DOCUMENT = readDocument({ description, prefix: '' });
const IDS = routes.map(({ operation }) => operation.id);
/** Full of characters that are special in a shell, a URL and a page. */
const SKU = 'it\'s "$1" /`x`%2F&<é>';

test('the index links to every operation and to the document', async (t) => {
  const { shop, server } = await start(t);
  const index = await shop.user.get('/portal/api');
  assertPage(index);
  for (const { operation, method, path } of routes) {
    assert.ok(index.text.includes(`href="/portal/api/${operation.id}"`), operation.id);
    assert.ok(readText(index.text).includes(`${operation.summary} ${method} ${path}`), path);
  }
  assert.ok(index.text.includes('href="/api/v1/openapi.json"'));
  assert.ok(readText(index.text).includes(`The API is at http://127.0.0.1:${server.port}`));
  await assertOwn(server, ['/api', '/api/problems', '/api/listProducts']);
});

describe('the page of an operation', () => {
  test('contains everything that the document says about it', async (t) => {
    const { shop } = await start(t);
    for (const operation of DOCUMENT.operations) {
      const page = await shop.user.get(`/portal/api/${operation.operationId}`);
      assertPage(page);
      const text = readText(page.text);
      const says = (words: string): void =>
        assert.ok(text.includes(words), `${operation.operationId}: ${words}`);
      says(`${operation.method} ${operation.path}`);
      if (operation.scope !== undefined) says(`set a key with the scope ${operation.scope}`);
      for (const { name, in: place } of operation.parameters) {
        assert.match(text, new RegExp(`${name} (?:required )?${place} `), name);
      }
      for (const [status, { content = {} }] of operation.responses) {
        says(status);
        if (Number(status) < 400) Object.keys(content).forEach(says);
      }
      Object.keys(operation.requestBody?.content ?? {}).forEach(says);
    }
  });

  test('describes each object that it names once, and links to each error', async (t) => {
    const { shop } = await start(t);
    const problems = await shop.user.get('/portal/api/problems');
    assertPage(problems);
    const pages = await Promise.all(IDS.map((id) => shop.user.get(`/portal/api/${id}`)));
    for (const { text } of [problems, ...pages]) {
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length);
      for (const [, id = ''] of text.matchAll(/href="#([^"]*)"/g)) assert.ok(ids.includes(id), id);
      for (const [, status = ''] of text.matchAll(/problems#(status-\d+)"/g)) {
        assert.ok(problems.text.includes(`id="${status}"`), status);
      }
    }
    assert.match(readText(problems.text), /Problem RFC 9457.* 400 .*invalid-json.* 507 /);
    const sync = pages[IDS.indexOf('syncStock')]?.text ?? '';
    assert.match(readText(sync), /StockSync Member Type Description changes array of StockChange/);
  });

  test('has a working curl line if it reads', async (t) => {
    const { shop, server } = await start(t);
    await createProduct(shop);
    await shop.user.get('/portal/webhooks/new');
    assertPage(await shop.user.submit({ url: 'http://127.0.0.1:9/' }));
    const reading = DOCUMENT.operations.filter(({ method }) => method === 'GET');
    assert.ok(reading.length >= 10);
    const open = ['readOpenApi', 'readHealth', 'readReadiness'];
    for (const { operationId: id } of reading) {
      const [url, ...rest] = runShell(await readLine(shop, id), shop.key);
      assert.deepEqual(rest, open.includes(id) ? [] : ['-H', `x-api-key: ${shop.key}`], id);
      const { port, path, headers } = readCall(url, rest);
      assert.equal(port, server.port);
      const answer = await send(port, { path, headers });
      assert.equal(answer.status, 200, `${id}: ${answer.text}`);
      if (id === 'readProductBySku') assert.equal(answer.json().sku, SKU);
    }
  });

  test('has a curl line that changes the example product only',
    async (t) => {
      const { shop } = await start(t);
      const id = (await createProduct(shop)).json().id;
      const created = await run(shop, 'createProduct');
      assert.equal(created.status, 201, created.text);
      for (const name of ['deleteProduct', 'patchProduct', 'patchProductBySku', 'putProductBySku',
        'deleteProductBySku', 'syncStock', 'importProducts']) {
        const answer = await run(shop, name);
        assert.match(String(answer.status), /^(?:20[014]|404)$/, `${name}: ${answer.text}`);
      }
      const { stock, sku } = (await shop.send({ path: `/api/v1/products/${id}` })).json();
      assert.deepEqual([stock, sku], [40, SKU]);
    });

  test('answers 404 for unknown operations', async (t) => {
    const { shop } = await start(t);
    for (const id of ['listProductsHead', 'nothing', '__proto__', '%3Cb%3E']) {
      assertPage(await shop.user.get(`/portal/api/${id}`), 404);
    }
  });

  test('says that webhooks are disabled', async (t) => {
    const server = await startServer(t, { portal: true });
    const { user } = await openShop(server);
    assert.match((await user.get('/portal/api/listWebhooks')).text, /This is disabled/);
    assert.doesNotMatch((await user.get('/portal/api/listStock')).text, /This is disabled/);
  });
});

test('a curl line has the URL of this server, and is quoted', () => {
  const operation = DOCUMENT.operations.find(({ operationId: id }) => id === 'putProductBySku');
  assert.ok(operation);
  const line = formatCurl(operation, 'https://shop.example/base', new Map([['sku', SKU]]));
  const [flag, method, url, ...rest] = runShell(line, 'spk_1');
  assert.deepEqual([flag, method], ['-X', 'PUT']);
  const path = new URL(url ?? '').pathname;
  assert.equal(url, `https://shop.example${path}`);
  assert.equal(decodeURIComponent(path), `/base/api/v1/products/sku/${SKU}`);
  assert.deepEqual(rest.slice(0, 5), [
    '-H', 'x-api-key: spk_1', '-H', 'content-type: application/json', '--data-binary',
  ]);
  const quoted = { ...operation, requestBody: { required: true, content: {
    'application/json': { schema: {}, example: { name: 'it\'s $1 `x`' } },
  } } };
  const body = runShell(formatCurl(quoted, 'https://shop.example', new Map()), 'spk_1').at(-1);
  assert.equal(body, '{"name":"it\'s $1 `x`"}');
});

test('prose has code, emphasis and lists; everything else is text', () => {
  const { text } = renderProse('A <b>`<i>`</b> *word* 2*3*4\nand on\n\n- `x`: one\n- two & more');
  assert.equal(text.replaceAll(/\s+/g, ' '), '<p>A &lt;b&gt;<code>&lt;i&gt;</code>&lt;/b&gt;'
    + ' <em>word</em> 2<em>3</em>4 and on</p> <ul><li><code>x</code>: one</li>'
    + '<li>two &amp; more</li></ul>');
});

test('the document is read once', () => {
  let calls = 0;
  const instances = new Instances(() => {
    calls += 1;
    return { description, prefix: '' };
  });
  assert.equal(instances.get(readDocument), instances.get(readDocument));
  assert.equal(calls, 1);
});

async function start(t: Parameters<typeof startServer>[0]) {
  const server = await startServer(t, { portal: true, webhooks: LOCAL });
  return { server, shop: await openShop(server) };
}

async function createProduct(shop: Shop): Promise<Answer> {
  const answer = await shop.send({
    method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Mug', category: 'Kitchen', sku: SKU, price: 1, stock: 40 }),
  });
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

/** The curl line on the page of an operation, as copied. */
async function readLine(shop: Shop, id: string): Promise<string> {
  const page = await shop.user.get(`/portal/api/${id}`);
  const shown = /<pre id="copy-curl"[^>]*>([^<]*)<\/pre>/.exec(page.text)?.[1];
  assert.ok(shown !== undefined, page.text);
  return shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}

/** The arguments that a shell passes to curl. */
function runShell(line: string, key: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\nKEY='${key}'\n${line}`;
  const { stdout, status, stderr } = spawnSync('sh', ['-eu', '-c', script]);
  assert.equal(status, 0, String(stderr));
  return String(stdout).split('\0').slice(0, -1);
}

/** The request that curl would send, for the flags used here. */
function readCall(url: string | undefined, flags: readonly string[]) {
  const { port, pathname, search } = new URL(url ?? '');
  const headers = flags.flatMap((flag, index) =>
    flag === '-H' ? [(flags[index + 1] ?? '').split(/: (.*)/, 2)] : []);
  return {
    port: Number(port), path: pathname + search, headers: Object.fromEntries(headers),
    body: flags[flags.indexOf('--data-binary') + 1],
  };
}

/** Runs a curl line that writes. */
async function run(shop: Shop, id: string): Promise<Answer> {
  const given = runShell(await readLine(shop, id), shop.key);
  const method = given[0] === '-X' ? given[1] ?? '' : 'POST';
  const [url, ...flags] = given[0] === '-X' ? given.slice(2) : given;
  const { port, path, headers, body } = readCall(url, flags);
  const isSent = flags.includes('--data-binary') && body !== undefined;
  return send(port, { method, path, headers, ...(isSent && { body }) });
}
