/** POST /api/v1/products/import with files that are rejected at once, or midway. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  generateApiKey, parseNewApiKey, toStoredSecret,
} from '../../../src/domain/access/api-key.ts';
import { parseNewSeller } from '../../../src/domain/access/seller.ts';
import { createApp } from '../../../src/features.ts';
import { listen } from '../../../src/http/server/listener.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';
import { counts, CSV_HEADER, IMPORT, importFile, makeRows, readLines, sendFile } from './import.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';

const NDJSON = 'application/x-ndjson';
const GZIP = { 'content-encoding': 'gzip' };
const LATIN = Buffer.from(`${CSV_HEADER}Küche,K,A,1,1\n`, 'latin1');

test('rejects a request without a key, and a key without the scope', async (t) => {
  const server = await startServer(t);
  const file = {
    method: 'POST', path: IMPORT, headers: { 'content-type': 'text/csv' },
    body: `${CSV_HEADER}${makeRows(1)}`,
  };
  assertProblem(await server.send(file), 401, 'key-missing');
  const reader = await server.makeSeller({ scopes: ['products:read', 'stock:write'] });
  assertProblem(await reader.send(file), 403, 'scope-missing');
  assert.equal((await server.store.findSeller(reader.sellerId))?.position, 0);
});

test('rejects invalid files with a problem response, and changes nothing', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const gzip = gzipSync(CSV_HEADER + makeRows(10));
  for (const [file, detail] of [
    [{ body: 'name,category,sku,price,stock,Name\nA,K,S,1,1,B\n' }, /columns "name" and "Name"/],
    [{ body: 'Caption,sku\nMug,M-1\n' }, /no column for name, category, price, stock\. /],
    [{ body: '' }, /file is empty/],
    [{ body: '\n\n' }, /file is empty/],
    [{ body: '', type: NDJSON }, /file is empty/],
    [{ body: LATIN }, /"CSV UTF-8"/],
    [{ body: Buffer.from(CSV_HEADER, 'utf16le') }, /"CSV UTF-8", or set encoding=utf-16le/],
    [{ body: '[{"name":"A"}]' }, /is a JSON array/],
    [{ body: '[{"name":"A"}]', type: NDJSON }, /is a JSON array/],
    [{ body: `${CSV_HEADER}"Mug" blue,K,A,1,1\n` }, /line 2 text follows/],
    [{ body: `${CSV_HEADER}A,K,A,1,1\n"Mug,K,B,1,1\n` }, /line 3 is never closed/],
    [{ body: `${CSV_HEADER}"${'x\n'.repeat(1e6)}` }, /line 2 is never closed/],
    [{ body: `{"name":"${'x'.repeat(1e6)}"}`, type: NDJSON }, /Line 1 has more than 256 KiB/],
    [{ body: gzip }, /compressed with gzip.*content-encoding: gzip/],
    [{ body: gzip.subarray(0, -9), headers: GZIP }, /gzip/],
    [{ body: Buffer.from('not gzip'), headers: GZIP }, /gzip/],
    [{ body: CSV_HEADER, headers: { 'idempotency-key': 'a, b' } }, /Idempotency-Key/],
  ] as const) {
    const problem = assertProblem(await sendFile(seller, file), 400, 'invalid-data');
    assert.match(problem.detail, detail);
  }
  assert.equal((await server.store.findSeller(seller.sellerId))?.position, 0);
});

test('rejects other media types and content codings', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const file of [
    { body: CSV_HEADER, type: 'text/plain' },
    { body: '[]', type: 'application/json' },
    { body: CSV_HEADER, type: 'text/csv; charset=windows-1252' },
    { body: CSV_HEADER, headers: { 'content-encoding': 'br' } },
  ]) assertProblem(await sendFile(seller, file), 415, 'unsupported-media-type');
});

test('rejects unknown parameters', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = CSV_HEADER + makeRows(1);
  for (const [query, faults] of [
    ['mode=replace&dry_run=1&report=none', ['mode format', 'dry_run format', 'report format']],
    ['mode=', ['mode format']],
    ['dryrun=true', ['dryrun unknown']],
    ['map=name', ['map format']],
    ['map=name:Title', ['map unknown']],
    ['default=sku:A', ['default format']],
    ['mode=update&default=stock:0', ['default unknown']],
  ] as const) {
    const answer = await sendFile(seller, { body, query });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), faults, query);
  }
  for (const [query, faults] of [
    ['map=name:Title', ['map unknown']],
    ['default=stock:0', ['default unknown']],
    ['map=name:Title&default=stock:0', ['map unknown', 'default unknown']],
  ] as const) {
    const answer = await sendFile(seller, { body: '{}', type: NDJSON, query });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), faults, query);
  }
  assert.equal((await server.store.findSeller(seller.sellerId))?.position, 0);
});

test('ends with a problem if an error occurs midway, and reports what was written', async (t) => {
  const server = await startServer(t);
  for (const [end, detail] of [
    ['"Mug" blue,K,A,1,1\n', /line 2503 text follows/],
    ['"Mug,K,A,1,1\n', /line 2503 is never closed/],
    ['x'.repeat(300_000), /line 2503 has more than 256 KiB/],
  ] as const) {
    const seller = await server.makeSeller();
    const body = `${CSV_HEADER}Mug,K,M-1,x,1\n${makeRows(2_500)}${end}`;
    const { rows, last } = readLines(await sendFile(seller, { body }));
    assert.deepEqual(rows.map(({ line, sku }) => [line, sku]), [[2, 'M-1']]);
    const { type, title, status, detail: text, summary, ...others } = last.problem;
    assert.deepEqual([type, status, others], [
      'urn:problem-type:seller-product-api:invalid-data', 400, {},
    ]);
    assert.ok(title.length > 5);
    assert.match(text, detail);
    // Batches of 1,000 rows, of which the third is incomplete.
    assert.deepEqual(summary, counts({ created: 1_999, failed: 1, position: 1_999 }));
    assert.equal((await server.store.findSeller(seller.sellerId))?.position, 1_999);
  }
  assert.deepEqual(server.reports, []);
});

test('ends with a problem at invalid UTF-8, after complete batches', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = Buffer.concat([Buffer.from(CSV_HEADER + makeRows(10_000)), LATIN]);
  const { problem } = readLines(await sendFile(seller, { body })).last;
  assert.match(problem.detail, /Line 10003 has text that is not UTF-8.*"CSV UTF-8"/);
  assert.deepEqual(problem.summary, counts({ created: 10_000, position: 10_000 }));
});

test('rejects a file that does not fit on the disk, at once or midway', async (t) => {
  const small = await makeSmallServer(t, 60);
  assertProblem(await small(CSV_HEADER + makeRows(50_000)), 507, 'storage-full');
  const large = await makeSmallServer(t, 400);
  const { last } = readLines(await large(CSV_HEADER + makeRows(20_000)));
  assert.equal(last.problem.type, 'urn:problem-type:seller-product-api:storage-full');
  assert.equal(last.problem.status, 507);
  const { created, position } = last.problem.summary;
  assert.ok(created > 0 && created < 20_000 && created % 1_000 === 0, `${created}`);
  assert.equal(position, created);
});

test('serves other requests after rejecting a large file', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `Caption,sku\n${makeRows(100_000)}`;
  assertProblem(await sendFile(seller, { body }), 400, 'invalid-data');
  const { summary } = await importFile(seller, { body: CSV_HEADER + makeRows(2) });
  assert.deepEqual(summary, counts({ created: 2, position: 2 }));
});

/** Starts a server with a limit on database pages, and returns a function that sends it a file. */
async function makeSmallServer(t: TestContext, pageLimit: number) {
  const store = await openSqliteStore({ folder: join(makeFolder(t), 'data'), pageLimit });
  const app = createApp({ store, report: () => {} });
  const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 });
  t.after(async () => {
    await listener.stop();
    await app.close();
    await store.close();
  });
  const seller = await store.createSeller(parseNewSeller('A shop', 'EUR'));
  const key = generateApiKey();
  await store.createKey(seller.id, toStoredSecret(key), parseNewApiKey({
    name: 'test', scopes: [], addressRanges: [], expiresAt: undefined,
  }));
  const headers = { 'x-api-key': key, 'content-type': 'text/csv' };
  return (body: string) => send(listener.port, { method: 'POST', path: IMPORT, headers, body });
}
