/** `serve` on a Unix socket, and on sockets that its parent process opened, as systemd does. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeCertificate } from '../../support/certificate.ts';
import {
  program, run, runProcess, type Serving, startServing, watchServing,
} from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { createKey, createSeller } from '../setup.ts';

const PATH = '/api/v1/products';
const BASE_URL = 'https://shop.example';
/** systemd passes the process id, which only the process itself knows. */
const ACTIVATE = ['-c', 'LISTEN_PID=$$ exec "$0" "$@"', ...program('serve', '--json').flat()];

async function ask(socketPath: string, headers = {}): Promise<number | undefined> {
  const outgoing = request({ socketPath, path: PATH, headers, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  return response.statusCode;
}

test('serves on a Unix socket, and removes it when it stops', async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'api.sock');
  await createSeller(folder);
  const { key } = await createKey(folder);
  const flags = ['--data', folder, '--socket', path, '--base-url', BASE_URL];
  const serving = await startServing(t, flags);
  assert.equal(serving.url, BASE_URL);
  assert.equal(await ask(path), 401);
  assert.equal(await ask(path, { 'x-api-key': key }), 200);
  const second = await runProcess(['serve', ...flags]);
  assert.deepEqual([second.status, second.notes], [1, `Another server listens on ${path}.\n`]);
  assert.equal(await ask(path), 401);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.doesNotMatch(serving.notes(), /encrypted/);
  assert.equal(existsSync(path), false);
});

test('rejects keys with an address allowlist on a Unix socket', async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'api.sock');
  await createSeller(folder);
  const { key } = await createKey(folder, ['--allow', '127.0.0.1,::/0']);
  await startServing(t, ['--data', folder, '--socket', path, '--base-url', BASE_URL]);
  assert.equal(await ask(path, { 'x-api-key': key }), 401);
});

test('replaces the Unix socket of a killed server', async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'api.sock');
  const flags = ['--data', folder, '--socket', path, '--base-url', BASE_URL];
  const killed = await startServing(t, flags);
  await killed.stop('SIGKILL');
  assert.equal(existsSync(path), true);
  await startServing(t, flags);
  assert.equal(await ask(path), 401);
});

interface ListeningSocket {
  readonly port: number;
  readonly descriptor: number;
  readonly server: Server;
}

async function openSocket(): Promise<ListeningSocket> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this type, and a handle with a descriptor.
  const { port } = server.address() as AddressInfo;
  const { fd } = (server as unknown as { readonly _handle: { readonly fd: number } })._handle;
  return { port, descriptor: fd, server };
}

/** Starts `serve` with these sockets as file descriptors from 3 on. */
async function activate(
  t: TestContext, sockets: readonly ListeningSocket[], names: string, flags: readonly string[],
): Promise<Serving> {
  const child = spawn('sh', [...ACTIVATE, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe', ...sockets.map(({ descriptor }) => descriptor)],
    env: { ...process.env, LISTEN_FDS: String(sockets.length), LISTEN_FDNAMES: names },
  });
  for (const { server } of sockets) server.close(); // the child has inherited them
  return watchServing(t, child);
}

test('serves on systemd sockets, and redirects from the one named "redirect"', async (t) => {
  const folder = makeFolder(t);
  const { cert, key } = makeCertificate();
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  const [plain, secure] = await Promise.all([openSocket(), openSocket()]);
  const serving = await activate(t, [plain, secure], 'redirect:api', [
    '--data', join(folder, 'data'), '--base-url', BASE_URL,
    '--tls-cert', files.cert, '--tls-key', files.key,
  ]);
  assert.equal(serving.url, BASE_URL);
  const options = { port: secure.port, host: '127.0.0.1', path: PATH, ca: cert, agent: false };
  const [{ statusCode }] = await once(requestTls(options).end(), 'response');
  assert.equal(statusCode, 401);
  const { status, headers } = await send(plain.port, { path: '/portal' });
  assert.deepEqual([status, headers.location], [308, `${BASE_URL}/portal`]);
  assert.equal(await serving.stop('SIGTERM'), 0);
});

test('ignores sockets that were passed to another process', async (t) => {
  const environment = { LISTEN_PID: '1', LISTEN_FDS: '1' };
  const serving = await startServing(t, ['--data', makeFolder(t)], environment);
  assert.equal((await send(serving.port, { path: PATH })).status, 401);
});

test('fails with one line if an inherited descriptor is not a listening socket', async (t) => {
  const folder = makeFolder(t);
  const file = openSync(import.meta.filename, 'r');
  const child = spawn('sh', [...ACTIVATE, '--data', folder, '--base-url', BASE_URL], {
    stdio: ['ignore', 'pipe', 'pipe', file], env: { ...process.env, LISTEN_FDS: '1' },
  });
  let notes = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  const [status] = await once(child, 'close');
  assert.deepEqual([status, notes], [1, 'Descriptor 3 is not a socket on which one can listen.\n']);
});

