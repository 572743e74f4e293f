/** Ctrl-C and other signals: partial files are removed, and one line says what was written. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { generateApiKey } from '../../src/domain/access/api-key.ts';
import { run, spawnCommand } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { listenUntilEnd } from '../support/listening.ts';
import { openShop, type Shop } from './shop.ts';
import { CSV_EXPORT, startFakeServer } from './transfer/fake-server.ts';

const KEY = generateApiKey();
const FAILURE = JSON.stringify({
  line: 3, sku: 'X', status: 'failed', errors: [{ pointer: '/sku', detail: 'No.' }],
});

for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]] as const) {
  test(`removes a partial export on ${signal}`, async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, 'all.csv');
    const url = await startFakeServer(t, (_, response) => {
      response.writeHead(200, CSV_EXPORT).write('sku\r\n');
    });
    const child = spawnCommand(['export', path], { SELLER_API_URL: url, SELLER_API_KEY: KEY });
    t.after(() => { child.kill('SIGKILL'); });
    const notes = text(child.stderr);
    const isBegun = (): boolean => readdirSync(folder).some((name) => name.endsWith('.part'));
    while (!isBegun()) await wait(5);
    assert.ok(readdirSync(folder).every((name) => /^all\.csv\.[\da-f-]+\.part/.test(name)));
    child.kill(signal);
    assert.deepEqual((await once(child, 'close'))[0], status);
    assert.equal(await notes, `Interrupted: ${path} was not written.\n`);
    assert.deepEqual(readdirSync(folder), []);
  });

  test(`removes the rejected rows of an import, and says what remains, on ${signal}`, async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, 'products.csv');
    writeFileSync(path, 'name,category,sku,price,stock\nA,B,C,1,1\nA,B,X,1,1\n');
    const url = await startFakeServer(t, (request, response) => {
      request.resume();
      response.write(`${FAILURE}\n`);
    });
    const child = spawnCommand(['import', path], { SELLER_API_URL: url, SELLER_API_KEY: KEY });
    t.after(() => { child.kill('SIGKILL'); });
    const notes = text(child.stderr);
    while (readdirSync(folder).length === 1) await wait(5);
    child.kill(signal);
    assert.deepEqual((await once(child, 'close'))[0], status);
    const says = 'The server may still write what it has received: "imports list" shows it.'
      + ' Imported rows stay. Run the command again to import the rest.';
    assert.equal(await notes, `Interrupted. ${says}\n`);
    assert.deepEqual(readdirSync(folder), ['products.csv']);
  });
}

/** Starts a command whose standard input stays open, and collects what it prints. */
function start(t: TestContext, args: readonly string[], environment: NodeJS.ProcessEnv) {
  const child = spawnCommand(args, environment);
  t.after(() => { child.kill('SIGKILL'); });
  const closed = once(child, 'close');
  return { child, out: text(child.stdout), notes: text(child.stderr), closed };
}

/** Waits until the newest import has written rows, and returns their number. */
async function waitForRows(shop: Shop, count: string): Promise<number> {
  for (;;) {
    const { out } = await shop.run('imports', 'list', '--limit', '1', '--json');
    const [record] = JSON.parse(out).imports;
    if (record?.counts[count] > 0) return record.counts[count];
    await wait(20);
  }
}

const HEADER = 'name,category,sku,price,stock\n';
const ROWS = Array.from({ length: 2_400 }, (_, n) => `Product ${n},C,P-${n},1,1\n`).join('');

test('says how many rows of an interrupted import were written, and continues', async (t) => {
  const shop = await openShop(t);
  const importing = start(t, ['import', '-', '--format', 'csv'], shop.environment);
  importing.child.stdin.write(HEADER + ROWS);
  const created = await waitForRows(shop, 'created');
  importing.child.kill('SIGINT');
  assert.deepEqual(await importing.closed, [130, null]);
  const [, counted = '', id = ''] =
    /^Interrupted\. So far: ([\d,]+) created, .* \((imp_\w+)\)\. Imported rows stay\. Run/
      .exec(await importing.notes) ?? [];
  assert.ok(Number(counted.replace(',', '')) >= created, await importing.notes);
  const { out } = await shop.run('imports', 'show', id);
  assert.match(out, /^finished_at +-$/m);
  const path = join(shop.folder, 'all.csv');
  writeFileSync(path, HEADER + ROWS);
  const again = await shop.run('import', path);
  assert.equal(again.status, 0, again.notes);
  const [, rest = '', same = ''] = /: ([\d,]+) created, 0 updated, ([\d,]+) unchanged/
    .exec(again.out)?.map((count) => count.replace(',', '')) ?? [];
  assert.equal(Number(rest) + Number(same), 2_400);
  assert.ok(Number(same) >= created);
});

