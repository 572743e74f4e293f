/** The metrics of a real server: who may read them, and what they count. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { FAILED_KEYS_PER_ADDRESS_PER_MINUTE } from '../../../src/api/limits.ts';
import { METRICS_TOKEN_MIN_CHARACTERS } from '../../../src/features/telemetry/limits.ts';
import { routes } from '../../support/routes.ts';
import { run, runProcess, type Serving, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { type Answer, send } from '../../support/http.ts';
import { parseMetrics, type Series } from '../../features/telemetry/prometheus-text.ts';
import { createKey, createSeller } from '../setup.ts';

const PRODUCTS = '/api/v1/products';
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

async function findMetricsPort(serving: Serving): Promise<number> {
  const line = /^Metrics on http:\/\/127\.0\.0\.1:(\d+)\/metrics$/m;
  const [, port] = await serving.waitForNote(line);
  return Number(port);
}

function makeToken(t: TestContext, token = randomBytes(32).toString('hex')) {
  const file = join(makeFolder(t), 'token');
  writeFileSync(file, `${token}\n`);
  return { file, token };
}

/** Parses a metrics response, and returns a function that finds the values of a series. */
function readSeries(answer: Answer): (name: string, labels?: Series['labels']) => number[] {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], TYPE);
  const all = [...parseMetrics(answer.text).values()].flatMap(({ series }) => series);
  return (name, labels = {}) => all.filter((one) => one.name === name
    && Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .map(({ value }) => value);
}