test('restarts on its socket without a failed request', { timeout: 60_000 }, async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { key } = await createKey(folder);
  const socket = await openSocket();
  // As systemd does: it keeps the socket, and starts the server again.
  const script = 'while sh "$@"; do :; done';
  const flags = ['--data', folder, '--base-url', BASE_URL, '--rate-limit', '0'];
  const child = spawn('sh', ['-c', script, 'sh', ...ACTIVATE, ...flags], {
    stdio: ['ignore', 'pipe', 'ignore', socket.descriptor], detached: true,
    env: { ...process.env, LISTEN_FDS: '1' },
  });
  t.after(() => { process.kill(-(child.pid ?? NaN), 'SIGKILL'); });
  socket.server.close();
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  const readId = async (): Promise<number> => JSON.parse((await lines.next()).value ?? '').pid;
  let id = await readId();
  const statuses = new Set<unknown>();
  let isDone = false;
  const work = async (agent: Agent | false): Promise<void> => {
    while (!isDone) {
      const headers = { 'x-api-key': key };
      const outgoing = request({ port: socket.port, path: PATH, headers, agent }).end();
      try {
        const [response] = await once(outgoing, 'response');
        response.resume();
        if (agent) await once(response, 'close');
        statuses.add(response.statusCode);
      } catch (error) {
        // Its idle connection was closed at that moment: clients repeat it (RFC 9112, 9.3.1).
        if (!outgoing.reusedSocket) statuses.add(error);
      }
    }
  };
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const working = [...Array.from({ length: 4 }, () => work(false)), work(agent)];
  for (let restart = 0; restart < 2; restart += 1) {
    process.kill(id, 'SIGTERM');
    id = await readId();
  }
  isDone = true;
  await Promise.all(working);
  assert.deepEqual(statuses, new Set([200]));
});

test('notifies systemd when it is ready and when it stops, with systemd-notify', async (t) => {
  const folder = makeFolder(t);
  const sent = join(folder, 'sent');
  const notifier = join(folder, 'systemd-notify');
  writeFileSync(notifier, `#!/bin/sh\necho "$@" >>${sent}\n`, { mode: 0o755 });
  const environment = { NOTIFY_SOCKET: '/a/socket', PATH: `${folder}:${process.env['PATH']}` };
  const data = ['--data', join(folder, 'data')];
  const serving = await startServing(t, data, environment);
  while (!existsSync(sent)) await wait(5, undefined, t);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.equal(readFileSync(sent, 'utf8'), 'READY=1\nSTOPPING=1\n');
  writeFileSync(notifier, '#!/bin/sh\nexit 1\n');
  const unheard = await startServing(t, data, environment);
  await unheard.waitForNote(/^systemd was not notified \(READY=1\): Command failed/m);
  assert.equal(await unheard.stop('SIGTERM'), 0);
});

const invalidArguments: readonly [says: RegExp, flags: readonly string[]][] = [
  [/^Without a port of its own, the server needs --base-url/, ['--socket', 'a.sock']],
  [/^--port cannot be combined with --socket\./,
    ['--socket', 'a.sock', '--base-url', BASE_URL, '--port', '1']],
  [/^--tls-cert cannot be combined with --socket\./,
    ['--socket', 'a.sock', '--base-url', BASE_URL, '--tls-cert', 'a', '--tls-key', 'b']],
];

for (const [says, flags] of invalidArguments) {
  test(`rejects ${flags.join(' ')} with exit status 2`, async (t) => {
    const { status, notes } = await run(['serve', '--data', makeFolder(t), ...flags]);
    assert.match(notes, says);
    assert.equal(status, 2);
  });
}

for (const [count, flags, says] of [
  ['x', [], /^LISTEN_FDS must be a whole number up to 8\./],
  ['9', [], /^LISTEN_FDS must be a whole number up to 8\./],
  ['1', ['--port', '0'], /^--port cannot be combined with systemd sockets\./],
  ['1', [], /^Without a port of its own, the server needs --base-url/],
] as const) {
  test(`rejects LISTEN_FDS=${count} ${flags.join(' ')} with exit status 2`, async (t) => {
    const child = spawn('sh', [...ACTIVATE, '--data', makeFolder(t), ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, LISTEN_FDS: count },
    });
    let notes = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => { notes += text; });
    const [status] = await once(child, 'close');
    assert.match(notes, says);
    assert.equal(status, 2);
  });
}
