/** `serve` stops promptly: it drains requests in flight and waits for nothing else. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { openEvents } from '../../features/changes/event-stream.ts';
import { run } from '../../support/command.ts';
import { send } from '../../support/http.ts';
import { serveShop } from '../shop.ts';
import { beginRequest, PATH } from './unfinished-request.ts';

describe('a server that is stopped', { concurrency: 3 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`finishes requests in flight and exits with 0 on ${signal}`, async (t) => {
      const { serving, data, key } = await serveShop(t);
      const { finish, answer } = await beginRequest(serving, key);
      const stopped = serving.stop(signal);
      await serving.waitForNote(/Stopping/);
      assert.equal(serving.child.exitCode, null);
      finish();
      assert.match(await answer, /HTTP\/1\.1 201 Created[^]*"sku":"C"/);
      assert.equal(await stopped, 0);
      assert.match(serving.notes(), /Stopped\.\n$/);
      // Checkpointed: the WAL is gone, and the answered product is in the file.
      assert.deepEqual(readdirSync(data), ['catalogue.db', 'high-water.json', 'server.key']);
      const list = JSON.parse((await run(['seller', 'list', '--data', data, '--json'])).out);
      assert.equal(list.sellers[0].position, 1);
    });
  }

  test('accepts no new connections while it stops', async (t) => {
    const { serving, key } = await serveShop(t);
    const { finish, answer } = await beginRequest(serving, key);
    const stopped = serving.stop('SIGTERM');
    await serving.waitForNote(/Stopping/);
    const late = send(serving.port, { path: PATH, headers: { 'x-api-key': key } });
    // Reset if the system had accepted it before the server stopped listening.
    await assert.rejects(late, { code: /^ECONN(?:REFUSED|RESET)$/ });
    finish();
    assert.match(await answer, /HTTP\/1\.1 201 Created/);
    assert.equal(await stopped, 0);
  });

  test('does not wait for idle connections', async (t) => {
    const { serving, key } = await serveShop(t);
    const idle = connect(serving.port, '127.0.0.1');
    const ended = once(idle, 'close');
    idle.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n\r\n`);
    await once(idle, 'data');
    assert.equal(await serving.stop('SIGTERM'), 0);
    await ended;
  });

  test('ends live streams and answers long polls', async (t) => {
    const { serving, key } = await serveShop(t);
    const stream = await openEvents(t, serving.port, { key });
    await stream.until(() => stream.comments.length === 1);
    const waiting = send(serving.port, {
      path: '/api/v1/changes?wait=30', headers: { 'x-api-key': key },
    });
    await send(serving.port, { path: PATH, headers: { 'x-api-key': key } }); // it arrives later
    const startedAt = performance.now();
    assert.equal(await serving.stop('SIGTERM'), 0);
    assert.ok(performance.now() - startedAt < 5_000);
    await stream.ended;
    assert.equal(stream.response.complete, true);
    const { status } = await waiting;
    assert.ok(status === 200 || status === 503, `${status}`);
  });

  test('exits within 10 s if a client never ends its request', async (t) => {
    const { serving, key } = await serveShop(t);
    const { socket } = await beginRequest(serving, key);
    socket.on('error', () => {}); // it is reset, as expected
    const startedAt = performance.now();
    assert.equal(await serving.stop('SIGTERM'), 0);
    assert.ok(performance.now() - startedAt < 10_000);
  });
});