test('continues an interrupted stock sync without applying a change twice', async (t) => {
  const shop = await openShop(t);
  const path = join(shop.folder, 'all.csv');
  writeFileSync(path, HEADER + ROWS);
  assert.equal((await shop.run('import', path)).status, 0);
  const changes = Array.from({ length: 2_400 }, (_, n) => `{"sku":"P-${n}","adjust":1}\n`).join('');
  const args = ['stock', 'sync', '-', '--format', 'ndjson', '--source', 'till'];
  const flags = ['--duplicates', 'last'];
  const syncing = start(t, [...args, ...flags], shop.environment);
  syncing.child.stdin.write(changes);
  const applied = await waitForRows(shop, 'applied');
  syncing.child.kill('SIGINT');
  assert.deepEqual(await syncing.closed, [130, null]);
  const notes = await syncing.notes;
  assert.match(notes, /^Interrupted\. So far: [\d,]+ applied, 0 unchanged, .* applied stays/);
  const [, key = ''] = /--idempotency-key (\S+)$/m.exec(notes) ?? [];
  const rest = await run([...args, ...flags, '--idempotency-key', key], shop.environment, changes);
  assert.equal(rest.status, 0, rest.notes);
  assert.ok(applied > 0);
  const { out } = await shop.run('products', 'list', '--stock-min', '2', '--fields', 'sku,stock');
  const lines = out.trim().split('\n').slice(1);
  assert.deepEqual([lines.length, lines.every((line) => line.endsWith(' 2'))], [2_400, true]);
});

test('exits at once on a second signal, while it asks the server what was written', async (t) => {
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
  let questions = 0;
  const url = await listenUntilEnd(t, (request, response) => {
    request.on('error', () => {}).resume();
    if (request.method === 'POST') return void response.write(`${FAILURE}\n`);
    questions += 1;
    if (questions === 1) return void response.end('{"imports":[],"next_cursor":null}');
    onAsked(); // and never responds
  });
  const path = join(makeFolder(t), 'products.csv');
  writeFileSync(path, `${HEADER}A,B,C,1,1\nA,B,X,1,1\n`);
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
  const { child, notes, closed } = start(t, ['import', path], environment);
  while (readdirSync(dirname(path)).length === 1) await wait(5);
  child.kill('SIGINT');
  await asked;
  assert.deepEqual(readdirSync(dirname(path)), ['products.csv']);
  child.kill('SIGINT');
  assert.deepEqual(await closed, [130, null]);
  assert.equal(await notes, '');
});

test('says what an interrupted revert restored, and how to continue it', async (t) => {
  let reads = 0;
  const url = await listenUntilEnd(t, (request, response) => {
    request.on('error', () => {}).resume();
    if (request.method === 'POST') {
      return void response.write('{"sku":"A","id":"prd_1","status":"restored"}\n');
    }
    const isFirst = request.url?.endsWith('limit=1');
    if (!isFirst) reads += 1;
    const counts = { restored: Math.min(2, reads), deleted: 1, conflicts: 1 };
    const imports = isFirst ? [] : [{ id: 'imp_2', kind: 'revert', finished_at: null, counts }];
    response.end(JSON.stringify({ imports, next_cursor: null }));
  });
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
  for (const [flags, says] of [
    [[], new RegExp('^Interrupted\\. So far: 2 restored, 1 deleted, 1 left alone \\(imp_2\\)\\.'
      + ' What was restored stays\\. To continue, .* with --idempotency-key [\\da-f-]+\\n$')],
    [['--dry-run'], /^Interrupted\. Nothing was changed\.\n$/],
  ] as const) {
    const reverting = start(t, ['revert', 'imp_1', '--json', ...flags], environment);
    await once(createInterface({ input: reverting.child.stdout }), 'line');
    reverting.child.kill('SIGINT');
    assert.deepEqual(await reverting.closed, [130, null]);
    assert.match(await reverting.notes, says);
  }
});

test('says how many products were deleted, and finishes the one in flight', async (t) => {
  const { promise: begun, resolve: onBegun } = Promise.withResolvers<() => void>();
  const url = await startFakeServer(t, (request, response) => {
    if (request.method === 'DELETE') return onBegun(() => response.writeHead(204).end());
    request.resume();
    const results = ['A', 'B', 'C'].map((sku) => [{ id: `prd_${sku}`, sku, name: `Mug ${sku}` }]);
    response.end(JSON.stringify({ results, position: 1 }));
  });
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
  const { child, out, notes, closed } =
    start(t, ['products', 'delete', 'A', 'B', 'C', '--yes'], environment);
  const answer = await begun;
  child.kill('SIGINT');
  await once(child.stderr, 'data');
  answer();
  assert.deepEqual(await closed, [130, null]);
  assert.equal(await out, 'Deleted A (Mug A).\n');
  assert.equal(await notes, 'Stopping after the current product.\n'
    + 'Interrupted. 1 of 3 products were deleted. Next: B.\n');
});
