/** The responses of the webhook routes, with every status, match the OpenAPI document. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { BODY_LIMIT_BYTES } from '../../../src/http/limits.ts';
import { makeClock } from '../../support/clock.ts';
import type { Answer, Request } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';
import { startReceiver } from './receiver.ts';
import { findSchemaErrors, type Json } from '../openapi/json-schema.ts';
import {
  assertDescribed, dig, fetchDocument, listOperations, type OperationEntry,
} from '../openapi/openapi-document.ts';
import { listDeliveries, LOCAL, readWebhook, waitFor, WEBHOOKS } from './routes.ts';

type Headers = Readonly<Record<string, string>>;
const JSON_BODY = { 'content-type': 'application/json' };
const CLOCK = { rateLimitPerMinute: 1_000_000, clock: makeClock() };

async function start(t: TestContext) {
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  const server = await startServer(t, { ...CLOCK, webhooks: { ...LOCAL, lookup } });
  const document = await fetchDocument(server);
  const entries = listOperations(document).filter(({ path }) => path.startsWith(WEBHOOKS));
  return { server, document, entries, seller: await server.makeSeller() };
}

/** A request made of the document's examples, to one webhook. */
function sampleRequest(
  document: Json, { method, path, operation }: OperationEntry, id: string,
): Request {
  const address = { method, path: path.replace('{webhook_id}', id).replace('{n}', '1') };
  if (operation['requestBody'] === undefined) return address;
  const content = dig(document, operation, 'requestBody', 'content');
  const [type = ''] = Object.keys(content);
  const { example } = dig(document, content, type);
  return { ...address, headers: { 'content-type': type }, body: JSON.stringify(example) };
}

test('accepts the example requests of the document', async (t) => {
  const { document, entries, seller } = await start(t);
  const ask = async (id: string, status: number, name: string): Promise<Answer> => {
    const entry = entries.find(({ operation }) => operation['operationId'] === id);
    assert.ok(entry, id);
    const answer = await seller.send(sampleRequest(document, entry, name));
    assert.equal(answer.status, status, `${id}: ${answer.text}`);
    assertDescribed(document, entry.method, entry.path, answer);
    return answer;
  };
  const { id } = (await ask('createWebhook', 201, '')).json();
  for (const [operationId, status] of [
    ['listWebhooks', 200], ['readWebhook', 200], ['patchWebhook', 200], ['testWebhook', 200],
    ['listWebhookDeliveries', 200], ['readWebhookDelivery', 200],
    ['resendWebhookDelivery', 200], ['retryWebhook', 200], ['replayWebhook', 200],
    ['rotateWebhookSecret', 200],
    ['deleteWebhook', 204],
  ] as const) await ask(operationId, status, id);
  assert.equal(entries.length, 12);
});

test('responds in every state of a webhook as documented', async (t) => {
  const { document, seller } = await start(t);
  const receiver = await startReceiver(t, (response) => response.writeHead(500).end());
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const named = path.replace(/whk_\w+/, '{webhook_id}').replace(/\/1\b/, '/{n}');
    const headers = { ...JSON_BODY, 'idempotency-key': `"${method} ${path}"` };
    const answers: Answer[] = [];
    for (let n = 0; n < 2; n += 1) {
      const answer = await seller.send({
        method, path: `${WEBHOOKS}${path}`, headers, body: JSON.stringify(body),
      });
      assert.ok(answer.status < 300, answer.text);
      assertDescribed(document, method, `${WEBHOOKS}${named}`, answer);
      answers.push(answer);
    }
    return answers[1] ?? assert.fail();
  };
  const types = ['created', 'updated', 'deleted', 'stock'];
  const created = await send('POST', '', { url: receiver.url, types });
  assert.equal(created.headers['idempotent-replay'], 'true');
  const { id } = created.json();
  await seller.create();
  await receiver.until(({ length }) => length > 0);
  const failing = await waitFor(() => readWebhook(seller, id), (read) => read.failing_since);
  assert.ok(failing.next_attempt_at);
  await send('GET', `/${id}`);
  await send('PATCH', `/${id}`, { status: 'disabled' });
  await send('POST', `/${id}/test`);
  await send('POST', `/${id}/replay`, { position: 0 });
  await send('POST', `/${id}/rotate-secret`, { overlap: '1h' });
  await send('GET', `/${id}/deliveries`);
  await send('GET', `/${id}/deliveries/1`);
  await send('POST', `/${id}/deliveries/1/resend`);
  await send('POST', `/${id}/retry`);
  await send('GET', '');
  await send('DELETE', `/${id}`);
});

