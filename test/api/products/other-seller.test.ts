/** Every API route, requested with ids of another seller and with ids that do not exist. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { routes } from '../../support/routes.ts';
import type { Route } from '../../../src/api/route.ts';
import {
  formatImportId, formatProductId, formatWebhookId, type ImportId, type ProductId, type WebhookId,
} from '../../../src/domain/id.ts';
import { Watch } from '../../fuzz/watch.ts';
import { assertAlike } from '../../support/alike.ts';
import type { Request } from '../../support/http.ts';
import { startServer, type TestSeller } from '../../support/server.ts';
import { isObject, type Json } from '../../features/openapi/json-schema.ts';
import { dig, fetchDocument } from '../../features/openapi/openapi-document.ts';

/** Is in all data of the other seller, and in no request. */
const MARK = 'a mark of the other';
const SECRET_URL = 'http://127.0.0.1:9/a-mark-of-the-other';

/** What a request can name; either the other seller's, or unknown. */
interface Names {
  readonly id: string;
  readonly sku: string;
  readonly webhook_id: string;
  readonly import_id: string;
  readonly productCursor: string;
  readonly stockCursor: string;
  readonly movementCursor: string;
  readonly webhookCursor: string;
  readonly importCursor: string;
  readonly words: string;
  readonly url: string;
}

type Name = keyof Names;
type Naming = readonly [name: Name, ask: (value: string) => Omit<Request, 'path'> & {
  readonly query?: string;
}];

const inQuery = (name: Name, parameter: string, more = ''): Naming => [name, (value) =>
  ({ query: `?${parameter}=${encodeURIComponent(value)}${more}` })];
const inBody = (name: Name, makeBody: (value: string) => unknown): Naming => [name, (value) => ({
  headers: { 'content-type': 'application/json' }, body: JSON.stringify(makeBody(value)),
})];
const asDryRun = ([name, ask]: Naming): Naming =>
  [name, (value) => ({ ...ask(value), query: '?dry_run=true' })];
const inLines = (name: Name, type: string, makeLine: (value: string) => string): Naming =>
  [name, (value) => ({ headers: { 'content-type': type }, body: makeLine(value) })];

const product = { name: 'a', category: 'b', price: 1, stock: 2 };
const NDJSON = 'application/x-ndjson';

/** How a request names something if its path has no parameter. A new route needs its line here. */
const NAMINGS: Readonly<Record<string, readonly Naming[]>> = {
  'GET /api/v1/products': [
    inQuery('sku', 'sku'), inQuery('words', 'q'), inQuery('words', 'category', '&sort=-price'),
    inQuery('productCursor', 'cursor', '&limit=1'), inQuery('sku', 'sku', '&format=csv'),
    inQuery('words', 'metadata.erp'),
  ],
  'POST /api/v1/products': [inBody('sku', (sku) => ({ ...product, sku }))],
  'POST /api/v1/products/import': [
    inLines('sku', NDJSON, (sku) => JSON.stringify({ ...product, sku })),
    inLines('sku', 'text/csv', (sku) => `name,category,sku,price,stock\na,b,${sku},1,2\n`),
  ],
  'POST /api/v1/products/lookup': [
    inBody('sku', (sku) => ({ queries: [{ sku }] })), inBody('id', (id) => ({ queries: [{ id }] })),
    inBody('words', (erp) => ({ queries: [{ metadata: { erp } }] })),
  ],
  'GET /api/v1/stock': [inQuery('stockCursor', 'cursor', '&limit=1')],
  'POST /api/v1/stock': [
    inBody('id', (id) => ({ changes: [{ id, set: 3 }] })),
    inBody('id', (id) => ({ changes: [{ id, adjust: 3 }], atomic: true, source: 'x' })),
    inLines('id', NDJSON, (id) => JSON.stringify({ id, adjust: 1, if: 2 })),
    asDryRun(inBody('sku', (sku) => ({ changes: [{ sku, set: 3 }], complete: true, force: true }))),
  ],
  'GET /api/v1/stock/movements': [
    inQuery('sku', 'sku'), inQuery('id', 'id'), inQuery('words', 'reason'),
    inQuery('words', 'source'), inQuery('movementCursor', 'cursor', '&limit=1'),
  ],
  'GET /api/v1/changes': [['id', () => ({ query: '?after=0' })]],
  'GET /api/v1/imports': [inQuery('importCursor', 'cursor', '&limit=1')],
  'POST /api/v1/reverts': [
    inBody('import_id', (id) => ({ import: id })),
    asDryRun(inBody('import_id', (id) => ({ import: id, force: true }))),
  ],
  'GET /api/v1/webhooks': [inQuery('webhookCursor', 'cursor', '&limit=1')],
  'POST /api/v1/webhooks': [inBody('url', (url) => ({ url }))],
};

