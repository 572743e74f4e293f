/** `changes tail`: the change feed, line by line, until it is interrupted. */
import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run, spawnCommand } from '../../support/command.ts';
import { startFakeServer } from '../transfer/fake-server.ts';
import { openShop, serveShop, type Shop } from '../shop.ts';

const MUG = ['name=Blue mug', 'category=Kitchen', 'price=12.5', 'stock=40', '--create'];

/** Starts `changes tail`, and reads its lines. */
function tail(t: TestContext, shop: Shop, ...flags: string[]) {
  const child = spawnCommand(['changes', 'tail', ...flags], shop.environment);
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child, notes: text(child.stderr), waits: waitForNote(child),
    next: async (): Promise<string> => (await lines.next()).value ?? '',
    async interrupt(signal: NodeJS.Signals) {
      const closed = once(child, 'close');
      child.kill(signal);
      return closed;
    },
  };
}

/** Resolves when the command has determined its position. */
async function waitForNote(child: ChildProcessWithoutNullStreams): Promise<void> {
  await once(child.stderr, 'data');
}

test('prints each new change on one line, and says where to continue', async (t) => {
  const shop = await openShop(t);
  assert.equal((await shop.run('products', 'set', 'OLD-1', ...MUG)).status, 0);
  const feed = tail(t, shop);
  await feed.waits;
  assert.equal((await shop.run('products', 'set', 'MUG-1', ...MUG)).status, 0);
  const sold = ['stock', 'set', 'MUG-1', '-2', '--reason', 'sold', '--source', 'till'];
  assert.equal((await shop.run(...sold)).status, 0);
  assert.match(await feed.next(),
    /^2 {2}\d{4}-\S+Z {2}created {2}MUG-1 {2}Blue mug, 12\.5 EUR, stock 40$/);
  assert.match(await feed.next(), /^3 {2}\S+ {2}stock {4}MUG-1 {2}40 -> 38 \(sold, till\)$/);
  assert.deepEqual(await feed.interrupt('SIGINT'), [0, null]);
  assert.equal(await feed.notes, 'Waiting for changes after position 1. Ctrl-C stops.\n'
    + 'Stopped. To continue: changes tail --after 3\n');
});

test('prints JSON lines from a position on, of the selected types', async (t) => {
  const shop = await openShop(t);
  assert.equal((await shop.run('products', 'set', 'MUG-1', ...MUG)).status, 0);
  assert.equal((await shop.run('stock', 'set', 'MUG-1', '7')).status, 0);
  const feed = tail(t, shop, '--after', '0', '--types', 'stock', '--json');
  const { position, type, data } = JSON.parse(await feed.next());
  assert.deepEqual([position, type, data.after], [2, 'stock', 7]);
  assert.deepEqual(await feed.interrupt('SIGTERM'), [0, null]);
});

test('continues after the server has restarted', async (t) => {
  const shop = await serveShop(t);
  const feed = tail(t, shop, '--after', '0');
  await feed.waits;
  assert.equal((await shop.run('products', 'set', 'MUG-1', ...MUG)).status, 0);
  assert.match(await feed.next(), /^1 /);
  assert.equal((await shop.run('stock', 'set', 'MUG-1', '8')).status, 0);
  assert.match(await feed.next(), /^2 .* 40 -> 8$/);
  await shop.restart(t);
  assert.equal((await shop.run('stock', 'set', 'MUG-1', '7')).status, 0);
  assert.match(await feed.next(), /^3 .* 8 -> 7$/);
  await feed.interrupt('SIGINT');
});

test('waits for a server that stops between the pages of earlier changes', async (t) => {
  const makePage = (position: number) => JSON.stringify({
    changes: [{
      position, at: '2026-11-23T00:00:00.000Z', type: 'stock', sku: `MUG-${position}`,
      data: { before: 2, after: 1, reason: null, source: null },
    }],
    next: position,
  });
  const broken: RequestListener = (request) => void request.socket.destroy();
  const url = await startFakeServer(
    t,
    (_, response) => void response.end(makePage(1)),
    broken, broken, broken, broken, broken, // the second page, with its retries
    (_, response) => void response.writeHead(403, { 'content-type': 'application/problem+json' })
      .end('{"type":"urn:x:forbidden","title":"Forbidden","status":403,"detail":"No."}'),
  );
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: generateApiKey() };
  const { status, out, notes } = await run(['changes', 'tail', '--after', '0'], environment);
  assert.deepEqual([status, notes.split('\n').at(-2)], [1, 'Forbidden. No.']);
  assert.match(out, /^1 .* MUG-1 .*2 -> 1\n$/);
});

test('waits for a server that is unavailable, and reports in JSON why it ends', async (t) => {
  const change = { position: 1, at: '2026-11-23T00:00:00.000Z', type: 'stock', sku: 'MUG-1' };
  const unavailable: RequestListener = (_, response) => void response.writeHead(503).end();
  const url = await startFakeServer(
    t,
    (_, response) => void response.end('{"changes":[],"next":0}'),
    unavailable, unavailable, unavailable,
    (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`id: 1\ndata: ${JSON.stringify(change)}\n\n`),
    (_, response) => void response.writeHead(410, { 'content-type': 'application/problem+json' })
      .end('{"type":"urn:x:history-pruned","title":"Gone","status":410,"detail":"Too old."}'),
  );
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: generateApiKey() };
  const { status, out, notes } = await run(
    ['changes', 'tail', '--after', '0', '--json'], environment);
  assert.deepEqual([status, notes], [1, 'Gone. Too old.\n']);
  const [first = '', last = '', rest] = out.split('\n');
  assert.deepEqual(JSON.parse(first), change);
  assert.deepEqual(JSON.parse(last).error.problem.status, 410);
  assert.equal(rest, '');
});

test('fails immediately without a server, with an invalid type, and beyond the last position',
  async (t) => {
    const shop = await openShop(t);
    const wrong = await shop.run('changes', 'tail', '--after', '0', '--types', 'sold');
    assert.equal(wrong.status, 2);
    assert.match(wrong.notes, /^--types takes created, updated, deleted or stock, not "sold"/);
    const json = await shop.run('changes', 'tail', '--after', '99', '--json');
    assert.equal(json.status, 2, json.notes);
    assert.equal(JSON.parse(json.out).error.exit_status, 2);
    const nowhere = { ...shop.environment, SELLER_API_URL: 'http://127.0.0.1:2' };
    const gone = await run(['changes', 'tail', '--after', '0'], nowhere);
    assert.equal(gone.status, 1);
    assert.match(gone.notes, /No server at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\./);
  });
