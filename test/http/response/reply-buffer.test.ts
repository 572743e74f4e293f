/** Responses that begin before their request has ended, to clients and to proxies. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { REPORT_BUFFER_TIME_MS, RESPONSE_BUFFER_LIMIT_BYTES } from '../../../src/http/limits.ts';
import { sendReply } from '../../../src/http/response/reply.ts';
import { open, readToEnd, readUntil, serve } from '../raw.ts';

const PROXIED = 'X-Forwarded-For: 192.0.2.1\r\n';

interface Upload {
  readonly socket: Socket;
  /** Sends text, waits until the server has read it, and returns whether the response has begun. */
  send(text: string): Promise<boolean>;
}

/** A request in flight, whose chunks the server echoes while it reads them. */
async function upload(t: TestContext, fields: string, version = '1.1'): Promise<Upload> {
  const read: string[] = [];
  let onRead = (_: boolean): void => {};
  const port = await serve(t, (request, response) => {
    async function* echo(): AsyncGenerator<string> {
      for await (const chunk of request) {
        yield `<${String(chunk)}>`;
        read.push(String(chunk));
        onRead(request.socket.bytesWritten > 0);
      }
    }
    const reply = { status: 200, headers: {}, body: echo() };
    sendReply(response, reply)?.catch(() => {}); // the client disconnects at the end of its test
  });
  const socket = await open(t, port);
  socket.write(`POST / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n${fields}\r\n`);
  return {
    socket,
    async send(text) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      onRead = (hasBegun) => { if (read.join('').endsWith(text)) resolve(hasBegun); };
      socket.write(text);
      return promise;
    },
  };
}

test('begin immediately for a direct client', async (t) => {
  const { socket, send } = await upload(t, 'Content-Length: 2\r\n');
  const begun = readUntil(socket, '<a>');
  assert.equal(await send('a'), true);
  assert.match(await begun, /^HTTP\/1\.1 200 /);
  socket.write('b');
  assert.match(await readToEnd(socket), /<b>/);
});

for (const [who, fields, version] of [
  ['that sends X-Forwarded-For', PROXIED],
  ['that sends Forwarded (RFC 7239)', 'Forwarded: for=192.0.2.1\r\n'],
  ['that sends Via', 'Via: 1.1 proxy\r\n'],
  ['that uses HTTP/1.0', '', '1.0'],
] as const) {
  test(`wait for the end of a request from a proxy ${who}`, async (t) => {
    const { socket, send } = await upload(t, `${fields}Content-Length: 2\r\n`, version);
    assert.equal(await send('a'), false);
    const answer = readToEnd(socket);
    socket.write('b');
    assert.match(await answer, /^HTTP\/1\.1 200 .*<a>.*<b>/s);
  });
}

test('are buffered for a proxy only up to the limit', async (t) => {
  const { socket } = await upload(t, `${PROXIED}Transfer-Encoding: chunked\r\n`);
  const begun = readUntil(socket, 'HTTP/1.1 200 ');
  const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`;
  for (let n = 0; n <= RESPONSE_BUFFER_LIMIT_BYTES / (64 * 1024); n += 1) socket.write(chunk);
  await begun;
});

for (const [length, passedMs] of [
  ['with its length', 0], ['without', REPORT_BUFFER_TIME_MS],
] as const) {
  test(`are sent over HTTP/1.0 ${length} if the report takes ${passedMs} ms`, async (t) => {
    const start = performance.now();
    let now = start;
    t.mock.method(performance, 'now', () => now);
    const begun = Promise.withResolvers<void>();
    const port = await serve(t, (request, response) => {
      async function* report(): AsyncGenerator<string> {
        for await (const _ of request); // until it is complete
        yield 'a row,';
        now = start + passedMs;
        yield ' ';
        if (passedMs > 0) await begun.promise;
        yield 'summary';
      }
      void sendReply(response, { status: 200, headers: {}, body: report() });
    });
    const socket = await open(t, port);
    socket.write('POST / HTTP/1.0\r\nHost: x\r\nContent-Length: 1\r\n\r\n1');
    const begin = passedMs > 0 ? await readUntil(socket, 'a row, ') : '';
    begun.resolve();
    const text = begin + await readToEnd(socket);
    assert.ok(text.endsWith('\r\n\r\na row, summary'), text);
    assert.equal(/^content-length: 14\r$/m.test(text), passedMs === 0);
  });
}
