/** POST /api/v1/stock in JSON: rejected requests, invalid changes, and idempotency keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../src/domain/error.ts';
import { send } from '../../support/http.ts';
import { assertProblem, faultsOf } from '../problem.ts';
import {
  openShop, readPosition, readStocks, sendLines, sendStock, statusesOf, STOCK, sync,
} from './stock.ts';

const KEY = { 'idempotency-key': '"sync-1"' };
const ok = { changes: [{ sku: 'A', adjust: -1 }] };

test('performs a call once for its idempotency key, and replays the response', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const body = { changes: [{ sku: 'A', adjust: -5 }, { sku: 'A', set: 'x' }], source: 'erp' };
  const first = await sendStock(seller, body, { headers: KEY });
  assert.equal(first.headers['idempotent-replay'], undefined);
  await sync(seller, [{ sku: 'A', set: 100 }]);
  const again = await sendStock(seller, body, { headers: KEY });
  assert.equal(again.headers['idempotent-replay'], 'true');
  assert.equal(again.text, first.text);
  assert.deepEqual(await readStocks(seller), { A: 100 });
});

test('performs a call once that is sent several times concurrently', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const answers = await Promise.all(Array.from({ length: 8 }, () =>
    sendStock(seller, ok, { headers: KEY })));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  const replays = answers.filter(({ headers }) => headers['idempotent-replay'] === 'true');
  assert.equal(replays.length, 7);
  assert.deepEqual(await readStocks(seller), { A: 6 });
});

test('rejects another call under the same idempotency key', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  await sync(seller, ok.changes, {}, { headers: KEY });
  for (const body of [
    { changes: [{ sku: 'A', adjust: -2 }] }, { ...ok, source: 'erp' }, { ...ok, reason: 'sold' },
    { ...ok, atomic: true }, { ...ok, complete: true }, { changes: [...ok.changes, {}] },
    { changes: [{ ...ok.changes[0], expect: 7 }] }, { changes: [] },
  ]) {
    const answer = await sendStock(seller, body, { headers: KEY });
    assertProblem(answer, 422, 'idempotency-mismatch');
  }
  assert.deepEqual(await readStocks(seller), { A: 6 });
});

test('stores no idempotency record for a rejection or a dry run', async (t) => {
  const { seller } = await openShop(t, { A: 7, B: 7, C: 7 });
  const refused = [
    { ...ok, complete: true }, { changes: [{ sku: 'x', set: 1 }], atomic: true },
    { changes: [{}], atomic: true }, { changes: 1 },
  ];
  for (const body of refused) {
    const { status } = await sendStock(seller, body, { headers: KEY });
    assert.ok(status === 409 || status === 400, `${status}`);
  }
  await sync(seller, ok.changes, {}, { headers: KEY, query: 'dry_run=true' });
  const made = await sendStock(seller, { changes: [{ sku: 'A', set: 3 }] }, { headers: KEY });
  assert.deepEqual([made.status, made.headers['idempotent-replay']], [200, undefined]);
});

test('keeps idempotency keys of different sellers separate', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const other = await server.makeSeller();
  await other.create({ sku: 'A', stock: 50 });
  await sync(seller, ok.changes, {}, { headers: KEY });
  const answer = await sendStock(other, ok, { headers: KEY });
  assert.equal(answer.headers['idempotent-replay'], undefined);
  assert.equal(answer.json().results[0].stock, 49);
});

const invalidBodies: readonly [what: string, body: unknown, faults: readonly string[]][] = [
  ['no members', {}, ['/changes required']],
  ['null for changes', { changes: null }, ['/changes type']],
  ['an object for changes', { changes: { sku: 'A', set: 1 } }, ['/changes type']],
  ['an array instead of an object', [{ sku: 'A', set: 1 }], [' type']],
  ['null instead of an object', null, [' type']],
  ['an invalid source and reason', { ...ok, reason: '', source: 'a\nb' }, [
    '/source characters', '/reason blank',
  ]],
  ['a long source and reason', { ...ok, reason: 'r'.repeat(201), source: '\u{1F600}'.repeat(65) }, [
    '/source length', '/reason length',
  ]],
  ['a zero_limit out of range', { ...ok, zero_limit: 100.1 }, ['/zero_limit range']],
  ['a negative zero_limit', { ...ok, zero_limit: -1 }, ['/zero_limit range']],
  ['unknown members', { ...ok, dry_run: true, constructor: 1 }, [
    '/dry_run unknown', '/constructor unknown',
  ]],
  ['everything wrong', {
    changes: 'all', atomic: 1, source: 5, reason: false, complete: 'yes', zero_limit: '5', force: 0,
    'a/b~': 1,
  }, [
    '/changes type', '/atomic type', '/source type', '/reason type', '/complete type',
    '/zero_limit type', '/force type', '/a~1b~0 unknown',
  ]],
];

for (const [what, body, faults] of invalidBodies) {
  test(`reports every error at once in a body with ${what}`, async (t) => {
    const { server, seller } = await openShop(t, { A: 7 });
    const answer = await sendStock(seller, body);
    assertProblem(answer, 400, 'invalid-data');
    assert.deepEqual(faultsOf(answer), faults);
    assert.equal(await readPosition(server, seller), 1);
  });
}

test('rejects invalid JSON, and a lone surrogate in its texts', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  for (const body of [
    '', '{"changes":[{"sku":"A","set":1}', '{"changes":[{"sku":"A","set":1e999}]}',
    '{"changes":[{"sku":"A","set":1,"set":2}]}', '{"changes":[],"changes":[]}',
    `{"changes":${'['.repeat(9)}${']'.repeat(9)}}`,
  ]) {
    assertProblem(await sendStock(seller, body), 400, 'invalid-json');
  }
  const lone = await sendStock(seller, '{"changes":[],"reason":"\\ud800"}');
  assertProblem(lone, 400, 'invalid-data');
  assert.deepEqual(faultsOf(lone), ['/reason characters']);
});

const invalid: readonly [change: string, faults: readonly string[]][] = [
  ['null', [' type']],
  ['[]', [' type']],
  ['"A"', [' type']],
  ['7', [' type']],
  ['{}', [' required']],
  ['{"sku":"A"}', [' required']],
  ['{"set":1}', [' required']],
  ['{"sku":"A","id":"prd_1","set":1}', [' required']],
  ['{"sku":"A","set":1,"adjust":1}', [' required']],
  ['{"sku":null,"set":null}', ['/sku type', '/set type']],
  ['{"sku":1,"id":2,"set":"3","adjust":"4","expect":"5","sequence":"6","reason":7}', [
    '/sku type', '/id type', '/set type', '/adjust type', '/expect type', '/sequence type',
    '/reason type',
  ]],
  ['{"sku":"A","set":1e308}', ['/set range']],
  ['{"sku":"A","set":1000000001}', ['/set range']],
  ['{"sku":"A","set":0.1}', ['/set precision']],
  ['{"sku":"A","adjust":-1000000001}', ['/adjust range']],
  ['{"sku":"A","adjust":1000000000}', ['/adjust range']],
  ['{"sku":"A","set":1,"expect":-1}', ['/expect range']],
  ['{"sku":"A","set":1,"sequence":-1}', ['/sequence range']],
  ['{"sku":"A","set":1,"sequence":9007199254740992}', ['/sequence range']],
  ['{"sku":"A","set":1,"sequence":5}', ['/sequence mismatch']],
  ['{"sku":"A","set":1,"reason":" "}', ['/reason blank']],
  ['{"sku":"A\\ud800","set":1}', ['/sku characters']],
  ['{"sku":"A\\u0000","set":1}', ['/sku characters']],
  ['{"sku":"","set":1}', ['/sku blank']],
  ['{"sku":"A","set":1,"__proto__":{"set":5}}', ['/__proto__ unknown']],
  ['{"sku":"A","set":1,"toString":1,"a/b":1}', ['/toString unknown', '/a~1b unknown']],
];

test('reports the errors in invalid changes, and applies the others', async (t) => {
  const { seller } = await openShop(t, { A: 7, B: 7 });
  const changes = invalid.map(([change]) => change).join(',');
  const body = `{"changes":[{"sku":"B","set":1},${changes},{"sku":"B","adjust":4}]}`;
  const answer = await sendStock(seller, body);
  assert.equal(answer.status, 200, answer.text);
  const { results, applied, failed, position } = answer.json();
  assert.deepEqual([applied, failed, position], [2, invalid.length, 4]);
  invalid.forEach(([change, faults], index) => {
    const { status, errors } = results[index + 1];
    assert.equal(status, 'invalid', change);
    const shown = errors.map((one: { pointer: string; code: string }) =>
      `${one.pointer} ${one.code}`);
    assert.deepEqual(shown, faults, change);
  });
  assert.deepEqual(await readStocks(seller), { A: 7, B: 5 });
});

test('accepts whole numbers in any notation', async (t) => {
  const { seller } = await openShop(t, { A: 7, B: 7 });
  const answer = await sendStock(seller, '{"changes":[{"sku":"A","set":-0},'
    + '{"sku":"A","set":1e3,"expect":-0.0},{"sku":"A","adjust":-0},{"sku":"B","set":7.0}]}');
  const { results } = answer.json();
  assert.deepEqual(statusesOf({ results }), ['ok', 'ok', 'unchanged', 'unchanged']);
  assert.doesNotMatch(answer.text, /:-0/);
  assert.deepEqual(await readStocks(seller), { A: 1_000, B: 7 });
});

test('treats names of prototype members as ordinary SKUs', async (t) => {
  const { seller } = await openShop(t, { constructor: 2 });
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const body = await sync(seller, names.map((sku) => ({ sku, set: 5 })));
  assert.deepEqual(statusesOf(body), ['not_found', 'ok', 'not_found', 'not_found']);
  await seller.create({ sku: '__proto__', stock: 1 });
  assert.deepEqual(statusesOf(await sync(seller, [{ sku: '__proto__', set: 5 }])), ['ok']);
});

test('limits the errors reported for one change', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const members = Array.from({ length: 50_000 }, (_, n) => `"m${n}":0`).join(',');
  const answer = await sendStock(seller, `{"changes":[{${members}}]}`);
  const { results: [result] } = answer.json();
  assert.equal(result.status, 'invalid');
  assert.equal(result.errors.length, 10);
});

test('accepts 10,000 changes, and rejects one more', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const changes = Array.from({ length: 10_001 }, (_, n) => ({ sku: 'A', set: n + 100 }));
  const refused = await sendStock(seller, { changes });
  assertProblem(refused, 400, 'invalid-data');
  assert.deepEqual(faultsOf(refused), ['/changes length']);
  assert.equal(await readPosition(server, seller), 1);
  const body = await sync(seller, changes.slice(1));
  assert.deepEqual([body.applied, body.position, body.results.length], [10_000, 10_001, 10_000]);
  assert.deepEqual(await readStocks(seller), { A: 10_100 });
});

test('rejects a body of more than 2 MiB, and accepts one of 2 MiB', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const fit = (size: number): string => {
    const text = JSON.stringify(ok);
    return text + ' '.repeat(size - text.length);
  };
  const limit = 2 * 1024 * 1024;
  assertProblem(await sendStock(seller, fit(limit + 1)), 413, 'body-too-large');
  assert.equal(await readPosition(server, seller), 1);
  assert.equal((await sendStock(seller, fit(limit))).status, 200);
});

test('rejects unsupported media types, and an Accept without the type of the body', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  for (const type of ['text/plain', 'application/json; charset=latin1', undefined]) {
    const answer = await seller.send({
      method: 'POST', path: STOCK, body: JSON.stringify(ok),
      headers: type === undefined ? {} : { 'content-type': type },
    });
    assertProblem(answer, 415, 'unsupported-media-type');
  }
  for (const accept of ['text/csv', 'application/x-ndjson', 'application/json;q=0']) {
    const answer = await sendStock(seller, ok, { headers: { accept } });
    assertProblem(answer, 406, 'not-acceptable');
  }
  const lines = await sendLines(seller, ok.changes, { headers: { accept: 'application/json' } });
  assertProblem(lines, 406, 'not-acceptable');
  assert.deepEqual(await readStocks(seller), { A: 7 });
});

test('rejects parameters for NDJSON and CSV, and invalid ones', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const refused: readonly [query: string, faults: readonly string[]][] = [
    ['source=erp&reason=r&report=all', ['source mismatch', 'reason mismatch', 'report mismatch']],
    ['dry_run=yes', ['dry_run format']],
    ['dry_run=true&dry_run=true', ['dry_run duplicate']],
    ['dryrun=true', ['dryrun unknown']],
  ];
  for (const [query, faults] of refused) {
    const answer = await sendStock(seller, ok, { query });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), faults);
  }
  assert.deepEqual(await readStocks(seller), { A: 7 });
});

test('says where a parameter for NDJSON and CSV belongs in JSON, if anywhere', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const { errors } = (await sendStock(seller, ok, { query: 'source=erp&report=all' })).json();
  assert.deepEqual(errors.map(({ detail }: Issue) => detail), [
    'Is for NDJSON and CSV only. In JSON, send it as a member of the body.',
    'Is for NDJSON and CSV only.',
  ]);
});

test('rejects a request without a key, and one whose key lacks the scope', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const body = JSON.stringify(ok);
  const headers = { 'content-type': 'application/json' };
  const none = await send(server.port, { method: 'POST', path: STOCK, headers, body });
  assertProblem(none, 401, 'key-missing');
  const reader = await server.makeSeller({
    scopes: ['products:read', 'products:write', 'changes:read', 'webhooks:write'],
  });
  assertProblem(await sendStock(reader, ok), 403, 'scope-missing');
  assertProblem(await sendLines(reader, ok.changes), 403, 'scope-missing');
  const stockOnly = await server.makeSeller({ scopes: ['stock:write'] });
  assert.equal((await sendStock(stockOnly, ok)).status, 200);
  assert.deepEqual(await readStocks(seller), { A: 7 });
});

test("responds to another seller's ids exactly as to unknown ones", async (t) => {
  const { server, seller, ids } = await openShop(t, { A: 7 });
  const other = await server.makeSeller();
  const theirs = ids['A'] ?? '';
  const unknown = theirs.replace(/^prd_\w{11}/, 'prd_00000000001');
  for (const id of [theirs, unknown, 'prd_', 'x', '']) {
    const body = await sync(other, [{ id, set: 1 }, { id, adjust: 1, expect: 7 }]);
    const result = {
      sku: null, id, status: 'not_found', previous: null, stock: null, position: null,
    };
    assert.deepEqual(body, { results: [result, result], applied: 0, failed: 2, position: 0 });
  }
  assert.deepEqual(await readStocks(seller), { A: 7 });
});
