/** The commands for webhooks: receives messages of a running server on this machine. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import type { WebhookAttempt } from '../../../src/client/index.ts';
import { verifyWebhook } from '../../../src/client/verify-webhook.ts';
import { listenUntilEnd } from '../../support/listening.ts';
import { spawnCommand } from '../../support/command.ts';
import { openShop, type Shop } from '../shop.ts';

const ALLOWED = { webhooks: { allowPrivate: true, allowHttp: true } };
const MUG = ['name=Blue mug', 'category=Kitchen', 'price=12.5', 'stock=40', '--create'];

/** Starts `webhook listen`, and reads its lines once the webhook is registered. */
async function listen(t: TestContext, shop: Shop, ...flags: string[]) {
  const child = spawnCommand(['webhook', 'listen', ...flags], shop.environment);
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const notes = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const [, url = '', id = ''] =
    /^Listening on (\S+) for webhook (whk_\w+)\. Ctrl-C deletes it\.$/
      .exec((await notes.next()).value ?? '') ?? [];
  assert.notEqual(id, '');
  return {
    id, url,
    next: async (): Promise<string> => (await lines.next()).value ?? '',
    nextNote: async (): Promise<string> => (await notes.next()).value ?? '',
    async interrupt(signal: NodeJS.Signals) {
      const closed = once(child, 'close');
      child.kill(signal);
      return closed;
    },
  };
}

test('prints verified messages, and deletes the webhook at the end', async (t) => {
  const shop = await openShop(t, ALLOWED);
  const receiver = await listen(t, shop);
  assert.equal((await shop.run('products', 'set', 'MUG-1', ...MUG)).status, 0);
  assert.match(await receiver.next(), /^1 {2}\S+ {2}created {2}MUG-1 {2}Blue mug, 12\.5 EUR/);

  const list = await shop.run('webhook', 'list');
  assert.match(list.out, new RegExp(`^${receiver.id} +http://127\\.0\\.0\\.1:\\d+/ +active `, 'm'));
  const tested = await shop.run('webhook', 'test', receiver.id);
  assert.match(tested.out, /^whk_\w+: delivered, status 204, after \d+ ms\n$/);
  assert.match(await receiver.next(), /^\S+Z {2}test message$/);

  const forged = await fetch(receiver.url, { method: 'POST', body: '{"type":"test"}' });
  assert.equal(forged.status, 401);
  assert.match(await receiver.nextNote(), /^Rejected a message: A header field is missing/);

  assert.deepEqual(await receiver.interrupt('SIGINT'), [0, null]);
  assert.equal(await receiver.nextNote(), `Deleted webhook ${receiver.id}.`);
  const none = await shop.run('webhook', 'list', '--json');
  assert.deepEqual(JSON.parse(none.out), { webhooks: [] });
});

test('forwards messages unchanged, and returns the status of the application', async (t) => {
  const shop = await openShop(t, ALLOWED);
  const { promise: forwarded, resolve } = Promise.withResolvers<[object, string]>();
  const application = await listenUntilEnd(t, (request, response) => {
    void text(request).then((body) => {
      resolve([request.headers, body]);
      response.writeHead(202).end();
    });
  });
  const receiver = await listen(t, shop, '--forward-to', application, '--json');
  const [, secret = ''] = /The secret of the webhook is (whsec_\S+)$/
    .exec(await receiver.nextNote()) ?? [];
  const tested = await shop.run('webhook', 'test', receiver.id, '--json');
  assert.deepEqual([JSON.parse(tested.out).outcome, JSON.parse(tested.out).status],
    ['delivered', 202]);
  const [headers, body] = await forwarded;
  assert.equal(verifyWebhook(body, { ...headers }, secret).type, 'test');
  assert.deepEqual(JSON.parse(await receiver.next()), JSON.parse(body));
  await receiver.interrupt('SIGTERM');
});

test('reports to the server that the application does not respond, for a retry', async (t) => {
  const shop = await openShop(t, ALLOWED);
  const receiver = await listen(t, shop, '--forward-to', 'http://127.0.0.1:9/hook');
  await receiver.nextNote();
  const { status, out, notes } = await shop.run('webhook', 'test', receiver.id, '--json');
  assert.equal(status, 1);
  assert.equal(JSON.parse(out).status, 502);
  assert.match(notes, new RegExp(`^${receiver.id}: .*status 502\\.$`, 'm'));
  assert.equal(await receiver.nextNote(),
    'http://127.0.0.1:9/hook did not respond. The server will retry.');
  await receiver.interrupt('SIGINT');
});

