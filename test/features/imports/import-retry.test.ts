/** POST /api/v1/products/import: interrupted imports, and retries. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { parseLastLine } from '../../support/import-id.ts';
import {
  makeProduct, startServer, type TestSeller, type TestServer,
} from '../../support/server.ts';
import { counts, CSV_HEADER, IMPORT, importFile, makeRows, readLines, sendFile } from './import.ts';
import { assertProblem } from '../../api/problem.ts';

const KEY = { 'idempotency-key': '"import-1"' };
const SENT_AT_ONCE = 64 * 1024;

test('responds while the file is still being received', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const outgoing = open(t, server, seller);
  outgoing.write(`${CSV_HEADER}Mug,K,M-1,x,1\n${makeRows(5_000)}`);
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  const [chunk] = await once(response, 'data');
  const [line] = String(chunk).split('\n');
  assert.equal(JSON.parse(line ?? '').sku, 'M-1');
  let rest = '';
  response.on('data', (more: Buffer) => { rest += String(more); });
  outgoing.end('Last,K,L-1,1,1\n');
  await once(response, 'end');
  assert.deepEqual(parseLastLine(rest.trim()).summary, counts({
    created: 5_001, failed: 1, position: 5_001,
  }));
});

test('keeps committed rows if the connection breaks, and finds them unchanged', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const file = CSV_HEADER + makeRows(6_000);
  const committed = await disconnectMidway(t, server, seller, file, {});
  assert.ok(committed >= 1_000 && committed % 1_000 === 0, `${committed}`);
  const { summary } = await importFile(seller, { body: file });
  const { unchanged } = summary; // batches in flight may have been committed since
  assert.ok(unchanged >= committed && unchanged < 6_000 && unchanged % 1_000 === 0, `${unchanged}`);
  assert.deepEqual(summary, counts({ unchanged, created: 6_000 - unchanged, position: 6_000 }));
  const again = await importFile(seller, { body: file });
  assert.deepEqual(again.summary, counts({ unchanged: 6_000, position: 6_000 }));
  assert.deepEqual(server.reports, []);
});

test('reports a retried import under its key as if it had not been interrupted', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const file = CSV_HEADER + makeRows(6_000);
  await disconnectMidway(t, server, seller, file, KEY);
  const answer = await sendFile(seller, { body: file, headers: KEY });
  assert.equal(answer.headers['idempotent-replay'], 'true');
  assert.deepEqual(readLines(answer).last.summary, counts({ created: 6_000, position: 6_000 }));
});

test('imports once under an Idempotency-Key, with the same response each time', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `${CSV_HEADER}${makeRows(2_500)}Faulty,K,F,x,1\n`;
  const first = await sendFile(seller, { body, headers: KEY, query: 'report=all' });
  assert.equal(first.headers['idempotent-replay'], undefined);
  const changed = await importFile(seller, { body: `${CSV_HEADER}Changed,K,SKU-1,1,1\n` });
  assert.equal(changed.summary.updated, 1);
  const again = await sendFile(seller, { body, headers: KEY, query: 'report=all' });
  assert.equal(again.headers['idempotent-replay'], 'true');
  assert.equal(again.text, first.text);
  assert.equal((await server.store.findSeller(seller.sellerId))?.position, 2_501);
});

test('recognizes a retry of large rows in another order of columns, with other white space',
  async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller();
    const description = 'd'.repeat(4_000);
    const rows = Array.from({ length: 600 }, (_, n) => `D-${n}`);
    const csv = (space: string, line: (sku: string) => string) =>
      `${line('sku')}\n${rows.map((sku) => `${space}${line(sku)}`).join('\n')}\n`;
    const files: readonly (readonly [type: string, first: string, again: string])[] = [
      ['text/csv',
        csv('', (sku) => `${sku},${sku === 'sku' ? 'name,category,price,stock,description'
          : `Dish,Bar,1,1,${description}`}`),
        csv('   ', (sku) => (sku === 'sku' ? 'description,stock,"sku",name,category,price'
          : `"${description}" , 1,"${sku}", "Dish",Bar,1.00`))],
      ['application/x-ndjson', rows.map((sku) =>
        `${JSON.stringify({ sku, name: 'Dish', description: `${description}2` })}\n`).join(''),
      rows.map((sku) => `  { "description" : "\\u0064${description.slice(1)}2"`
        + `,\t"name": "Dish", "sku": "${sku}" }\r\n`).join('')],
    ];
    for (const [index, [type, first, again]] of files.entries()) {
      const headers = { 'idempotency-key': `large-${index}` };
      const { last } = readLines(await sendFile(seller, { body: first, type, headers }));
      assert.equal(index === 0 ? last.summary.created : last.summary.updated, 600);
      const retry = await sendFile(seller, { body: again, type, headers });
      assert.equal(retry.headers['idempotent-replay'], 'true');
      assert.deepEqual(readLines(retry).last, last);
    }
  });

test('rejects another file under the same key', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await sendFile(seller, { body: CSV_HEADER + makeRows(1_500), headers: KEY });
  const other = await sendFile(seller, { body: CSV_HEADER + makeRows(1_500, 2), headers: KEY });
  assertProblem(other, 422, 'idempotency-mismatch');
  const create = await sendFile(seller, {
    body: CSV_HEADER + makeRows(1_500), headers: KEY, query: 'mode=create',
  });
  assertProblem(create, 422, 'idempotency-mismatch');
  // The first batch is the same, and the second one differs.
  const later = await sendFile(seller, { body: CSV_HEADER + makeRows(1_501), headers: KEY });
  const { last } = readLines(later);
  assert.equal(last.problem.status, 422);
  assert.deepEqual(last.problem.summary, counts({ created: 1_000, position: 1_000 }));
  assert.equal((await server.store.findSeller(seller.sellerId))?.position, 1_500);
});

test('leaves no record of a dry run under its key', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = CSV_HEADER + makeRows(3);
  const tried = await sendFile(seller, { body, headers: KEY, query: 'dry_run=true' });
  assert.deepEqual(readLines(tried).last.summary, counts({ created: 3, position: 0 }));
  const made = await sendFile(seller, { body, headers: KEY });
  assert.equal(made.headers['idempotent-replay'], undefined);
  assert.deepEqual(readLines(made).last.summary, counts({ created: 3, position: 3 }));
});

test('stops if its client stops reading and disconnects', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const outgoing = open(t, server, seller, 'report=all');
  outgoing.write(CSV_HEADER);
  const [response] = await Promise.all([
    once(outgoing, 'response') as Promise<[IncomingMessage]>,
    writeRows(outgoing, 20_000),
  ]);
  response[0].on('error', () => {}); // destroyed below
  outgoing.destroy();
  const { summary } = await importFile(seller, { body: CSV_HEADER + makeRows(1) });
  assert.equal(summary.unchanged, 1);
  assert.deepEqual(server.reports, []);
});

function open(
  t: TestContext, { port }: TestServer, { key }: TestSeller, query = '', headers = {},
): ClientRequest {
  const outgoing = request({
    host: '127.0.0.1', port, method: 'POST', path: `${IMPORT}?${query}`, agent: false,
    headers: { 'x-api-key': key, 'content-type': 'text/csv', ...headers },
  });
  outgoing.on('error', () => {}); // tests may break the connection
  t.after(() => outgoing.destroy());
  return outgoing;
}

/** Sends a file without its end, and disconnects after a commit. Returns the committed rows. */
async function disconnectMidway(
  t: TestContext, server: TestServer, seller: TestSeller, file: string, headers: object,
): Promise<number> {
  const outgoing = open(t, server, seller, '', headers);
  outgoing.write(file.slice(0, -20));
  while (await readPosition(server, seller) === 0) await turn();
  outgoing.destroy();
  return readPosition(server, seller);
}

