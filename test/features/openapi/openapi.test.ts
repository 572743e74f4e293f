/** GET /api/v1/openapi.json: the document is valid, complete, and describes exactly the routes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeApi } from '../../../src/features/openapi/openapi.ts';
import { description, routes } from '../../support/routes.ts';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';
import { findSchemaErrors, isObject, type Json, resolve } from './json-schema.ts';
import { dig, listBodies, listOperations } from './openapi-document.ts';
import { STRUCTURE } from './openapi-structure.ts';
import { AppError } from '../../../src/domain/error.ts';
import { createApp } from '../../../src/features.ts';
import { assertProblem } from '../../api/problem.ts';

const ADDRESS = '/api/v1/openapi.json';
const document: Json = JSON.parse(describeApi(description));
const operations = listOperations(document);

/** Every object within a value, with the JSON Pointer to it. */
function* walk(value: unknown, pointer = '#'): Generator<readonly [pointer: string, part: Json]> {
  if (isObject(value)) yield [pointer, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* walk(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

test('is served with or without a key', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller({ scopes: ['stock:write'] });
  for (const send of [server.send, seller.send]) {
    const answer = await send({ path: ADDRESS });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.match(answer.headers['cache-control'] ?? '', /^public, max-age=\d+$/);
    assert.deepEqual(answer.json(), document);
  }
});

test('answers 304 while the document is unchanged', async (t) => {
  const server = await startServer(t);
  const { headers } = await server.send({ path: ADDRESS });
  const etag = headers['etag'] ?? '';
  assert.match(etag, /^"[\w-]{43}"$/);
  for (const method of ['GET', 'HEAD']) {
    const same = await server.send({ method, path: ADDRESS, headers: { 'if-none-match': etag } });
    assert.equal(same.status, 304);
    assert.equal(same.headers['etag'], etag);
    assert.equal(same.headers['cache-control'], headers['cache-control']);
    assert.equal(same.text, '');
    const other = await server.send({ method, path: ADDRESS, headers: { 'if-none-match': '"1"' } });
    assert.equal(other.status, 200);
  }
});

test('rejects parameters and other methods', async (t) => {
  const server = await startServer(t);
  assertProblem(await server.send({ path: `${ADDRESS}?x=1` }), 400, 'invalid-query');
  const rejected = await server.send({ method: 'POST', path: ADDRESS, body: '{}' });
  assertProblem(rejected, 405, 'method-not-allowed');
  assert.equal(rejected.headers['allow'], 'GET, HEAD');
});

test('names the base URL of the server, if it is configured', async (t) => {
  const server = await startServer(t, { baseUrl: 'http://localhost/shop/' });
  const answer = await server.send({ path: `/shop${ADDRESS}`, headers: { host: 'other.example' } });
  assert.deepEqual(answer.json().servers, [{ url: 'http://localhost/shop' }]);
  assert.deepEqual(document['servers'], [{ url: '/' }]);
});

test('names the configured contact, and rejects invalid ones', async (t) => {
  for (const [contact, named] of [
    ['api@shop.example', { email: 'api@shop.example' }],
    ['https://shop.example/help', { url: 'https://shop.example/help' }],
  ] as const) {
    const server = await startServer(t, { contact });
    assert.deepEqual((await server.send({ path: ADDRESS })).json().info.contact, named);
  }
  assert.equal(dig(document, document, 'info')['contact'], undefined);
  const { store } = await startServer(t);
  for (const contact of ['', 'shop', 'javascript:alert(1)', 'a b@shop.example']) {
    assert.throws(() => createApp({ store, contact }), AppError, contact);
  }
});

test('`serve --contact` sets the contact', async (t) => {
  const flags = ['--data', makeFolder(t), '--contact'];
  const serving = await startServing(t, [...flags, 'api@shop.example']);
  const { info } = (await send(serving.port, { path: ADDRESS })).json();
  assert.deepEqual(info.contact, { email: 'api@shop.example' });
  const { status, notes } = await run(['serve', ...flags, 'somebody']);
  assert.equal(status, 2);
  assert.match(notes, /^The contact "somebody" is neither an e-mail address nor /);
});

test('conforms to the OpenAPI specification', () => {
  assert.deepEqual(findSchemaErrors(document, STRUCTURE.document, STRUCTURE), []);
});

test('describes every route once, and nothing else', () => {
  const answered = routes.map(({ method, path }) => `${method} ${path}`);
  const described = operations.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(described.sort(), answered.sort());
  const ids = operations.map(({ operation }) => operation['operationId']);
  assert.equal(new Set(ids).size, ids.length);
});

test('describes the media types, scope and query parameters of every route', () => {
  for (const { method, path, consumes, produces, scopes = [], query } of routes) {
    const operation = dig(document, document, 'paths', path, method.toLowerCase());
    const { requestBody, responses, security } = operation;
    const taken = requestBody === undefined ? {} : dig(document, requestBody, 'content');
    assert.deepEqual(Object.keys(taken), consumes);
    const given = Object.entries(dig(document, responses)).filter(([status]) => status < '300')
      .flatMap(([, answer]) => listBodies(dig(document, answer)).map(([type]) => type));
    assert.deepEqual([...new Set(given)], produces);
    assert.deepEqual(security, scopes.map((scope) => ({ apiKey: [scope] })));
    const parameters = [operation['parameters'] ?? []].flat().map((entry) => dig(document, entry));
    const names = parameters.filter((entry) => entry['in'] === 'query').map(({ name }) => name);
    assert.deepEqual(names, Object.keys(query).map((name) => name.replace('.*', '')));
  }
});

test('describes all path parameters, and each parameter once', () => {
  for (const [path, item] of Object.entries(dig(document, document, 'paths'))) {
    const inPath = [dig(document, item)['parameters'] ?? []].flat() as Json[];
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(inPath.map(({ name }) => name), names);
    for (const parameter of inPath) assert.equal(parameter['in'], 'path');
  }
  for (const { operation } of operations) {
    const parameters = [operation['parameters'] ?? []].flat().map((entry) => dig(document, entry));
    const keys = parameters.map((parameter) => `${parameter['in']} ${parameter['name']}`);
    assert.equal(new Set(keys).size, keys.length, keys.join());
  }
});

test('has every component that it references, and no unused one', () => {
  const references = new Set<string>();
  for (const [pointer, part] of walk(document)) {
    const { $ref, mapping = {} } = part;
    // A discriminator's mapping consists of references, too.
    for (const reference of [$ref ?? [], Object.values(mapping ?? {})].flat()) {
      assert.ok(isObject(resolve(String(reference), document)), pointer);
      references.add(String(reference));
    }
  }
  const spare = ['schemas', 'parameters', 'headers', 'responses'].flatMap((kind) =>
    Object.keys(dig(document, document, 'components', kind))
      .map((name) => `#/components/${kind}/${name}`).filter((name) => !references.has(name)));
  assert.deepEqual(spare, []);
});

test('has one media type per response, and only objects as JSON', () => {
  for (const { method, path, operation } of operations) {
    for (const [status, part] of Object.entries(dig(document, operation, 'responses'))) {
      const { content = {} } = dig(document, part);
      const [[type, body] = [], ...others] = Object.entries(content ?? {});
      assert.deepEqual(others, [], `${method} ${path} ${status}`);
      if (type !== 'application/json') continue;
      const { type: kind } = dig(document, body, 'schema');
      assert.equal(kind, 'object', `${method} ${path} ${status}`);
    }
  }
});

test('has no default in component schemas, and requires only `changes` of a stock sync', () => {
  const schemas = dig(document, document, 'components', 'schemas');
  for (const [pointer, part] of walk(schemas)) assert.ok(!('default' in part), pointer);
  assert.deepEqual(dig(document, schemas, 'StockSync')['required'], ['changes']);
});

test('tags each operation with one of the described tags', () => {
  const tags = [document['tags']].flat().map((tag) => dig(document, tag)['name']);
  assert.deepEqual([...tags.slice(0, 2), tags.at(-1)], ['Products', 'Stock', 'Server']);
  assert.equal(new Set(tags).size, tags.length);
  const used = operations.flatMap(({ operation }) => operation['tags']);
  assert.deepEqual(new Set(used), new Set(tags));
});

test('has an example for every schema, and each example matches', () => {
  let count = 0;
  for (const [pointer, part] of walk(document)) {
    if (isObject(part['schema'])) {
      const examples = isObject(part['examples'])
        ? Object.values(part['examples']).map((example) => dig(document, example)['value'])
        : [part['example']];
      assert.ok(examples.length > 0, pointer);
      for (const example of examples) {
        assert.deepEqual(findSchemaErrors(example, part['schema'], document), [], pointer);
        count += 1;
      }
    }
    if (!('default' in part && 'type' in part)) continue;
    assert.deepEqual(findSchemaErrors(part['default'], part, document), [], pointer);
  }
  assert.ok(count > 80, String(count));
});

test('is rendered identically each time', () => {
  assert.equal(describeApi(description), JSON.stringify(document));
});
