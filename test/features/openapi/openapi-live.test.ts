/** The responses of every operation, with every status, match the OpenAPI document. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { AppError } from '../../../src/domain/error.ts';
import { formatProductId, type ProductId } from '../../../src/domain/id.ts';
import { createApp } from '../../../src/features.ts';
import { listen } from '../../../src/http/server/listener.ts';
import { makeClock } from '../../support/clock.ts';
import { type Answer, type Request, send } from '../../support/http.ts';
import {
  makeProduct, startServer, type TestSeller, type TestServer,
} from '../../support/server.ts';
import { findSchemaErrors, type Json } from './json-schema.ts';
import {
  assertDescribed, assertResponse, dig, fetchDocument, listOperations, type OperationEntry,
} from './openapi-document.ts';

const PRODUCTS = '/api/v1/products';
const IMPORT = `${PRODUCTS}/import`;
const GZIP_CSV = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
/** Fewer rows than a batch, with large cells that compress well. */
const [COLUMN, CELL] = ['x'.repeat(250_000), 'x'.repeat(200_000)];
const BOMB = gzipSync(
  `name,category,sku,price,stock,${COLUMN}\n${`a,b,c,1,1,${CELL}\n`.repeat(30)}`);
const IMPORTS = '/api/v1/imports';
const REVERTS = '/api/v1/reverts';
const RANGE = JSON.stringify({ after: 0, up_to: 1 });
const STOCK = '/api/v1/stock';
const BY_ID = `${PRODUCTS}/{id}`;
const BY_SKU = `${PRODUCTS}/sku/{sku}`;

type Headers = Readonly<Record<string, string>>;
const JSON_BODY = { 'content-type': 'application/json' };
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };
const NDJSON_BODY = { 'content-type': 'application/x-ndjson' };
const CSV_BODY = { 'content-type': 'text/csv' };

interface Ask {
  readonly method: string;
  /** The path in the document, with its parameters in braces. */
  readonly path: string;
  /** The value of the path parameter. */
  readonly name?: string;
  readonly query?: string;
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
}

async function start(t: TestContext) {
  const server = await startServer(t, { rateLimitPerMinute: 1_000_000, clock: makeClock() });
  const document = await fetchDocument(server);
  const seller = await server.makeSeller();
  /** Sends a request, and asserts that the response has this status and matches the document. */
  const ask = async (status: number, request: Ask): Promise<Answer> => {
    const answer = await seller.send(toRequest(request));
    assert.equal(answer.status, status, `${request.method} ${request.path}: ${answer.text}`);
    assertDescribed(document, request.method, request.path, answer);
    return answer;
  };
  return { server, document, seller, ask };
}

function toRequest({ path, name = '', query = '', ...rest }: Ask): Request {
  return { ...rest, path: path.replace(/\{\w+\}/, encodeURIComponent(name)) + query };
}

test('lists, finds and exports products as documented', async (t) => {
  const { document, seller, ask } = await start(t);
  const empty = await ask(200, { method: 'GET', path: PRODUCTS });
  await seller.create({ name: '😀'.repeat(200), category: 'é'.repeat(100), sku: '%/?#+ Ω' });
  for (let n = 0; n < 9; n += 1) await seller.create({ price: n / 100 });
  const full = await ask(200, { method: 'GET', path: PRODUCTS });
  for (const answer of [empty, full]) {
    const page = { $ref: '#/components/schemas/ProductPage' };
    assert.deepEqual(findSchemaErrors(answer.json(), page, document), []);
  }
  const first = await ask(200, { method: 'GET', path: PRODUCTS, query: '?limit=6' });
  assert.ok(first.headers['link']);
  const query = `?cursor=${first.json().next_cursor}`;
  const last = await ask(200, { method: 'GET', path: PRODUCTS, query });
  assert.equal(last.json().products.length, 4);
  for (const query of [
    '?limit=3', '?fields=sku', '?fields=id,name,category,price,currency,created_at&limit=2',
    '?q=product&sort=-price&limit=2', '?category=Kitchen&stock_min=7&price_max=0.05',
    '?sku=none', '?changed_since=3&updated_since=2026-01-01T00:00:00Z&sort=name&format=json',
    '?format=ndjson', '?format=ndjson&fields=sku,price', '?format=csv', '?format=csv&fields=name',
    '?format=ndjson&sku=none', '?format=csv&q=product&sort=name',
  ]) {
    for (const method of ['GET', 'HEAD']) await ask(200, { method, path: PRODUCTS, query });
  }
});