async function writeRows(outgoing: ClientRequest, count: number): Promise<void> {
  const text = makeRows(count);
  for (let at = 0; at < text.length; at += SENT_AT_ONCE) {
    outgoing.write(text.slice(at, at + SENT_AT_ONCE));
    await turn();
  }
}

async function readPosition({ store }: TestServer, { sellerId }: TestSeller): Promise<number> {
  return (await store.findSeller(sellerId))?.position ?? 0;
}

for (const [what, count] of [['longer', 3_500], ['shorter', 1_000]] as const) {
  test(`rejects a file that is ${what} than the first one under its key`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller();
    const rows = makeRows(3_500).split('\n').filter(Boolean);
    const fileOf = (length: number) => `${CSV_HEADER}${rows.slice(0, length).join('\n')}\n`;
    await importFile(seller, { body: fileOf(2_000), headers: KEY });
    const other = readLines(await sendFile(seller, { body: fileOf(count), headers: KEY }));
    assert.equal(other.last.problem.status, 422, JSON.stringify(other.last));
    const { position } = (await importFile(seller, { body: fileOf(1) })).summary;
    assert.equal(position, 2_000);
  });
}

test('records the key even if all rows were rejected', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `${CSV_HEADER}Mug,K,M-1,x,1\n`;
  await importFile(seller, { body, headers: KEY });
  const again = await sendFile(seller, { body, headers: KEY });
  assert.equal(again.headers['idempotent-replay'], 'true');
  const other = await seller.send({
    method: 'POST', path: '/api/v1/products',
    headers: { ...KEY, 'content-type': 'application/json' },
    body: JSON.stringify(makeProduct()),
  });
  assertProblem(other, 422, 'idempotency-mismatch');
});
