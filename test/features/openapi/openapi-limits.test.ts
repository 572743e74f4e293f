/** The server accepts exactly what the schemas of the OpenAPI document allow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeProduct, startServer, type TestSeller } from '../../support/server.ts';
import { findSchemaErrors, isObject, type Json } from './json-schema.ts';
import { dig, fetchDocument } from './openapi-document.ts';

const PRODUCTS = '/api/v1/products';

/** Boundary values of each member. */
const EDGES: Readonly<Record<string, readonly unknown[]>> = {
  name: ['', 'a', '😀'.repeat(200), '😀'.repeat(201), 1, null, ['a'], undefined],
  category: ['', 'b', 'é'.repeat(100), 'é'.repeat(101), false, null, undefined],
  sku: ['', '字'.repeat(64), '字'.repeat(65), 5, null, {}, undefined],
  price: [0, 0.01, -0.01, 999_999_999_999.99, 1e12, '1', null, undefined],
  stock: [0, -1, 0.5, 1_000_000_000, 1_000_000_001, '1', true, null, undefined],
  currency: ['EUR'],
  more: [1],
};

/** Boundary values of each list parameter. */
const PARAMETERS: Readonly<Record<string, readonly unknown[]>> = {
  limit: [0, 1, 1000, 1001, 1.5, 'a'],
  at: [0, -1, 0.5, '2026-01-02T03:04:05+01:00', '2026-01-02', 'now'],
  q: ['', 'a', '😀'.repeat(200), '😀'.repeat(201)],
  category: ['', 'a', 'é'.repeat(100), 'é'.repeat(101)],
  sku: ['', 'a', '字'.repeat(64), '字'.repeat(65)],
  barcode: ['', '96385074', '036000291452', '4006381333931', '123456789', 'a'],
  metadata: [
    { 'metadata.a': 'x' }, { 'metadata.': 'x' }, { 'metadata.a': '' },
    { [`metadata.${'字'.repeat(40)}`]: '字'.repeat(500) }, { 'metadata.a': 'x'.repeat(501) },
    { [`metadata.${'x'.repeat(41)}`]: 'x' }, { 'metadata.a': 'x', 'metadata.b': 'y' },
  ],
  price_min: [-1, 0, 0.01, 999_999_999_999.99, 1e12, 'a'],
  price_max: [-1, 0, 0.01, 999_999_999_999.99, 1e12, 'a'],
  stock_min: [-1, 0, 1_000_000_000, 1_000_000_001, 0.5, 'a'],
  stock_max: [-1, 0, 1_000_000_000, 1_000_000_001, 0.5, 'a'],
  updated_since: ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05+01:00', '2026-01-02', 'a'],
  changed_since: [-1, 0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 0.5, 'a'],
  archived: ['false', 'true', 'any', 'yes', ''],
  sort: ['id', '-id', 'name', '-name', 'sku', '-price', 'stock', '-updated_at', 'category', '+id'],
  fields: [['id'], ['stock', 'name'], ['more'], ['id', 'more']],
  format: ['json', 'ndjson', 'csv', 'xml'],
};

test('accepts the bodies that the schemas allow, and no others', async (t) => {
  const server = await startServer(t);
  const document = await fetchDocument(server);
  for (const [method, path] of [
    ['POST', PRODUCTS], ['PATCH', `${PRODUCTS}/{id}`], ['PUT', `${PRODUCTS}/sku/{sku}`],
  ] as const) {
    const seller = await server.makeSeller(); // a new seller, so no SKU is taken
    const operation = dig(document, document, 'paths', path, method.toLowerCase());
    const body = dig(document, operation, 'requestBody', 'content', 'application/json');
    for (const [member, values] of Object.entries(EDGES)) {
      for (const value of values) {
        const sent = await sendMember(seller, method, path, { [member]: value });
        const isAllowed = findSchemaErrors(sent.body, body['schema'], document).length === 0;
        const shown = `${method} ${JSON.stringify(sent.body)}: ${sent.text}`;
        assert.equal(sent.status < 300, isAllowed, shown);
        assert.ok(sent.status < 300 || sent.status === 400, shown);
      }
    }
  }
});

/** Sends a body that is valid except perhaps for one member. */
async function sendMember(
  seller: TestSeller, method: string, path: string, member: Json,
): Promise<{ readonly body: unknown; readonly status: number; readonly text: string }> {
  const product = makeProduct();
  const { id } = (await seller.create()).json();
  const text = JSON.stringify({ ...(method === 'PATCH' ? {} : product), ...member });
  // PUT needs the same SKU in the path and the body.
  const sku = typeof member['sku'] === 'string' ? member['sku'] || product.sku : product.sku;
  const answer = await seller.send({
    method, body: text, headers: { 'content-type': 'application/json' },
    path: path.replace('{id}', id).replace('{sku}', encodeURIComponent(sku)),
  });
  return { body: JSON.parse(text), status: answer.status, text: answer.text };
}

test('accepts the parameters that the schemas allow, and no others', async (t) => {
  const server = await startServer(t);
  const document = await fetchDocument(server);
  const seller = await server.makeSeller();
  const { parameters } = dig(document, document, 'paths', PRODUCTS, 'get');
  assert.ok(Array.isArray(parameters));
  const described = parameters.map((entry) => dig(document, entry));
  const named = described.filter((entry) => entry['in'] === 'query' && entry['name'] !== 'cursor');
  assert.deepEqual(named.map(({ name }) => name), Object.keys(PARAMETERS));
  for (const { name, schema } of named) {
    for (const value of PARAMETERS[String(name)] ?? []) {
      // As OpenAPI sends it: an object has a parameter for each member.
      const query = new URLSearchParams(isObject(value) ? Object.entries(value)
        .map(([member, text]) => [member, String(text)]) : { [String(name)]: String(value) });
      const answer = await seller.send({ method: 'HEAD', path: `${PRODUCTS}?${query}` });
      const isAllowed = findSchemaErrors(value, schema, document).length === 0;
      assert.equal(answer.status, isAllowed ? 200 : 400, `${query}`);
    }
  }
});
