/** GET /api/v1/openapi.json: the document is whole, sound, and made of the routes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeApi } from '../../../src/features/openapi/openapi.ts';
import { description, routes } from '../../support/routes.ts';
import { startServer } from '../../support/server.ts';
import { findFaults, isObject, type Json, resolve } from './json-schema.ts';
import { dig, listOperations } from './openapi-document.ts';
import { STRUCTURE } from './openapi-structure.ts';
import { assertProblem } from '../../api/problem.ts';

const ADDRESS = '/api/v1/openapi.json';
const document: Json = JSON.parse(describeApi(description, ''));
const operations = listOperations(document);

/** Every object within a value, with the JSON Pointer to it. */
function* walk(value: unknown, pointer = '#'): Generator<readonly [pointer: string, part: Json]> {
  if (isObject(value)) yield [pointer, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* walk(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

test('is served to everybody, with or without a key', async (t) => {
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

test('is answered with 304 while it is the same', async (t) => {
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

test('takes no parameter and no other method', async (t) => {
  const server = await startServer(t);
  assertProblem(await server.send({ path: `${ADDRESS}?x=1` }), 400, 'invalid-query');
  const refused = await server.send({ method: 'POST', path: ADDRESS, body: '{}' });
  assertProblem(refused, 405, 'method-not-allowed');
  assert.equal(refused.headers['allow'], 'GET, HEAD');
});

test('names the path below which the server is found', async (t) => {
  const server = await startServer(t, { baseUrl: 'http://localhost/shop' });
  const answer = await server.send({ path: `/shop${ADDRESS}` });
  assert.deepEqual(answer.json().servers, [{ url: '/shop' }]);
  assert.deepEqual(document['servers'], [{ url: '/' }]);
});

test('is made as the specification of OpenAPI has it', () => {
  assert.deepEqual(findFaults(document, STRUCTURE.document, STRUCTURE), []);
});

test('describes every route, with HEAD wherever GET is, and nothing else', () => {
  const answered = routes.flatMap(({ method, path }) =>
    (method === 'GET' ? [method, 'HEAD'] : [method]).map((name) => `${name} ${path}`));
  const described = operations.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(described.sort(), answered.sort());
  const ids = operations.map(({ operation }) => operation['operationId']);
  assert.equal(new Set(ids).size, ids.length);
});

test('describes what routes take and give, and the key that they ask for', () => {
  for (const { method, path, consumes, produces, scope, query } of routes) {
    const operation = dig(document, document, 'paths', path, method.toLowerCase());
    const { requestBody, responses, security } = operation;
    const taken = requestBody === undefined ? {} : dig(document, requestBody, 'content');
    assert.deepEqual(Object.keys(taken), consumes);
    const given = Object.entries(dig(document, responses))
      .filter(([status, answer]) => status < '300' && 'content' in dig(document, answer))
      .flatMap(([, answer]) => Object.keys(dig(document, answer, 'content')));
    assert.deepEqual([...new Set(given)], produces);
    assert.deepEqual(security, scope === undefined ? [] : [{ apiKey: [scope] }]);
    const parameters = [operation['parameters'] ?? []].flat().map((entry) => dig(document, entry));
    const names = parameters.filter((entry) => entry['in'] === 'query').map(({ name }) => name);
    assert.deepEqual(names, Object.keys(query));
  }
});

test('describes the parameters in a path, and each parameter once', () => {
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

test('has every component it refers to, and no unused one', () => {
  const references = new Set<string>();
  for (const [pointer, part] of walk(document)) {
    if (typeof part['$ref'] !== 'string') continue;
    assert.ok(isObject(resolve(part['$ref'], document)), pointer);
    references.add(part['$ref']);
  }
  const spare = ['schemas', 'parameters', 'headers', 'responses'].flatMap((kind) =>
    Object.keys(dig(document, document, 'components', kind))
      .map((name) => `#/components/${kind}/${name}`).filter((name) => !references.has(name)));
  assert.deepEqual(spare, ['#/components/responses/405']); // no operation answers it
});

test('gives an example of everything, and each fits its schema', () => {
  let count = 0;
  for (const [pointer, part] of walk(document)) {
    if (isObject(part['schema'])) {
      const examples = isObject(part['examples'])
        ? Object.values(part['examples']).map((example) => dig(document, example)['value'])
        : [part['example']];
      assert.ok(examples.length > 0, pointer);
      for (const example of examples) {
        assert.deepEqual(findFaults(example, part['schema'], document), [], pointer);
        count += 1;
      }
    }
    if ('default' in part) assert.deepEqual(findFaults(part['default'], part, document), []);
  }
  assert.ok(count > 80, String(count));
});

test('is the same text whenever it is made', () => {
  assert.equal(describeApi(description, ''), JSON.stringify(document));
});
