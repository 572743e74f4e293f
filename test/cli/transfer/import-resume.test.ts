/** `import` resumes after a broken connection, a restart or a temporary problem. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { startFakeServer } from './fake-server.ts';
import { SAMPLE, serveShop } from '../shop.ts';

/** Enough rows that the server is still importing when it is killed. */
const MANY = 150_000;
const KEY = generateApiKey();
const SUMMARY = JSON.stringify({
  summary: { created: 1, updated: 0, unchanged: 0, failed: 0, skipped: 0, position: 1 },
});
const FAILURE = JSON.stringify({
  line: 3, sku: 'X', status: 'failed', errors: [{ pointer: '/sku', detail: 'No.' }],
});

test('resumes after the server was killed and restarted', async (t) => {
  const shop = await serveShop(t);
  const path = join(shop.folder, 'many.csv');
  const rows = Array.from({ length: MANY }, (_, n) => `Product ${n},Kitchen,SKU-${n},1.5,${n}`);
  writeFileSync(path, `name,category,sku,price,stock\n${rows.join('\n')}\n`);
  const importing = shop.run('import', path, '--json');
  let position = 0;
  while (position === 0) position = await shop.readPosition();
  await shop.serving.stop('SIGKILL');
  await startServing(t, [
    '--data', shop.data, '--rate-limit', '0', '--port', String(shop.serving.port),
  ]);
  const { status, out, notes } = await importing;
  assert.equal(status, 0, notes);
  assert.match(notes, /broke \(\w+\)\. Retrying in 1 s \(1 of 5\)\./);
  const { summary } = JSON.parse(out);
  assert.deepEqual([summary.created, summary.unchanged, summary.failed], [MANY, 0, 0]);
  assert.equal(await shop.readPosition(), MANY);
  const again = JSON.parse((await shop.run('import', path, '--json')).out);
  assert.deepEqual([again.summary.created, again.summary.unchanged], [0, MANY]);
});

test('waits for Retry-After, then sends the same body under the same key', async (t) => {
  const seen: { readonly key: unknown; readonly body: string; readonly url: unknown }[] = [];
  const read = async (request: IncomingMessage): Promise<void> => {
    const body = (await buffer(request)).toString();
    seen.push({ key: request.headers['idempotency-key'], body, url: request.url });
  };
  const url = await startFakeServer(t, async (request, response) => {
    await read(request);
    const headers = { 'content-type': 'application/problem+json', 'retry-after': '2' };
    response.writeHead(503, headers).end(JSON.stringify({ title: 'Busy', detail: 'Later.' }));
  }, async (request, response) => {
    await read(request);
    response.end(`${SUMMARY}\n`);
  });
  const environment = { SELLER_API_URL: `${url}/shop`, SELLER_API_KEY: KEY };
  const { status, out, notes } = await run(['import', SAMPLE], environment);
  assert.equal(status, 0, notes);
  assert.match(notes, /^Busy\. Later\. Retrying in 2 s \(1 of 5\)\.\n/);
  assert.match(out, /: 1 created/);
  const [first, second] = seen;
  assert.match(String(first?.key), /^"[0-9a-f-]{36}"$/);
  assert.deepEqual(second, first);
  const target = '/shop/api/v1/products/import?file_name=sample-catalogue.csv';
  assert.equal(first?.url, target);
});

test('reports a rejected row once, even if an earlier attempt reported it too', async (t) => {
  const url = await startFakeServer(t, async (request, response) => {
    await buffer(request);
    response.write(`${FAILURE}\n`, () => response.destroy());
  }, async (request, response) => {
    await buffer(request);
    response.end(`${FAILURE}\n${SUMMARY.replace('"failed":0', '"failed":1')}`);
  });
  const path = join(makeFolder(t), 'products.csv');
  writeFileSync(path, 'sku\nW\nX\n');
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
  const { status, notes } = await run(['import', path], environment);
  assert.equal(status, 1);
  assert.equal(notes.match(/Line 3, SKU X: sku: No\./g)?.length, 1);
  assert.match(notes, /1 row rejected\. It is in [^\n]*products\.failed\.csv/);
});

const cutOff: RequestListener = async (request, response) => {
  await once(request, 'data');
  response.destroy();
};

test('passes --default to the server', async (t) => {
  const seen: unknown[] = [];
  const url = await startFakeServer(t, async (request, response) => {
    seen.push(new URL(request.url ?? '', 'http://x').searchParams.get('default'));
    await buffer(request);
    response.end(`${SUMMARY}\n`);
  });
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
  const { status } = await run(['import', SAMPLE, '--default', 'stock:0'], environment);
  assert.deepEqual([status, seen], [0, ['stock:0']]);
});

test('does not send piped input twice, and says what to do', async (t) => {
  const url = await startFakeServer(t, cutOff);
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
  const args = ['import', '-', '--format', 'csv'];
  const { status, out, notes } = await run(args, environment, 'sku\nX\n');
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, /broke \(ECONNRESET\)\. Imported rows stay\. Run the command/);
});

type Respond = (response: ServerResponse) => void;

const failures: readonly [name: string, respond: Respond, says: RegExp][] = [
  ['a problem at the end of a report', (response) => {
    const summary = { created: 2_000 };
    const problem = { title: 'Full', status: 507, detail: 'The disk.', summary };
    response.end(`${JSON.stringify({ problem })}\n`);
  }, /^Full\. The disk\. Before that: 2,000 created\.\n$/],
  ['a foreign server', (response) => {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>\x1b[31mNot here');
  }, /responded with status 404, but not like a Seller Product API server\. Is --url/],
  ['a redirect', (response) => {
    response.writeHead(301, { location: 'https://shop.example' }).end();
  }, /responded with status 301/],
  ['a problem, without control characters', (response) => {
    const detail = 'No \x1b[31m\x9b\u202e.';
    response.writeHead(403, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ title: 'No', status: 403, detail, errors: 7 }));
  }, /^No\. No \ufffd\[31m\ufffd\ufffd\.\n$/],
  ['a malformed summary', (response) => {
    response.end('{"summary":[]}\n');
  }, /has no "created"/],
];

for (const [name, respond, says] of failures) {
  test(`reports in one line ${name}`, async (t) => {
    const url = await startFakeServer(t, async (request, response) => {
      await buffer(request);
      respond(response);
    });
    const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
    const { status, out, notes } = await run(['import', SAMPLE], environment);
    assert.match(notes, says);
    assert.deepEqual([status, out, notes.split('\n').length], [1, '', 2]);
  });
}
