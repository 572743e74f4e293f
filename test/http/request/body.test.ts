/** Reading request bodies: media type, size, and clients that disconnect. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { BODY_LIMIT_BYTES } from '../../../src/http/limits.ts';
import { readJson } from '../../../src/http/request/body.ts';
import { LingeringConnections } from '../../../src/http/server/lingering-close.ts';
import { createProblem } from '../../../src/http/response/problem.ts';
import { sendReply } from '../../../src/http/response/reply.ts';
import { send } from '../../support/http.ts';
import { open, readToEnd, readUntil, serve } from '../raw.ts';

const JSON_TYPES = ['application/json'];
const JSON_TYPE = { 'content-type': 'application/json' };

/** Responds to each request with the JSON that it sent, or with the error. */
function serveEcho(t: TestContext): Promise<number> {
  const lingering = new LingeringConnections();
  return serve(t, async (request, response) => {
    const reply = await readJson(request, JSON_TYPES).then(
      (value) => ({ status: 200, headers: {}, body: JSON.stringify(value) }),
      (error: unknown) => createProblem(error, () => {}),
    );
    lingering.lingerAfter(response, reply);
    sendReply(response, reply);
  });
}

describe('the type of a body', () => {
  for (const type of [
    'application/json', 'Application/JSON', 'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"', 'application/json; profile=x', ' application/json ;',
  ]) {
    test(`may be ${JSON.stringify(type)}`, async (t) => {
      const port = await serveEcho(t);
      const headers = { 'content-type': type };
      const request = { method: 'POST', path: '/', headers, body: '{"a":[1]}' };
      const { status, text } = await send(port, request);
      assert.deepEqual([status, text], [200, '{"a":[1]}']);
    });
  }

  for (const headers of [
    {}, { 'content-type': '' }, { 'content-type': 'json' }, { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/jsonx' },
    { 'content-type': 'application/problem+json' },
    { 'content-type': 'application/json, text/plain' },
    { 'content-type': 'application/json; charset=utf-16' }, { 'content-type': '*/*' },
    { ...JSON_TYPE, 'content-encoding': 'gzip' },
    { ...JSON_TYPE, 'content-encoding': 'identity, br' },
  ]) {
    test(`may not be ${JSON.stringify(headers)}`, async (t) => {
      const port = await serveEcho(t);
      const { status, json } = await send(port, { method: 'POST', path: '/', headers, body: '{}' });
      assert.equal(status, 415);
      assert.match(json().type, /unsupported-media-type$/);
    });
  }

  test('may have the coding "identity"', async (t) => {
    const port = await serveEcho(t);
    const headers = { ...JSON_TYPE, 'content-encoding': 'identity' };
    const { status } = await send(port, { method: 'POST', path: '/', headers, body: '{}' });
    assert.equal(status, 200);
  });
});

describe('the size of a body', () => {
  const pad = (sizeBytes: number): string => `{"a":"é"}${' '.repeat(sizeBytes - 10)}`;

  for (const framing of ['content-length', 'chunked'] as const) {
    const coding = framing === 'chunked' ? { 'transfer-encoding': 'chunked' } : {};
    const headers = { ...JSON_TYPE, ...coding };

    test(`may be the limit (${framing})`, async (t) => {
      const port = await serveEcho(t);
      const body = pad(BODY_LIMIT_BYTES);
      const { status, text } = await send(port, { method: 'POST', path: '/', headers, body });
      assert.deepEqual([status, text], [200, '{"a":"é"}']);
    });

    test(`may not be one byte more (${framing})`, async (t) => {
      const port = await serveEcho(t);
      const body = pad(BODY_LIMIT_BYTES + 1);
      const { status, json } = await send(port, { method: 'POST', path: '/', headers, body });
      assert.equal(status, 413);
      assert.match(json().detail, new RegExp(`\\b${BODY_LIMIT_BYTES} bytes`));
    });
  }

  test('is rejected by its declared length, before any of it arrives', async (t) => {
    const socket = await open(t, await serveEcho(t));
    socket.write(formatPost(`Content-Length: ${BODY_LIMIT_BYTES + 1}`));
    assert.match(await readUntil(socket, '\r\n\r\n'), /^HTTP\/1\.1 413 /);
  });

  test('of 0 is rejected as empty JSON', async (t) => {
    const port = await serveEcho(t);
    const { status, json } = await send(port, { method: 'POST', path: '/', headers: JSON_TYPE });
    assert.equal(status, 400);
    assert.match(json().type, /invalid-json$/);
  });
});

test('joins chunks, also if a character is split', async (t) => {
  const socket = await open(t, await serveEcho(t));
  const bytes = Buffer.from('{"a":"😀"}');
  const headers = formatPost('Transfer-Encoding: chunked', 'Connection: close');
  socket.write(`${headers}8\r\n`);
  socket.write(bytes.subarray(0, 8));
  socket.write(`\r\n${(bytes.length - 8).toString(16)}\r\n`);
  socket.write(bytes.subarray(8));
  socket.write('\r\n0\r\n\r\n');
  assert.ok((await readToEnd(socket)).endsWith('{"a":"😀"}'));
});

describe('reading ends if the client disconnects', () => {
  const CUT_OFF = { code: 'invalid_json', publicDetail: 'The body was cut off.' };

  /** Sends part of a request, disconnects, and returns the outcome of reading its body. */
  async function abort(
    t: TestContext, body: string,
    read: (request: IncomingMessage, gone: Promise<unknown>) => Promise<unknown>,
  ): Promise<unknown> {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const port = await serve(t, (request) => {
      const gone = new Promise((resolve) => request.once('close', resolve));
      read(request, gone).then(ended.resolve, ended.reject);
      begun.resolve();
    });
    const socket = await open(t, port);
    socket.write(formatPost('Content-Length: 7') + body);
    await begun.promise;
    socket.destroy();
    return ended.promise;
  }

  test('in the middle of the body', async (t) => {
    const reading = abort(t, '{"a', (request) => readJson(request, JSON_TYPES));
    await assert.rejects(reading, CUT_OFF);
  });

  test('in the middle of the body, before it is read', async (t) => {
    const reading = abort(t, '{"a', async (request, gone) => {
      await gone;
      return readJson(request, JSON_TYPES);
    });
    await assert.rejects(reading, CUT_OFF);
  });

  test('after the whole body, before it is read', async (t) => {
    const body = await abort(t, '{"a":1}', async (request, gone) => {
      await gone;
      return readJson(request, JSON_TYPES);
    });
    assert.deepEqual(body, { a: 1 });
  });
});

function formatPost(...headers: readonly string[]): string {
  const lines = ['POST / HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
