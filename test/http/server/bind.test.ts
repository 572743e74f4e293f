/** Listening on Unix sockets in a temporary folder. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync, readdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { readPeerAddress } from '../../../src/http/request/client-address.ts';
import { listen, type Listener } from '../../../src/http/server/listener.ts';
import { makeFolder } from '../../support/folder.ts';

async function start(t: TestContext, socketPath: string, word = 'done'): Promise<Listener> {
  const listener = await listen((_, response) => response.end(word), { socketPath });
  t.after(() => listener.stop());
  return listener;
}

async function ask(socketPath: string): Promise<string> {
  const [response] = await once(request({ socketPath, agent: false }).end(), 'response');
  return text(response);
}

test('listens only for its own user and group, and removes the socket', async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'api.sock');
  const { host, port, stop } = await start(t, path);
  assert.deepEqual([host, port], ['', 0]);
  assert.deepEqual(readdirSync(folder), ['api.sock']);
  assert.equal(lstatSync(path).mode & 0o777, 0o660);
  assert.equal(await ask(path), 'done');
  await stop();
  assert.deepEqual(readdirSync(folder), []);
});

test('logs no client address', async (t) => {
  const path = join(makeFolder(t), 'api.sock');
  const handle: Parameters<typeof listen>[0] = (incoming, response) => {
    response.end(`[${readPeerAddress(incoming)}]`);
  };
  const listener = await listen(handle, { socketPath: path });
  t.after(() => listener.stop());
  assert.equal(await ask(path), '[]');
});

test('replaces the socket of a server that was killed', async (t) => {
  const path = join(makeFolder(t), 'api.sock');
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () =>
    process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script]), 'close');
  assert.ok(lstatSync(path).isSocket());
  await start(t, path);
  assert.equal(await ask(path), 'done');
});

test('does not replace a socket on which another server listens', async (t) => {
  const path = join(makeFolder(t), 'api.sock');
  await start(t, path, 'first');
  const message = `Another server listens on ${path}.`;
  await assert.rejects(start(t, path, 'second'), { code: 'EADDRINUSE', message });
  assert.equal(await ask(path), 'first');
});

test('never replaces a file that is not a socket', async (t) => {
  const folder = makeFolder(t);
  const [file, link] = [join(folder, 'file'), join(folder, 'link')];
  writeFileSync(file, 'precious');
  symlinkSync(file, link);
  for (const path of [file, link, folder]) {
    const refusal = { code: 'EEXIST', message: `${path} exists and is not a socket.` };
    await assert.rejects(start(t, path), refusal);
  }
  assert.equal(readFileSync(link, 'utf8'), 'precious');
});

test('does not remove a file that has replaced its socket when it stops', async (t) => {
  const path = join(makeFolder(t), 'api.sock');
  const first = await start(t, path, 'first');
  unlinkSync(path);
  await start(t, path, 'second');
  await first.stop();
  assert.equal(await ask(path), 'second');

  const other = join(makeFolder(t), 'api.sock');
  const third = await start(t, other);
  unlinkSync(other);
  writeFileSync(other, 'precious');
  await third.stop();
  assert.equal(readFileSync(other, 'utf8'), 'precious');
});

test('reports a missing folder, and a path that is too long', async (t) => {
  const folder = makeFolder(t);
  const none = start(t, join(folder, 'none', 'api.sock'));
  await assert.rejects(none, { code: 'EACCES', message: /: its folder must exist / });
  const long = start(t, join(folder, 'a'.repeat(100)));
  await assert.rejects(long, { code: 'ENAMETOOLONG', message: /is too long for a socket/ });
});
