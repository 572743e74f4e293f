/** One delivery attempt: its request, its outcome, and the description of each failure. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { SellerId } from '../../../src/domain/id.ts';
import { deliver, describeFailure } from '../../../src/features/webhooks/deliver.ts';
import { type Lookup, DnsResolver } from '../../../src/features/webhooks/dns-resolver.ts';
import { makeClock } from '../../support/clock.ts';
import { HELD_MS, holdTimers } from '../../support/held-timers.ts';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';
import { answerWith, type Answering, startReceiver } from './receiver.ts';

const SELLER = 5 as SellerId;
/** Node publishes on it when a client has received the head of a response. */
const RESPONSE_CHANNEL = 'http.client.response.finish';
const ALLOW_ALL = { allowPrivate: true, allowHttp: true };

interface Settings {
  readonly policy?: typeof ALLOW_ALL;
  readonly lookup?: Lookup;
  readonly timeoutMs?: number;
  readonly stop?: AbortSignal;
}

function send(url: string, settings: Settings = {}) {
  const { policy = ALLOW_ALL, lookup, timeoutMs = 5_000 } = settings;
  const headers = { 'webhook-id': 'msg_1' };
  return deliver({ sellerId: SELLER, url, failures: 0 }, '{"a":"é"}', headers, {
    policy, resolver: new DnsResolver(lookup), clock: makeClock(), timeoutMs,
    stop: settings.stop ?? new AbortController().signal,
  });
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); });
  // A server that listens on a port has an address of this type.
  return (server.address() as AddressInfo).port;
}

/** A TCP server that answers each connection with this text, which need not be HTTP. */
async function listenRaw(t: TestContext, answer: string): Promise<number> {
  return listen(t, createServer((socket) => {
    socket.on('error', () => {}); // the client may disconnect early
    socket.once('data', () => socket.end(answer));
  }));
}

test('posts the body with its type, its length and its signature, and nothing else', async (t) => {
  const receiver = await startReceiver(t);
  const result = await send(`${receiver.url}?a=b`);
  assert.equal(result?.status, 204);
  assert.equal(result?.outcome, 'delivered');
  assert.equal(result?.at, makeClock().now);
  const [received] = receiver.received;
  const { connection, ...kept } = received?.headers ?? {};
  const { url, request } = result?.exchange ?? {};
  assert.equal(url, `${receiver.url}?a=b`);
  assert.deepEqual(Object.fromEntries(request?.headers.map(({ name, value }) => [name, value])
    ?? []), kept);
  assert.equal(received?.method, 'POST');
  assert.equal(received?.path, '/hook?a=b');
  assert.deepEqual({ ...received?.headers }, {
    host: `127.0.0.1:${receiver.port}`, connection: 'close', 'content-type': 'application/json',
    'content-length': '10', 'user-agent': 'seller-product-api', 'webhook-id': 'msg_1',
  });
});

for (const [status, outcome] of [
  [200, 'delivered'], [202, 'delivered'], [299, 'delivered'], [300, 'responded with 300'],
  [301, 'responded with 301'], [307, 'responded with 307'], [400, 'responded with 400'],
  [410, 'responded with 410'], [500, 'responded with 500'], [503, 'responded with 503'],
] as const) {
  test(`reports status ${status} as "${outcome}", and follows no redirect`, async (t) => {
    const receiver = await startReceiver(t);
    receiver.answer = answerWith(status, { location: receiver.url });
    const result = await send(receiver.url);
    assert.deepEqual([result?.status, result?.outcome], [status, outcome]);
    assert.equal(receiver.received.length, 1);
  });
}

test('stops reading a response at its size limit', async (t) => {
  let sentBytes = 0;
  const endless: Answering = (response) => {
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384))) sentBytes += 16_384;
    };
    response.on('drain', write).on('error', () => {});
    write();
  };
  const receiver = await startReceiver(t, endless);
  const result = await send(receiver.url, { timeoutMs: 60_000 });
  assert.equal(result?.outcome, 'delivered');
  assert.ok(sentBytes < 32 * 1024 * 1024, String(sentBytes));
});

test('times out without a response, and accepts one that never ends', async (t) => {
  const timers = holdTimers(t);
  const receiver = await startReceiver(t, () => {});
  const sending = send(receiver.url, { timeoutMs: HELD_MS });
  await receiver.until(({ length }) => length === 1);
  timers.run();
  const late = await sending;
  assert.deepEqual([late?.status, late?.outcome], [undefined, 'timed out after 1234567 s']);
  receiver.answer = (response) => {
    response.writeHead(200);
    response.write('a');
  };
  const onResponse = (): void => void setImmediate(() => timers.run());
  subscribe(RESPONSE_CHANNEL, onResponse);
  t.after(() => unsubscribe(RESPONSE_CHANNEL, onResponse));
  assert.equal((await send(receiver.url, { timeoutMs: HELD_MS }))?.outcome, 'delivered');
});