test('sends batch messages as documented', async (t) => {
  const { document, seller } = await start(t);
  const receiver = await startReceiver(t);
  const { id } = (await seller.send({
    method: 'POST', path: WEBHOOKS, headers: JSON_BODY, body: JSON.stringify({ url: receiver.url }),
  })).json();
  const product = (await seller.create({ stock: 1 })).json();
  for (const [method = '', body] of [
    ['PATCH', '{"stock":2}'], ['PATCH', '{"name":"new"}'], ['DELETE'],
  ]) {
    await seller.send({
      method, path: `/api/v1/products/${product.id}`, ...(body && { body }),
      headers: body === undefined ? {} : JSON_BODY,
    });
  }
  await receiver.until((messages) =>
    messages.flatMap((message) => message.body.data.changes).length === 4);
  await seller.send({ method: 'POST', path: `${WEBHOOKS}/${id}/test` });
  const operation = dig(document, document, 'webhooks', 'webhookMessage', 'post');
  const { schema } = dig(document, operation, 'requestBody', 'content', 'application/json');
  const parameters = [operation['parameters']].flat().map((entry) => dig(document, entry));
  assert.deepEqual(parameters.map(({ name }) => name).sort(),
    Object.keys(receiver.received[0]?.headers ?? {}).filter((name) => name.startsWith('webhook-'))
      .sort());
  const kinds = new Set<string>();
  for (const { body, headers } of receiver.received) {
    assert.deepEqual(findSchemaErrors(body, schema, document), []);
    for (const { name, schema: field } of parameters) {
      const value = headers[String(name)];
      const isNumber = dig(document, field)['type'] === 'integer';
      assert.deepEqual(findSchemaErrors(isNumber ? Number(value) : value, field, document), []);
    }
    for (const { type } of [body, ...body.data.changes ?? []]) kinds.add(type);
  }
  assert.deepEqual([...kinds].sort(),
    ['changes', 'created', 'deleted', 'stock', 'test', 'updated']);
});

test('sends messages with one change as documented', async (t) => {
  const { document, seller } = await start(t);
  const receiver = await startReceiver(t);
  const types = ['product.created', 'product.updated', 'product.deleted', 'stock.changed',
    'stock.low'];
  const created = await seller.send({
    method: 'POST', path: WEBHOOKS, headers: JSON_BODY,
    body: JSON.stringify({ url: receiver.url, delivery: 'single', types }),
  });
  assert.deepEqual(created.json().types, ['created', 'updated', 'deleted', 'stock', 'stock.low']);
  assertDescribed(document, 'POST', WEBHOOKS, created);
  const product = (await seller.create({ stock: 9 })).json();
  for (const [method = '', body] of [
    ['PATCH', '{"stock":1}'], ['PATCH', '{"name":"new"}'], ['DELETE'],
  ]) {
    await seller.send({
      method, path: `/api/v1/products/${product.id}`, ...(body && { body }),
      headers: body === undefined ? {} : JSON_BODY,
    });
  }
  await receiver.until(({ length }) => length === 5);
  const operation = dig(document, document, 'webhooks', 'webhookMessage', 'post');
  const { schema } = dig(document, operation, 'requestBody', 'content', 'application/json');
  for (const { body } of receiver.received) {
    assert.deepEqual(findSchemaErrors(body, schema, document), []);
  }
  assert.deepEqual(receiver.received.map(({ body }) => body.type), [
    'product.created', 'stock.changed', 'stock.low', 'product.updated', 'product.deleted',
  ]);
});

test('rejects requests with each documented status, as documented', async (t) => {
  const { server, document, entries, seller } = await start(t);
  const off = await (await startServer(t, CLOCK)).makeSeller();
  const stranger = await server.makeSeller({ scopes: ['stock:write'] });
  const slowServer = await startServer(t, { ...CLOCK, rateLimitPerMinute: 1, webhooks: LOCAL });
  const slow = await slowServer.makeSeller();
  await slow.send({ path: WEBHOOKS });
  const full = await server.makeSeller();
  const create = {
    method: 'POST', path: WEBHOOKS, headers: JSON_BODY,
    body: JSON.stringify({ url: 'http://127.0.0.1:9/' }),
  };
  for (let n = 0; n < 20; n += 1) await full.send(create);
  const used = { 'idempotency-key': '"used"' };
  const made = await seller.send({ ...create, headers: { ...JSON_BODY, ...used } });
  const { id } = made.json();
  await seller.create();
  await waitFor(() => listDeliveries(seller, id), ({ length }) => length > 0);
  const db = new DatabaseSync(join(server.folder, 'catalogue.db'), { timeout: 5_000 });
  db.exec('UPDATE seller SET pruned_to = position');
  db.close();
  const sendWith = (request: Request, more: Headers): Promise<Answer> =>
    seller.send({ ...request, headers: { ...request.headers, ...more } });
  const rejections: Readonly<Record<number, (request: Request) => Promise<Answer>>> = {
    400: (request) => seller.send({ ...request, path: `${request.path}?nonsense=1` }),
    401: (request) => server.send(request),
    403: (request) => stranger.send(request),
    404: (request) => off.send(request),
    406: (request) => sendWith(request, { accept: 'image/png' }),
    409: (request) => full.send(request),
    410: (request) => seller.send(request),
    413: (request) => seller.send({ ...request, body: ' '.repeat(BODY_LIMIT_BYTES + 1) }),
    415: (request) => sendWith(request, { 'content-type': 'image/png' }),
    417: (request) => sendWith(request, { expect: 'more' }),
    422: (request) => sendWith(request, used),
    429: (request) => slow.send(request),
  };
  // Server errors, and a timeout, which would take half a minute.
  const others = [500, 503, 507, 408];
  for (const entry of entries) {
    for (const status of Object.keys(dig(document, entry.operation, 'responses')).map(Number)) {
      if (status < 300 || others.includes(status)) continue;
      const provoke = rejections[status];
      assert.ok(provoke, `no case for ${status}`);
      const answer = await provoke(sampleRequest(document, entry, id));
      assert.equal(answer.status, status, `${entry.method} ${entry.path}: ${answer.text}`);
      assertDescribed(document, entry.method, entry.path, answer);
    }
  }
});