async function prepare(t: TestContext) {
  const server = await startServer(t, { webhooks: { allowPrivate: true, allowHttp: true } });
  const [seller, other] = [await server.makeSeller(), await server.makeSeller()];
  await seller.create({ sku: 'own' });
  const theirs = await fill(other);
  const cursor = (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'Q' : 'A'}`;
  const unknowns: Names = {
    id: formatProductId(seller.sellerId, 1_900_000_000_000_000 as ProductId),
    webhook_id: formatWebhookId({
      sellerId: seller.sellerId, id: 1_900_000_000_000_000 as WebhookId,
    }),
    import_id: formatImportId(seller.sellerId, 1_900_000_000_000_000 as ImportId),
    sku: 'nobody-1', words: 'what nobody says', url: `${SECRET_URL.slice(0, -5)}nobody`,
    productCursor: cursor(theirs.productCursor), stockCursor: cursor(theirs.stockCursor),
    movementCursor: cursor(theirs.movementCursor), webhookCursor: cursor(theirs.webhookCursor),
    importCursor: cursor(theirs.importCursor),
  };
  const watch = new Watch(server.folder);
  t.after(() => watch.close());
  return { server, seller, other, theirs, unknowns, watch };
}

/** Creates one of each kind of object for a seller. */
async function fill({ send, create }: TestSeller): Promise<Names> {
  const json = { 'content-type': 'application/json' };
  const members = { name: MARK, category: MARK };
  const { id } = (await create({ ...members, sku: 'theirs-1' })).json();
  await create({ ...members, sku: 'theirs-2' });
  const changes = [{ id, adjust: 1, reason: MARK }, { sku: 'theirs-2', adjust: 2 }];
  const sync = async () => (await send({
    method: 'POST', path: '/api/v1/stock', headers: json,
    body: JSON.stringify({ changes, source: MARK, reason: MARK }),
  })).json().import;
  await sync();
  const hooks: string[] = [];
  for (const url of [SECRET_URL, `${SECRET_URL}/2`]) {
    const body = JSON.stringify({ url, description: MARK });
    const hook = { method: 'POST', path: '/api/v1/webhooks', headers: json, body };
    const { id: hookId } = (await send(hook)).json();
    const path = `/api/v1/webhooks/${hookId}`;
    assert.equal((await send({ method: 'POST', path: `${path}/test` })).json().n, 1);
    await send({ method: 'PATCH', path, headers: json, body: '{"status":"disabled"}' });
    hooks.push(hookId);
  }
  const cursorOf = async (path: string): Promise<string> => {
    const { next_cursor: cursor } = (await send({ path: `/api/v1/${path}?limit=1` })).json();
    assert.equal(typeof cursor, 'string', path);
    return cursor;
  };
  return {
    id, sku: 'theirs-1', webhook_id: hooks[0] ?? '', words: MARK, url: SECRET_URL,
    import_id: await sync(), importCursor: await cursorOf('imports'),
    productCursor: await cursorOf('products'), stockCursor: await cursorOf('stock'),
    movementCursor: await cursorOf('stock/movements'), webhookCursor: await cursorOf('webhooks'),
  };
}

/** The requests of a route that name something, in the path or elsewhere. */
function listAsks(document: Json, route: Route): readonly Naming[] {
  const [, parameter] = /\{(\w+)\}/.exec(route.path) ?? [];
  if (parameter === undefined) {
    // A route without a key has no data of a seller.
    if (route.scopes === undefined) return [['id', () => ({})]];
    const namings = NAMINGS[`${route.method} ${route.path}`];
    assert.ok(namings, `${route.method} ${route.path} has no case here`);
    return namings;
  }
  const { requestBody } = dig(document, document, 'paths', route.path, route.method.toLowerCase());
  const [type] = route.consumes;
  const { example } = isObject(requestBody) && type !== undefined
    ? dig(document, requestBody, 'content', type) : {};
  // A position that exists, and the SKU of the path.
  const content = JSON.stringify(example)?.replace(/("position":)\d+/, '$10')
    .replace(route.path.includes('{sku}') ? /"sku":"[^"]*",/ : '', '');
  const body = content === undefined ? {}
    : { headers: { 'content-type': type }, body: content };
  // A seller may put a product under any unused SKU, but nothing is to be created here.
  const headers = { ...body.headers, ...(route.method === 'PUT' && { 'if-match': '*' }) };
  // The cast: path parameters are names of this type, or the request below has none.
  return [[parameter as Name, () => ({ ...body, headers })]];
}

/** The path of this object, and of its first delivery attempt. */
function fillPath(pattern: string, named: string): string {
  return pattern.replace('{n}', '1').replace(/\{\w+\}/, named);
}

test('responds on every route to objects of another seller as to unknown ones', async (t) => {
  const { server, seller, other, theirs, unknowns, watch } = await prepare(t);
  const document = await fetchDocument(server);
  const before = watch.digestSeller(other.sellerId);
  let asked = 0;
  // Routes with path parameters come first: the others create products of the requesting seller.
  for (const route of routes.toSorted((a, b) => b.path.indexOf('{') - a.path.indexOf('{'))) {
    for (const [name, makeAsk] of listAsks(document, route)) {
      const context = `${route.method} ${route.path} naming the ${name}`;
      const ask = (names: Names) => {
        const { query = '', ...request } = makeAsk(names[name]);
        const path = fillPath(route.path, encodeURIComponent(names[name])) + query;
        return seller.send({ ...request, method: route.method, path });
      };
      const [foreign, unknown] = [await ask(theirs), await ask(unknowns)];
      assertAlike(foreign, unknown, [theirs[name], unknowns[name]], context);
      const isNamed = route.path.includes('{');
      assert.ok(!isNamed || [404, 412].includes(foreign.status), `${context}: ${foreign.text}`);
      const told = foreign.text.replaceAll(theirs[name], '');
      assert.ok(!told.includes(MARK) && !told.includes(SECRET_URL), context);
      assert.equal(watch.digestSeller(other.sellerId), before, `${context} changed something`);
      asked += 1;
    }
  }
  assert.ok(asked > routes.length, String(asked));
});

test('returns to the owner what it hides from other sellers', async (t) => {
  const { other, theirs, unknowns } = await prepare(t);
  const named = routes.filter(({ method, path }) => method === 'GET' && path.includes('{'));
  assert.ok(named.length >= 4);
  for (const { path } of named) {
    const [, parameter = ''] = /\{(\w+)\}/.exec(path) ?? [];
    // The cast: path parameters are names of this type.
    const ask = (names: Names) => other.send({ path: fillPath(path, names[parameter as Name]) });
    assert.equal((await ask(theirs)).status, 200, path);
    assert.equal((await ask(unknowns)).status, 404, path);
  }
});