test('times out when a DNS lookup never ends', async () => {
  const lookup: Lookup = () => new Promise(() => {});
  const result = await send('http://shop.example/', { lookup, timeoutMs: 50 });
  assert.equal(result?.outcome, 'timed out after 0.05 s');
});

test('returns no result of an aborted attempt', async (t) => {
  const receiver = await startReceiver(t, () => {});
  const stop = new AbortController();
  const sent = send(receiver.url, { stop: stop.signal });
  await receiver.until(({ length }) => length === 1);
  stop.abort();
  assert.equal(await sent, undefined);
  assert.equal(await send(receiver.url, { stop: stop.signal }), undefined);
});

test('describes each failure without addresses or host names', async (t) => {
  const closed = createServer();
  const closedPort = await listen(t, closed);
  closed.close();
  await once(closed, 'close');
  const fail = (code: string): Lookup => async (name) => {
    throw Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code });
  };
  for (const [url, lookup, outcome] of [
    [`http://127.0.0.1:${closedPort}/`, undefined, 'connection refused'],
    [`http://127.0.0.1:${await listenRaw(t, '')}/`, undefined, 'connection reset'],
    [`http://127.0.0.1:${await listenRaw(t, 'SSH-2.0\r\n')}/`, undefined,
      'the response is not HTTP'],
    [`http://127.0.0.1:${await listenRaw(t, 'HTTP/1.1 099 X\r\n\r\n')}/`, undefined,
      'the response is not HTTP'],
    [`https://127.0.0.1:${await listenRaw(t, 'no TLS')}/`, undefined, 'TLS failed'],
    ['https://shop.example/', fail('ENOTFOUND'), 'host name not found'],
    ['https://shop.example/', fail('EAI_AGAIN'), 'DNS lookup failed temporarily'],
    ['https://shop.example/', async () => [], 'not sent: its host name has no address'],
  ] as const) {
    const result = await send(url, lookup ? { lookup } : {});
    assert.deepEqual([result?.status, result?.outcome], [undefined, outcome], url);
    const isSent = outcome === 'connection reset' || outcome === 'the response is not HTTP';
    assert.equal(result?.exchange !== undefined, isSent, outcome);
    assert.equal(result?.exchange?.response, undefined);
  }
});

test('connects to the checked address, even if the name resolves differently later', async (t) => {
  const receiver = await startReceiver(t);
  const answers = [[{ address: '127.0.0.1', family: 4 }], [{ address: '192.0.2.1', family: 4 }]];
  let asked = 0;
  const lookup: Lookup = async () => answers[asked++] ?? [];
  const result = await send(`http://rebind.example:${receiver.port}/`, { lookup });
  assert.equal(result?.outcome, 'delivered');
  assert.equal(asked, 1);
  assert.equal(receiver.received[0]?.headers.host, `rebind.example:${receiver.port}`);
});

test('resolves a name again for each attempt', async (t) => {
  const receiver = await startReceiver(t);
  const strict = { allowPrivate: false, allowHttp: true };
  const lookup: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  const result = await send('http://rebind.example/', { lookup, policy: strict });
  assert.match(result?.outcome ?? '', /^not sent: .*address is not public$/);
  assert.equal(result?.exchange, undefined);
  assert.deepEqual(receiver.received, []);
});

test("uses the endpoint's name for TLS, and verifies its certificate", async (t) => {
  const names: unknown[] = [];
  const server = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) => {
    names.push((request.socket as { servername?: unknown }).servername, request.headers.host);
    response.end();
  });
  const port = await listen(t, server);
  const lookup: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  const outcomeOf = async (name: string) =>
    (await send(`https://${name}:${port}/`, { lookup }))?.outcome;
  assert.equal(await outcomeOf('shop.example'), 'certificate self-signed');
  const before = getCACertificates('default');
  t.after(() => setDefaultCACertificates(before));
  setDefaultCACertificates([CERTIFICATE]);
  assert.equal(await outcomeOf('shop.example'), 'delivered');
  assert.deepEqual(names, ['shop.example', `shop.example:${port}`]);
  assert.equal(await outcomeOf('other.example'), 'certificate issued for another name');
  assert.equal(await outcomeOf('127.0.0.1'), 'certificate issued for another name');
});

for (const [code, outcome] of [
  ['ECONNREFUSED', 'connection refused'],
  ['ETIMEDOUT', 'connection timed out'],
  ['HPE_INVALID_CONSTANT', 'the response is not HTTP'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS failed'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'TLS failed'],
  ['CERT_HAS_EXPIRED', 'certificate expired'],
  ['CERT_REVOKED', 'certificate: cert revoked'],
  ['UNABLE_TO_GET_CRL', 'failed with UNABLE_TO_GET_CRL'],
  [undefined, 'the connection was closed without a response'],
] as const) {
  test(`describes ${code ?? 'an error without a code'} as "${outcome}"`, () => {
    const error = Object.assign(new Error('connect 10.1.2.3:443 intranet.example'), { code });
    assert.equal(describeFailure(error), outcome);
  });
}

test('describes thrown values that are not errors', () => {
  assert.equal(describeFailure('10.1.2.3'), 'the connection was closed without a response');
});
