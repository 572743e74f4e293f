/** `serve`: its output, its settings, and the values that it rejects. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { program, run, runProcess, startServing } from '../../support/command.ts';
import { open, readUntil } from '../../http/raw.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { findFreePort } from '../../support/listening.ts';
import { createKey, createSeller } from '../setup.ts';

const PATH = '/api/v1/products';
const hasIpv6 = Object.values(networkInterfaces()).flat().some((one) => one?.address === '::1');

test('prints its address and process id as one JSON document, and serves there', async (t) => {
  const serving = await startServing(t, ['--data', join(makeFolder(t), 'data')]);
  assert.equal(serving.url, `http://127.0.0.1:${serving.port}`);
  const answer = await fetch(serving.url + PATH);
  assert.equal(answer.status, 401);
});

test('prints its address to stdout, and that it has stopped to stderr', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const child = spawn(...program('serve', '--port', '0', '--data', folder));
  t.after(() => { child.kill('SIGKILL'); });
  let [out, notes] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  while (!out.includes('\n')) await once(child.stdout, 'data');
  const [, url] = /^Listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(out) ?? [];
  assert.equal((await fetch(url + PATH)).status, 401);
  child.kill('SIGTERM');
  const [status] = await once(child, 'close');
  assert.equal(status, 0);
  assert.equal(notes, 'Stopping: finishing requests in flight.\nStopped.\n');
});

test('warns if other machines can connect without TLS', async (t) => {
  const serving = await startServing(t, ['--data', makeFolder(t), '--host', '0.0.0.0']);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.match(serving.notes(), /not encrypted.*TLS/);
});

test('listens on an IPv6 address', { skip: hasIpv6 ? false : 'no ::1 here' }, async (t) => {
  const serving = await startServing(t, ['--data', makeFolder(t), '--host', '::1']);
  assert.equal(serving.url, `http://[::1]:${serving.port}`);
  assert.equal((await fetch(serving.url + PATH)).status, 401);
});

test('serves below the path of --base-url, and nowhere else', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { key } = await createKey(folder);
  const port = await findFreePort();
  const baseUrl = `http://127.0.0.1:${port}/shop/one`;
  const flags = ['--data', folder, '--port', String(port), '--base-url', `${baseUrl}/`];
  const serving = await startServing(t, flags);
  assert.equal(serving.url, baseUrl);
  const body = JSON.stringify({ name: 'A', category: 'B', sku: 'C', price: 1, stock: 1 });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const path = `/shop/one${PATH}`;
  const created = await send(port, { method: 'POST', path, headers, body });
  assert.equal(created.status, 201);
  const { location } = created.headers;
  assert.match(location ?? '', /^\/shop\/one\/api\/v1\/products\/prd_/);
  assert.equal((await send(port, { path: location ?? '', headers })).status, 200);
  assert.equal((await send(port, { path: PATH, headers })).status, 404);
});

test('reads its settings from SELLER_API_ variables', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { key } = await createKey(folder);
  const serving = await startServing(t, [], {
    SELLER_API_DATA: folder, SELLER_API_PORT: '1', SELLER_API_HOST: '127.0.0.1',
    SELLER_API_RATE_LIMIT: '2', SELLER_API_ALLOW_BROWSERS: 'true',
  });
  // The flag `--port 0`, with which every test server starts, takes precedence over the variable.
  assert.ok(serving.port > 1);
  const headers = { 'x-api-key': key, origin: 'https://page.example' };
  const statuses: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    statuses.push((await send(serving.port, { path: PATH, headers })).status);
  }
  assert.deepEqual(statuses, [200, 200, 429]);
});

test('limits sellers by --seller-rate-limit', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { key } = await createKey(folder);
  const flags = ['--data', folder, '--rate-limit', '0', '--seller-rate-limit', '2'];
  const { port } = await startServing(t, flags);
  const statuses: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    statuses.push((await send(port, { path: PATH, headers: { 'x-api-key': key } })).status);
  }
  assert.deepEqual(statuses, [200, 200, 429]);
});

test('gives flags precedence over variables, and rejects browsers by default', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { key } = await createKey(folder);
  const flags = ['--data', folder, '--rate-limit', '0', '--host', '127.0.0.1'];
  const serving = await startServing(t, flags, {
    SELLER_API_DATA: join(folder, 'elsewhere'), SELLER_API_RATE_LIMIT: '1',
    SELLER_API_HOST: '192.0.2.1',
  });
  const headers = { 'x-api-key': key };
  for (let n = 0; n < 3; n += 1) {
    assert.equal((await send(serving.port, { path: PATH, headers })).status, 200);
  }
  const browser = { ...headers, origin: 'https://page.example' };
  assert.equal((await send(serving.port, { path: PATH, headers: browser })).status, 403);
});

test('fails with one clear line if the port is taken', async (t) => {
  const port = await occupyPort(t);
  const folder = makeFolder(t);
  const { status, out, notes } = await runProcess([
    'serve', '--port', String(port), '--data', folder,
  ]);
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, new RegExp(`^Port ${port} is taken\\. Choose another with --port\\.\\n$`));
});

test('trusts the proxies of --trusted-proxies, and none without it', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { key } = await createKey(folder, ['--allow', '192.0.2.0/24']);
  const headers = { 'x-api-key': key, 'x-forwarded-for': '192.0.2.1' };
  for (const [flags, status] of [
    [['--trusted-proxies', '10.0.0.0/8, 127.0.0.1'], 200], [[], 401],
  ] as const) {
    const { port, stop } = await startServing(t, ['--data', folder, ...flags]);
    assert.equal((await send(port, { path: PATH, headers })).status, status);
    await stop('SIGTERM');
  }
});

test('keeps idle connections for the time of --keep-alive', async (t) => {
  const { port } = await startServing(t, ['--data', makeFolder(t), '--keep-alive', '20m']);
  const socket = await open(t, port);
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(await readUntil(socket, '\r\n\r\n'), /\r\nKeep-Alive: timeout=1200(?:,|\r)/);
});

const invalidArguments: readonly [flag: string, value: string][] = [
  ['port', '65536'], ['port', '80.5'], ['port', 'http'], ['port', ''],
  ['trusted-proxies', 'proxy.example'], ['trusted-proxies', '10.0.0.0/33'],
  ['keep-alive', '0s'], ['keep-alive', '61m'], ['keep-alive', '75'],
  ['rate-limit', '-1'], ['rate-limit', 'fast'], ['rate-limit', '10000001'],
  ['base-url', 'shop.example'], ['base-url', 'ftp://shop.example'],
  ['base-url', 'https://shop.example/?a=b'], ['base-url', 'https://shop.example/#a'],
  ['base-url', 'https://me:secret@shop.example'],
];

for (const [flag, value] of invalidArguments) {
  test(`rejects --${flag}=${value} with exit status 2, and creates no database`, async (t) => {
    const folder = join(makeFolder(t), 'data');
    const { status, out, notes } = await run(['serve', `--${flag}=${value}`, '--data', folder]);
    assert.match(notes, new RegExp(`^--${flag} (?:takes|needs) [^\\n]+\\n$`));
    assert.deepEqual([status, out], [2, '']);
    assert.equal(existsSync(folder), false);
  });
}

const variables: readonly [name: string, value: string, says: RegExp][] = [
  ['PORT', 'http', /^--port takes .*"http"/],
  ['RATE_LIMIT', 'fast', /^--rate-limit takes .*"fast"/],
  ['SELLER_RATE_LIMIT', 'fast', /^--seller-rate-limit takes .*"fast"/],
  ['BASE_URL', 'shop.example', /^--base-url takes an address/],
  ['ALLOW_BROWSERS', 'maybe', /^--allow-browsers is true or false, not "maybe"/],
];

for (const [name, value, says] of variables) {
  test(`rejects SELLER_API_${name}=${value} with exit status 2`, async (t) => {
    const environment = { [`SELLER_API_${name}`]: value };
    const { status, out, notes } = await run(['serve', '--data', makeFolder(t)], environment);
    assert.match(notes, says);
    assert.deepEqual([status, out], [2, '']);
  });
}

async function occupyPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); });
  // A server that listens on a port has an address of this type.
  return (server.address() as AddressInfo).port;
}
