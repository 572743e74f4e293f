/** Writing responses to a socket. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAttachment, type Reply, sendReply } from '../../../src/http/response/reply.ts';
import { send } from '../../support/http.ts';
import { exchange, serve } from '../raw.ts';

const JSON_REPLY: Reply = {
  status: 201, headers: { 'content-type': 'application/json' }, body: '"é😀"',
};

test('sends status, headers, and a body with its length in bytes', async (t) => {
  const port = await serve(t, (_, response) => sendReply(response, JSON_REPLY));
  const { status, headers, text } = await send(port, { path: '/' });
  assert.equal(status, 201);
  assert.equal(text, '"é😀"');
  assert.equal(headers['content-length'], '8');
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['transfer-encoding'], undefined);
  assert.ok(headers.date);
});

test('sends bytes unchanged', async (t) => {
  const reply = { status: 200, headers: {}, body: Buffer.from('é') };
  const port = await serve(t, (_, response) => sendReply(response, reply));
  const { headers, text } = await send(port, { path: '/' });
  assert.deepEqual([headers['content-length'], text], ['2', 'é']);
});

test('sends an empty body with a length of 0', async (t) => {
  const reply = { status: 200, headers: {}, body: '' };
  const port = await serve(t, (_, response) => sendReply(response, reply));
  const { headers, text } = await send(port, { path: '/' });
  assert.deepEqual([headers['content-length'], text], ['0', '']);
});

test('responds to HEAD with the length of the body, but without the body', async (t) => {
  const port = await serve(t, (_, response) => sendReply(response, JSON_REPLY));
  const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
  const get = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const text = await exchange(t, port, head + get);
  const [, first = '', second = ''] = text.split('HTTP/1.1 201 Created\r\n');
  assert.match(first, /\r\ncontent-length: 8\r\n/i);
  assert.ok(first.endsWith('\r\n\r\n'), 'nothing follows the headers');
  assert.ok(second.endsWith('\r\n\r\n"é😀"'), 'the next response is complete');
});

test('sends 304 without a body and a length', async (t) => {
  const reply = { status: 304, headers: { etag: '"5"' } };
  const port = await serve(t, (_, response) => sendReply(response, reply));
  const text = await exchange(t, port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.match(text, /^HTTP\/1\.1 304 Not Modified\r\n/);
  assert.match(text, /\r\netag: "5"\r\n/);
  assert.doesNotMatch(text, /content-length|transfer-encoding/i);
  assert.ok(text.endsWith('\r\n\r\n'));
});

test('prevents header injection through header values', async (t) => {
  const refused = Promise.withResolvers<unknown>();
  const port = await serve(t, (_, response) => {
    const reply = { status: 200, headers: { location: '/\r\nset-cookie: a=b' }, body: '' };
    try {
      sendReply(response, reply);
      refused.resolve(undefined);
    } catch (error) {
      refused.resolve(error);
      response.destroy();
    }
  });
  await assert.rejects(send(port, { path: '/' }));
  assert.ok((await refused.promise) instanceof TypeError);
});

test('formats a file name in ASCII and in UTF-8, and escapes delimiters', () => {
  assert.equal(formatAttachment('products-1.csv'),
    "attachment; filename=\"products-1.csv\"; filename*=UTF-8''products-1.csv");
  assert.equal(formatAttachment('größe "5" (a\'b)*;\r\n%.csv'),
    'attachment; filename="gr__e _5_ _a_b______.csv"; filename*=UTF-8\'\''
    + 'gr%C3%B6%C3%9Fe%20%225%22%20%28a%27b%29%2A%3B%0D%0A%25.csv');
  assert.match(formatAttachment('\ud800.csv'), /%EF%BF%BD\.csv$/);
});