describe('the metrics of a server', { concurrency: 3 }, () => {
  test('are served on a separate port, in the Prometheus format', async (t) => {
    const folder = makeFolder(t);
    const seller = await createSeller(folder);
    const { id, key } = await createKey(folder);
    const serving = await startServing(t, ['--data', folder, '--metrics-port', '0']);
    const port = await findMetricsPort(serving);
    const headers = { 'x-api-key': key };
    for (const { method, path } of routes) {
      const name = path.replaceAll(/\{\w+\}/g, 'canary');
      await send(serving.port, { method, path: `${name}?canary=canary`, headers });
    }
    await send(serving.port, { path: '/canary' });
    const body = JSON.stringify({ name: 'A', category: 'B', sku: 'C', price: 1, stock: 1 });
    const made = await send(serving.port, {
      method: 'POST', path: PRODUCTS, body,
      headers: { ...headers, 'content-type': 'application/json' },
    });
    assert.equal(made.status, 201);
    await sendRaw(serving.port, 'canary\r\n\r\n');
    const answer = await send(port, { path: '/metrics' });
    const find = readSeries(answer);
    for (const { method, path } of routes) {
      const [count = 0] = find('http_requests_total', { method, route: path, status: '400' });
      assert.ok(count >= 1, `${method} ${path}`);
      assert.ok((find('http_request_duration_seconds_count', { route: path })[0] ?? 0) >= 1);
    }
    assert.deepEqual(find('http_requests_total', { route: 'unknown', status: '404' }), [1]);
    assert.deepEqual(
      find('http_requests_total', { method: 'POST', route: PRODUCTS, status: '201' }), [1],
    );
    assert.deepEqual(find('http_unreadable_requests_total'), [1]);
    assert.deepEqual(find('http_requests_in_flight'), [0]);
    assert.ok((find('http_response_body_bytes_total', { route: PRODUCTS })[0] ?? 0) > 0);
    for (const name of [
      'http_received_bytes_total', 'http_sent_bytes_total', 'store_commit_duration_seconds_count',
      'store_commit_duration_seconds_sum', 'store_wal_bytes', 'store_disk_free_bytes',
      'process_resident_memory_bytes', 'process_cpu_seconds_total', 'process_start_time_seconds',
      'event_loop_delay_seconds_count', 'build_info', 'store_disk_free_inodes', 'process_max_fds',
    ]) assert.ok((find(name)[0] ?? 0) > 0, name);
    for (const name of [
      'store_last_commit_failed', 'store_commits_failed_total', 'log_lines_dropped_total',
    ]) assert.deepEqual(find(name), [0], name);
    const hasWebhooks = routes.some(({ path }) => path.endsWith('webhooks'));
    for (const name of ['webhook_deliveries_in_flight', 'webhook_leases']) {
      assert.deepEqual(find(name), hasWebhooks ? [0] : [], name);
    }
    assert.equal(find('store_changes_waiting').length, 1); // key counts are written concurrently
    for (const secret of ['canary', seller, id, key]) assert.ok(!answer.text.includes(secret));
    assert.equal(await serving.stop('SIGTERM'), 0);
  });

  test('are served on that port only on loopback, and under no other host name', async (t) => {
    const serving = await startServing(t, ['--data', makeFolder(t), '--metrics-port', '0']);
    const port = await findMetricsPort(serving);
    assert.equal((await send(serving.port, { path: '/metrics' })).status, 404);
    assert.equal((await send(port, { path: PRODUCTS })).status, 404);
    const other = { host: `rebound.example:${port}` };
    assert.equal((await send(port, { path: '/metrics', headers: other })).status, 404);
    const head = await send(port, { method: 'HEAD', path: '/metrics?a=b' });
    assert.deepEqual([head.status, head.text], [200, '']);
    const posted = await send(port, { method: 'POST', path: '/metrics' });
    assert.deepEqual([posted.status, posted.headers['allow']], [405, 'GET, HEAD']);
  });

  test('are served on the port of the API only to clients with the token', async (t) => {
    const { file, token } = makeToken(t);
    const flags = ['--data', makeFolder(t), '--metrics-token-file', file, '--log', 'debug'];
    const serving = await startServing(t, flags);
    const ask = (authorization?: string): Promise<Answer> => send(serving.port, {
      path: '/metrics', headers: authorization === undefined ? {} : { authorization },
    });
    const none = await ask();
    assert.deepEqual([none.status, none.headers['www-authenticate']],
      [401, 'Bearer realm="metrics"']);
    for (const wrong of [`Bearer ${token.slice(1)}`, `Bearer ${token}0`, `Basic ${token}`, token,
      'Bearer', `Bearer ${token} ${token}`, `bearer ${token.toUpperCase()}x`]) {
      const refused = await ask(wrong);
      assert.equal(refused.status, 401, wrong);
      assert.match(refused.headers['www-authenticate'] ?? '', /error="invalid_token"$/);
      assert.doesNotMatch(refused.text, /http_|process_/);
    }
    const find = readSeries(await ask(`bearer ${token}`));
    assert.deepEqual(find('http_requests_total', { route: '/metrics', status: '401' }), [8]);
    assert.deepEqual(find('http_requests_in_flight'), [1]);
    const posted = await send(serving.port, {
      method: 'POST', path: '/metrics', headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(posted.status, 405);
    assert.equal(await serving.stop('SIGTERM'), 0);
    assert.ok(!serving.notes().includes(token));
  });

  test('are not served to web pages, on their own port or with the token', async (t) => {
    const { file, token } = makeToken(t);
    const serving = await startServing(t, [
      '--data', makeFolder(t), '--metrics-token-file', file, '--metrics-port', '0',
    ]);
    const authorization = `Bearer ${token}`;
    for (const port of [await findMetricsPort(serving), serving.port]) {
      const ask = (sender: Record<string, string>) =>
        send(port, { path: '/metrics', headers: { authorization, ...sender } });
      for (const sender of [
        { origin: 'https://shop.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'same-origin' },
      ]) {
        const { status, headers, json, text } = await ask(sender);
        assert.deepEqual([status, headers['content-type']], [403, 'application/problem+json']);
        assert.match(json().type, /:web-page-rejected$/);
        assert.equal(headers['access-control-allow-origin'], undefined);
        assert.doesNotMatch(text, /process_/);
      }
      for (const sender of [{}, { 'sec-fetch-site': 'none' }]) readSeries(await ask(sender));
    }
    assert.equal(await serving.stop('SIGTERM'), 0);
  });

  test('count requests over a rate limit by whose limit it was', async (t) => {
    const folder = makeFolder(t);
    await createSeller(folder);
    const { key } = await createKey(folder);
    const serving = await startServing(t, [
      '--data', folder, '--metrics-port', '0', '--rate-limit', '1',
    ]);
    const port = await findMetricsPort(serving);
    const ask = (text: string): Promise<Answer> =>
      send(serving.port, { path: PRODUCTS, headers: { 'x-api-key': text } });
    assert.deepEqual([(await ask(key)).status, (await ask(key)).status], [200, 429]);
    const wrong = `spk_${'0'.repeat(36)}`;
    let rejected = 0;
    for (const _ of Array(FAILED_KEYS_PER_ADDRESS_PER_MINUTE + 5)) {
      if ((await ask(wrong)).status === 429) rejected += 1;
    }
    assert.ok(rejected > 0);
    const find = readSeries(await send(port, { path: '/metrics' }));
    const counts = ['key', 'address', 'portal'].map((limit) =>
      find('http_requests_limited_total', { limit }));
    assert.deepEqual(counts, [[1], [rejected], [0]]);
  });

  test('count open streams', async (t) => {
    const folder = makeFolder(t);
    await createSeller(folder);
    const { key } = await createKey(folder);
    const serving = await startServing(t, ['--data', folder, '--metrics-port', '0']);
    const port = await findMetricsPort(serving);
    const path = '/api/v1/changes?after=0&wait=30';
    const count = async (): Promise<number[]> =>
      readSeries(await send(port, { path: '/metrics' }))('http_streams');
    assert.deepEqual(await count(), [0]);
    const waiting = request({
      port: serving.port, host: '127.0.0.1', path, headers: { 'x-api-key': key },
    }).on('error', () => {}).end();
    while ((await count())[0] === 0) await wait(10);
    assert.deepEqual(await count(), [1]);
    waiting.destroy();
    while ((await count())[0] !== 0) await wait(10);
  });

  test('take a token of the shortest length', async (t) => {
    const { file, token } = makeToken(t, 'x'.repeat(METRICS_TOKEN_MIN_CHARACTERS));
    const flags = ['--data', makeFolder(t), '--metrics-token-file', file];
    const serving = await startServing(t, flags);
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await send(serving.port, { path: '/metrics', headers })).status, 200);
    assert.equal(await serving.stop('SIGTERM'), 0);
  });

  test('are not served by default', async (t) => {
    const serving = await startServing(t, ['--data', makeFolder(t)]);
    assert.equal((await send(serving.port, { path: '/metrics' })).status, 404);
    assert.equal(await serving.stop('SIGTERM'), 0);
    assert.doesNotMatch(serving.notes(), /Metrics/);
  });

  test('prevent the start with a weak or missing token, or on a port that is taken', async (t) => {
    const weak = makeToken(t, 'short'.padEnd(METRICS_TOKEN_MIN_CHARACTERS - 1, 'x')).file;
    const odd = makeToken(t, `${'x'.repeat(30)} y`).file;
    const data = ['serve', '--port', '0', '--data', makeFolder(t)];
    for (const [flags, status, says] of [
      [['--metrics-token-file', weak], 2, /^The file of --metrics-token-file must contain/],
      [['--metrics-token-file', odd], 2, /^The file of --metrics-token-file must contain/],
      [['--metrics-token-file', `${weak}x`], 1, /^There is no file .*x\.\n$/],
      [['--metrics-port', 'x'], 2, /^--metrics-port takes a whole number/],
    ] as const) {
      const result = await run([...data, ...flags]);
      assert.match(result.notes, says);
      assert.ok(!result.notes.includes('short') && !result.notes.includes('xxx'));
      assert.deepEqual([result.status, result.out], [status, '']);
    }
    const serving = await startServing(t, ['--data', makeFolder(t)]);
    const taken = await runProcess([...data, '--metrics-port', String(serving.port)]);
    assert.match(taken.notes, /is taken\. Choose another with --metrics-port\.\n$/);
    assert.equal(taken.status, 1);
  });
});

/** Sends raw text over a connection, and waits until it is closed. */
async function sendRaw(port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  await once(socket.resume(), 'close');
}