test('answers in the requested media type, as documented', async (t) => {
  const { seller, ask } = await start(t);
  for (let n = 0; n < 9; n += 1) await seller.create();
  const events = { accept: 'text/event-stream' };
  await ask(200, { method: 'HEAD', path: '/api/v1/changes', headers: events });
  for (const accept of ['application/x-ndjson', 'text/csv', 'application/json']) {
    const answer = await ask(200, { method: 'GET', path: PRODUCTS, headers: { accept } });
    assert.equal(answer.headers['content-type']?.split(';')[0], accept);
  }
  for (const path of [PRODUCTS, '/api/v1/openapi.json']) {
    for (const coding of ['gzip', 'br']) {
      const headers = { 'accept-encoding': coding };
      const coded = await ask(200, { method: 'HEAD', path, headers });
      assert.equal(coded.headers['content-encoding'], coding);
      const held = { 'if-none-match': coded.headers['etag'] ?? '' };
      await ask(304, { method: 'GET', path, headers: { ...held, ...headers } });
    }
  }
});

test('changes products as documented', async (t) => {
  const { ask } = await start(t);
  const create = {
    method: 'POST', path: PRODUCTS, headers: { ...JSON_BODY, 'idempotency-key': '"create"' },
    body: JSON.stringify({ ...makeProduct(), sku: 'a/b' }),
  };
  const { id } = (await ask(201, create)).json();
  const put = {
    method: 'PUT', path: BY_SKU, name: 'new', headers: { ...JSON_BODY, 'idempotency-key': 'put' },
    body: JSON.stringify({ ...makeProduct(), sku: undefined }),
  };
  const replacement = JSON.stringify({ ...makeProduct(), sku: 'new' });
  const replace = {
    ...put, headers: { ...JSON_BODY, 'idempotency-key': 'replace' }, body: replacement,
  };
  const patch = {
    method: 'PATCH', path: BY_ID, name: id, body: '{"stock":100}',
    headers: { ...MERGE_PATCH, 'idempotency-key': '"patch"' },
  };
  const patchBySku = {
    ...patch, path: BY_SKU, name: 'a/b', headers: { ...MERGE_PATCH, 'idempotency-key': '"sku"' },
  };
  const remove = {
    method: 'DELETE', path: BY_ID, name: id, headers: { 'idempotency-key': '"remove"' },
  };
  const removeBySku = { method: 'DELETE', path: BY_SKU, name: 'new' };
  for (const [status, request] of [
    [201, put], [200, replace], [200, { ...replace, headers: JSON_BODY }], [200, patch],
    [200, patchBySku], [200, { ...patch, headers: JSON_BODY }], [204, remove], [204, removeBySku],
  ] as const) await ask(status, request);
  for (const [status, request] of [
    [201, create], [201, put], [200, replace], [200, patch], [204, remove],
  ] as const) {
    const replay = await ask(status, request);
    assert.equal(replay.headers['idempotent-replay'], 'true', replay.text);
  }
});