test('fails with one clear line if the port is taken, and registers no webhook', async (t) => {
  const shop = await openShop(t, ALLOWED);
  const { port } = new URL(await listenUntilEnd(t, () => {}));
  const { status, notes } = await shop.run('webhook', 'listen', '--port', port);
  assert.deepEqual([status, notes], [1, `Port ${port} is taken. Choose another with --port.\n`]);
  const { out } = await shop.run('webhook', 'list', '--json');
  assert.deepEqual(JSON.parse(out), { webhooks: [] });
});

test('explains that the server does not send webhooks to this machine', async (t) => {
  const strict = await openShop(t, { webhooks: {} });
  const refused = await strict.run('webhook', 'listen');
  assert.equal(refused.status, 1);
  assert.match(refused.notes, /^The server does not send webhooks to http:\/\/127\.0\.0\.1:\d+: /);
  assert.match(refused.notes, /--webhook-allow-private --webhook-allow-http, or give --endpoint/);
  const unknown = await strict.run('webhook', 'test', 'whk_x');
  assert.deepEqual([unknown.status, unknown.out], [1, '']);
  const away = await strict.run('webhook', 'listen', '--url', 'https://shop.example');
  assert.equal(away.status, 2);
  assert.match(away.notes, /^https:\/\/shop\.example is another machine\. Give --endpoint URL/);

  const without = await openShop(t, {});
  const none = await without.run('webhook', 'listen');
  assert.equal(none.status, 1);
  assert.match(none.notes, /^The server sends no webhooks \(serve --no-webhooks\)\.$/m);
});

test('creates a webhook, whose secret is printed once, and deletes it', async (t) => {
  const shop = await openShop(t, ALLOWED);
  const { promise: received, resolve } = Promise.withResolvers<[object, string]>();
  let status = 500;
  const url = await listenUntilEnd(t, (request, response) => {
    void text(request).then((body) => {
      resolve([request.headers, body]);
      response.writeHead(status).end();
    });
  });
  const created = await shop.run('webhook', 'create', url, '--types', 'stock.low,created',
    '--delivery', 'single', '--description', 'Till');
  assert.equal(created.status, 0, created.notes);
  const [, id = ''] = /^Created webhook (whk_\w+)\. Copy its secret, it is not shown again:\n$/
    .exec(created.notes) ?? [];
  const list = await shop.run('webhook', 'list', '--json');
  const [{ secret, ...webhook }] = JSON.parse(list.out).webhooks;
  assert.deepEqual([webhook.id, webhook.types, webhook.delivery, webhook.description, secret],
    [id, ['created', 'stock.low'], 'single', 'Till', undefined]);
  assert.equal((await shop.run('webhook', 'test', id)).status, 1);
  const [headers, body] = await received;
  assert.equal(verifyWebhook(body, { ...headers }, created.out.trim()).type, 'test');

  const failed = await shop.run('webhook', 'deliveries', id);
  assert.match(failed.out, /^n +kind .*outcome\n1 +test +- +- +\S+Z +\d+ +500 +\S/);
  status = 204;
  const resent = await shop.run('webhook', 'resend', id, '1');
  assert.match(resent.out, new RegExp(`^${id}: delivered, status 204, after \\d+ ms\\n$`));
  const latest = await shop.run('webhook', 'deliveries', id, '--limit', '1', '--json');
  assert.deepEqual(JSON.parse(latest.out).deliveries.map(({ n, outcome }: WebhookAttempt) =>
    [n, outcome]), [[2, 'delivered']]);
  const none = await shop.run('webhook', 'resend', id, '0');
  assert.deepEqual([none.status, none.notes.split('.')[0]],
    [2, '"0" is not the number of an attempt']);
  const retried = await shop.run('webhook', 'retry', id);
  assert.equal(retried.out, `${id} is active. See the outcome: webhook deliveries ${id}\n`);

  const unconfirmed = await shop.run('webhook', 'delete', id);
  assert.equal(unconfirmed.status, 2);
  assert.match(unconfirmed.notes, /^There is no terminal to ask for confirmation: add --yes\./);
  const deleted = await shop.run('webhook', 'delete', id, '--yes');
  assert.deepEqual([deleted.status, deleted.out], [0, `Deleted webhook ${id}.\n`]);
  for (const command of ['deliveries', 'retry', 'test', 'delete']) {
    const gone = await shop.run('webhook', command, id);
    assert.deepEqual([gone.status, gone.out], [1, ''], command);
    assert.match(gone.notes, /^Not found\. You have no webhook with this id\.\n$/);
  }
});
