/** The API reference: a page for each operation, with a working curl command. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { description, routes } from '../../../support/routes.ts';
import { describeApi } from '../../../../src/features/openapi/openapi.ts';
import { formatCurl } from '../../../../src/features/portal/html/curl.ts';
import { renderProse } from '../../../../src/features/portal/openapi/schema-view.ts';
import { LOCAL } from '../../webhooks/routes.ts';
import { type Answer, send } from '../../../support/http.ts';
import { startServer } from '../../../support/server.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';
import { openShop, readText, type Shop } from '../page-client.ts';

const OPERATIONS = readOperations();
const IDS = routes.map(({ operation }) => operation.id);
/** Characters that are special in a shell, a URL or HTML. */
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
  await assertRequiresSignIn(server, ['/api', '/api/problems', '/api/listProducts']);
});

describe('the page of an operation', () => {
  test('contains everything that the document says about it', async (t) => {
    const { shop } = await start(t);
    for (const { method, path, id, operation, parameters, responses } of OPERATIONS) {
      const page = await shop.user.get(`/portal/api/${id}`);
      assertPage(page);
      const text = readText(page.text);
      const says = (words: string): void => assert.ok(text.includes(words), `${id}: ${words}`);
      says(`${method} ${path}`);
      const scopes = operation.security.flatMap(({ apiKey }) => apiKey);
      if (scopes.length > 0) says(`set a key with the scope ${scopes.join(' or ')} in your shell`);
      for (const { name, in: place } of parameters) {
        assert.match(text, new RegExp(`${name} (?:required )?${place} `), name);
      }
      for (const [status, { content = {}, headers }] of responses) {
        says(status);
        if (Number(status) < 400) [content, headers].flatMap(Object.keys).forEach(says);
      }
      Object.keys(operation.requestBody?.content ?? {}).forEach(says);
    }
  });

  test('describes each referenced object once, and links to each error', async (t) => {
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

  test('has a working curl command for reads', async (t) => {
    const { shop, server } = await start(t);
    await createProduct(shop);
    await shop.user.get('/portal/webhooks/new');
    assertPage(await shop.user.submit({ url: 'http://127.0.0.1:9/' }));
    await shop.send({
      method: 'POST', path: '/api/v1/stock', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ changes: [{ sku: SKU, adjust: 1 }] }),
    });
    const reading = OPERATIONS.filter(({ method }) => method === 'GET');
    assert.ok(reading.length >= 10);
    const open = ['readOpenApi', 'readHealth', 'readReadiness'];
    for (const { id } of reading) {
      const [url, ...rest] = runShell(await readLine(shop, id), shop.key);
      assert.deepEqual(rest, open.includes(id) ? [] : ['-H', `x-api-key: ${shop.key}`], id);
      const { port, path, headers } = readCall(url, rest);
      assert.equal(port, server.port);
      const answer = await send(port, { path, headers });
      assert.equal(answer.status, 200, `${id}: ${answer.text}`);
      if (id === 'readProductBySku') assert.equal(answer.json().sku, SKU);
    }
  });

  test('has a curl command that changes the example product only',
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
    assert.match((await user.get('/portal/api/listWebhooks')).text, /This operation is disabled/);
    assert.doesNotMatch((await user.get('/portal/api/listStock')).text, /operation is disabled/);
  });
});

test('a curl command has the URL of this server, and is quoted for the shell', () => {
  const route = routes.find(({ operation }) => operation.id === 'putProductBySku');
  assert.ok(route);
  const line = formatCurl(route, 'https://shop.example/base', '$KEY', new Map([['sku', SKU]]));
  const [flag, method, url, ...rest] = runShell(line, 'spk_1');
  assert.deepEqual([flag, method], ['-X', 'PUT']);
  const path = new URL(url ?? '').pathname;
  assert.equal(url, `https://shop.example${path}`);
  assert.equal(decodeURIComponent(path), `/base/api/v1/products/sku/${SKU}`);
  assert.deepEqual(rest.slice(0, 5), [
    '-H', 'x-api-key: spk_1', '-H', 'content-type: application/json', '--data-binary',
  ]);
  const quoted = { ...route, operation: { ...route.operation, request: {
    'application/json': { schema: {}, example: { name: 'it\'s $1 `x`' } },
  } } };
  const body = runShell(formatCurl(quoted, 'https://shop.example', '$KEY'), 'spk_1').at(-1);
  assert.equal(body, '{"name":"it\'s $1 `x`"}');
});

