/** Connection metrics: counters that only grow, and count connections without a valid request. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { listen } from '../../../src/http/server/listener.ts';
import { exchange, open, readUntil } from '../raw.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

test('counts connections, and the bytes of open and closed ones', async (t) => {
  let closed = Promise.withResolvers<unknown>();
  const listener = await listen((request, response) => {
    closed.resolve(once(request.socket, 'close'));
    response.end('done');
  }, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  const { port, readMetrics } = listener;
  assert.deepEqual(readMetrics(), { open: 0, receivedBytes: 0, sentBytes: 0, unreadable: 0 });
  const socket = await open(t, port);
  socket.write(GET);
  const answer = await readUntil(socket, 'done');
  const one = { open: 1, receivedBytes: GET.length, sentBytes: answer.length, unreadable: 0 };
  assert.deepEqual(readMetrics(), one);
  socket.destroy();
  await closed.promise;
  assert.deepEqual(readMetrics(), { ...one, open: 0 });
  closed = Promise.withResolvers();
  await exchange(t, port, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  await closed.promise;
  assert.ok(readMetrics().receivedBytes > 2 * GET.length);
});

test('counts a connection without a valid request once, whatever follows', async (t) => {
  const listener = await listen((_, response) => response.end(), { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  assert.match(await exchange(t, listener.port, 'junk\r\n\r\njunk\r\n\r\n'), /^HTTP\/1\.1 400 /);
  assert.equal(listener.readMetrics().unreadable, 1);
});