test('imports products as documented', async (t) => {
  const { ask } = await start(t);
  const rows = [makeProduct(), { ...makeProduct(), price: -1 }, { sku: 7 }, 'text', makeProduct()];
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const table = 'SKU,Name,Category,Price,Stock,Colour\na,A,B,1.5,2,red\nb,,B,1,x,\n';
  for (const [query, headers, body] of [
    ['', NDJSON_BODY, lines], ['?report=all', NDJSON_BODY, lines],
    ['?mode=create&report=all', NDJSON_BODY, lines], ['?dry_run=true', NDJSON_BODY, lines],
    ['', CSV_BODY, table], ['?map=stock:Price&report=all&dry_run=true', CSV_BODY, table],
    ['', { ...CSV_BODY, 'idempotency-key': 'once' }, table],
    ['', { ...CSV_BODY, 'idempotency-key': 'once' }, table],
  ] as const) {
    const answer = await ask(200, { method: 'POST', path: IMPORT, query, headers, body });
    assert.match(answer.text, /(?:^|\n)\{"summary":.*\n$/);
  }
});

test('ends an import that fails midway as documented', async (t) => {
  const { ask } = await start(t);
  const rows = Array.from({ length: 20_000 }, (_, n) => `name ${n},category,sku-${n},1,1\n`);
  const file = ['name,category,sku,price,stock\n', ...rows].join('');
  const body = Buffer.concat([Buffer.from(file), Buffer.from([0xff])]);
  const answer = await ask(200, { method: 'POST', path: IMPORT, headers: CSV_BODY, body });
  const last = JSON.parse(answer.text.trimEnd().split('\n').at(-1) ?? '');
  assert.equal(last.problem.status, 400);
  assert.ok(last.problem.summary.created >= 1_000, answer.text);
});

test('ends a rejected stocktake as documented', async (t) => {
  const { seller, ask } = await start(t);
  await seller.create();
  for (const query of ['?complete=true', '?complete=true&dry_run=true']) {
    const body = '{"sku":"unknown","set":1}\n{}\n';
    const answer = await ask(200, {
      method: 'POST', path: STOCK, query, headers: NDJSON_BODY, body,
    });
    const last = JSON.parse(answer.text.trimEnd().split('\n').at(-1) ?? '');
    assert.equal(last.problem.status, 409);
    assert.equal(last.problem.summary.failed, 2);
  }
});

/** A request made of the document's examples. */
function sampleAsk(document: Json, { method, path, operation }: OperationEntry, id: string): Ask {
  const ask = { method, path, name: path === BY_ID ? id : 'MUG-1' };
  if (operation['requestBody'] === undefined) return ask;
  const content = dig(document, operation, 'requestBody', 'content');
  const [type = ''] = Object.keys(content);
  const { example } = dig(document, content, type);
  const body = typeof example === 'string' ? example : JSON.stringify(example);
  return { ...ask, headers: { 'content-type': type }, body };
}

/** All operations but those of webhooks, which webhooks/openapi.test.ts covers. */
function listOwn(document: Json): OperationEntry[] {
  return listOperations(document).filter(({ path }) => !path.startsWith('/api/v1/webhooks'));
}

test('accepts the example requests of the document', async (t) => {
  const { document, ask } = await start(t);
  const entries = listOwn(document);
  const find = (wanted: string): OperationEntry => {
    const entry = entries.find(({ operation }) => operation['operationId'] === wanted);
    assert.ok(entry, wanted);
    return entry;
  };
  const { id } = (await ask(201, sampleAsk(document, find('createProduct'), ''))).json();
  for (const [operationId, status] of [
    ['patchProduct', 200], ['readProduct', 200], ['deleteProduct', 204], ['putProductBySku', 201],
    ['patchProductBySku', 200], ['readProductBySku', 200], ['deleteProductBySku', 204],
    ['importProducts', 200], ['listProducts', 200], ['syncStock', 200], ['listStock', 200],
    ['listMovements', 200], ['listChanges', 200], ['readOpenApi', 200], ['readHealth', 200],
    ['readReadiness', 200], ['listImports', 200],
  ] as const) {
    const sample = sampleAsk(document, find(operationId), id);
    await ask(status, sample);
    if (sample.method === 'GET') await ask(status, { ...sample, method: 'HEAD' });
  }
  const { imports: [{ id: record }] } = (await ask(200, { method: 'GET', path: IMPORTS })).json();
  await ask(200, { method: 'GET', path: `${IMPORTS}/{import_id}`, name: record });
  const revert = sampleAsk(document, find('revertChanges'), '');
  await ask(200, { ...revert, body: JSON.stringify({ import: record, dry_run: true }) });
  assert.equal(entries.length, 21);
});

/** A seller whose history is pruned. */
async function makePruned(server: TestServer): Promise<TestSeller> {
  const seller = await server.makeSeller();
  for (let n = 0; n < 3; n += 1) await seller.create();
  await server.store.pruneHistory(Date.parse('2100-01-01'));
  return seller;
}

test('rejects requests with each documented status, as documented', async (t) => {
  const { server, document, seller } = await start(t);
  const stranger = await server.makeSeller({ scopes: ['webhooks:write'] });
  const slow = await (await startServer(t, { rateLimitPerMinute: 1, clock: makeClock() }))
    .makeSeller();
  await slow.send({ path: PRODUCTS });
  const pruned = await makePruned(server);
  const used = { 'idempotency-key': '"used"' };
  const create = { method: 'POST', path: PRODUCTS, headers: { ...JSON_BODY, ...used } };
  await seller.send({ ...create, body: JSON.stringify({ ...makeProduct(), sku: 'taken' }) });
  const { id } = (await seller.create({ sku: 'MUG-1' })).json();
  const sendWith = ({ headers = {}, ...ask }: Ask, more: Headers = {}): Promise<Answer> =>
    seller.send(toRequest({ ...ask, headers: { ...headers, ...more } }));
  const rejections: Readonly<Record<number, (ask: Ask) => Promise<Answer>>> = {
    304: (ask) => sendWith(ask, { 'if-none-match': '*' }),
    400: (ask) => sendWith({ ...ask, query: '?nonsense=1' }),
    401: (ask) => server.send(toRequest(ask)),
    403: (ask) => stranger.send(toRequest(ask)),
    // PUT creates a product under any valid SKU, so only an invalid one is not found.
    404: (ask) => sendWith(ask.method === 'PUT'
      ? { ...ask, path: ask.path.replace('{sku}', '%ff') } : { ...ask, name: 'none' }),
    406: (ask) => sendWith(ask, { accept: 'image/png' }),
    409: (ask) => sendWith({ ...ask, body: JSON.stringify(ask.path === STOCK
      ? { changes: [{ sku: 'none', set: 1 }], atomic: true }
      : { ...makeProduct(), sku: 'taken' }) }),
    410: (ask) => pruned.send(toRequest(ask.path === REVERTS ? { ...ask, body: RANGE } : {
      ...ask,
      ...(ask.path === BY_ID && { name: formatProductId(pruned.sellerId, 1 as ProductId) }),
      query: ask.path === STOCK || ask.path.startsWith(PRODUCTS) ? '?at=1' : '?after=1',
    })),
    412: (ask) => sendWith(ask, { 'if-match': '"999"' }),
    413: (ask) => sendWith(ask.path === IMPORT ? { ...ask, headers: GZIP_CSV, body: BOMB }
      : { ...ask, body: ' '.repeat(2_100_000) }),
    415: (ask) => sendWith(ask, { 'content-type': 'image/png' }),
    417: (ask) => sendWith(ask, { expect: 'more' }),
    422: (ask) => sendWith(ask.path === REVERTS ? { ...ask, body: RANGE } : ask, used),
    429: (ask) => slow.send(toRequest(ask)),
  };
  // Server errors, and a timeout, which would take half a minute.
  const others = [500, 503, 507, 408];
  for (const entry of listOwn(document)) {
    const responses = dig(document, entry.operation, 'responses');
    for (const status of Object.keys(responses).map(Number)) {
      if (status < 300 || others.includes(status)) continue;
      const provoke = rejections[status];
      assert.ok(provoke, `no case for ${status}`);
      const answer = await provoke(sampleAsk(document, entry, id));
      assert.equal(answer.status, status, `${entry.method} ${entry.path}: ${answer.text}`);
      assertDescribed(document, entry.method, entry.path, answer);
    }
  }
  const left = await seller.send({ path: `${PRODUCTS}?fields=sku` });
  assert.deepEqual(left.json().products, [{ sku: 'taken' }, { sku: 'MUG-1' }]);
});

test('answers 404 and 405 outside the operations as documented', async (t) => {
  const { server, document, seller } = await start(t);
  const paths = Object.keys(dig(document, document, 'paths'));
  const response = dig(document, document, 'components', 'responses', 'NotFound');
  for (const [status, asks] of [
    [404, ['/', '/api/v1', `${PRODUCTS}/a/b`].map((path) => ({ method: 'GET', path }))],
    [405, paths.map((path) => ({ method: 'OPTIONS', path, name: 'x' }))],
  ] as const) {
    for (const ask of asks) {
      for (const sender of [server, seller]) {
        const answer = await sender.send(toRequest(ask));
        assert.equal(answer.status, status, answer.text);
        const { allow, ...headers } = answer.headers;
        assert.equal(allow !== undefined, status === 405);
        assertResponse(document, response, { ...answer, headers }, false, ask.path);
      }
    }
  }
});

test('answers server errors as documented', async (t) => {
  const { server, document } = await start(t);
  let failure = new Error('broken');
  const app = createApp({
    store: { ...server.store, findGrant: () => Promise.reject(failure) }, report: () => {},
  });
  const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  const key = { 'x-api-key': generateApiKey() };
  const assertAll = async (status: number, entries: readonly OperationEntry[]): Promise<void> => {
    for (const { method, path } of entries) {
      const request = toRequest({ method, path, name: 'x', headers: key });
      const answer = await send(listener.port, request);
      assert.equal(answer.status, status, answer.text);
      assertDescribed(document, method, path, answer);
    }
  };
  const all = listOperations(document);
  const locked = all.filter(({ operation }) => [operation['security']].flat().length > 0);
  await assertAll(500, locked);
  failure = new AppError('storage_full', 'The disk is full.');
  await assertAll(507, locked.filter(({ method }) => !['GET', 'HEAD'].includes(method)));
  await app.close();
  const closed = all.filter(({ path }) => path !== '/healthz');
  await assertAll(503, closed);
});

test('detects a response that the document does not describe', async (t) => {
  const { document, seller } = await start(t);
  const answer = await seller.create();
  const check = (changed: Answer): void => assertDescribed(document, 'POST', PRODUCTS, changed);
  check(answer);
  const { etag, ...headers } = answer.headers;
  const more = { ...answer.json(), more: 1 };
  for (const changed of [
    { ...answer, status: 200 },
    { ...answer, headers },
    { ...answer, headers: { ...headers, etag: '12' } },
    { ...answer, headers: { ...headers, etag, server: 'x' } },
    { ...answer, headers: { ...headers, etag, 'content-type': 'text/csv' } },
    { ...answer, json: () => more },
    { ...answer, json: () => ({ id: more.id }) },
  ]) assert.throws(() => check(changed), { name: 'AssertionError' });
});