test('descriptions render code, emphasis and lists; everything else is text', () => {
  const { text } = renderProse('A <b>`<i>`</b> *word* 2*3*4\nand on\n\n- `x`: one\n- two & more');
  assert.equal(text.replaceAll(/\s+/g, ' '), '<p>A &lt;b&gt;<code>&lt;i&gt;</code>&lt;/b&gt;'
    + ' <em>word</em> 2<em>3</em>4 and on</p> <ul><li><code>x</code>: one</li>'
    + '<li>two &amp; more</li></ul>');
});

interface Reference { readonly $ref?: string }
type Parameter = Reference & { readonly name: string; readonly in: string };
type Response = Reference & { readonly headers: object; readonly content?: object };
interface DescribedOperation {
  readonly operationId: string;
  readonly security: readonly { readonly apiKey: readonly string[] }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: object };
  readonly responses: Readonly<Record<string, Response>>;
}

/** The operations of the OpenAPI document, with their references resolved. */
function readOperations() {
  const { paths, components } = JSON.parse(describeApi(description));
  const resolve = <Part extends Reference>(kind: string, part: Part): Part =>
    part.$ref === undefined ? part : components[kind][part.$ref.split('/').at(-1) ?? ''];
  const readPath = ([path, item]: [string, Record<string, unknown>]) => {
    const { parameters: shared = [], head, ...methods } = item;
    // The casts: a path item contains shared parameters and operations only.
    return Object.entries(methods as Record<string, DescribedOperation>)
      .map(([method, operation]) => ({
        id: operation.operationId, method: method.toUpperCase(), path, operation,
        parameters: [...shared as readonly Parameter[], ...operation.parameters ?? []]
          .map((parameter) => resolve('parameters', parameter)),
        responses: Object.entries(operation.responses)
          .map(([status, response]) => [status, resolve('responses', response)] as const),
      }));
  };
  return Object.entries<Record<string, unknown>>(paths).flatMap(readPath);
}

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

/** The curl command on the page of an operation, as copied. */
async function readLine(shop: Shop, id: string): Promise<string> {
  const page = await shop.user.get(`/portal/api/${id}`);
  const shown = /<pre id="copy-curl"[^>]*>([^<]*)<\/pre>/.exec(page.text)?.[1];
  assert.ok(shown !== undefined, page.text);
  return shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}

/** The arguments that a shell would pass to curl. */
function runShell(line: string, key: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\nKEY='${key}'\n${line}`;
  const { stdout, status, stderr } = spawnSync('sh', ['-eu', '-c', script]);
  assert.equal(status, 0, String(stderr));
  return String(stdout).split('\0').slice(0, -1);
}

/** The request that curl would send, for the flags in use. */
function readCall(url: string | undefined, flags: readonly string[]) {
  const { port, pathname, search } = new URL(url ?? '');
  const headers = flags.flatMap((flag, index) =>
    flag === '-H' ? [(flags[index + 1] ?? '').split(/: (.*)/, 2)] : []);
  return {
    port: Number(port), path: pathname + search, headers: Object.fromEntries(headers),
    body: flags[flags.indexOf('--data-binary') + 1],
  };
}

/** Runs a curl command that writes. */
async function run(shop: Shop, id: string): Promise<Answer> {
  const given = runShell(await readLine(shop, id), shop.key);
  const method = given[0] === '-X' ? given[1] ?? '' : 'POST';
  const [url, ...flags] = given[0] === '-X' ? given.slice(2) : given;
  const { port, path, headers, body } = readCall(url, flags);
  const isSent = flags.includes('--data-binary') && body !== undefined;
  return send(port, { method, path, headers, ...(isSent && { body }) });
}
