/** Request bodies: media type, size, and whether the connection stays open. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { BODY_LIMIT_BYTES } from '../../src/http/limits.ts';
import { makeProduct, startServer, type TestSeller } from '../support/server.ts';
import type { Answer } from '../support/http.ts';
import { assertProblem } from './problem.ts';

const PRODUCTS = '/api/v1/products';
const JSON_TYPE = { 'content-type': 'application/json' };

function post(
  seller: TestSeller, headers: Record<string, string>, body = JSON.stringify(makeProduct()),
): Promise<Answer> {
  return seller.send({ method: 'POST', path: PRODUCTS, headers, body });
}

/** A valid body of this many bytes: white space may follow the object. */
function bodyOf(sizeBytes: number): string {
  return JSON.stringify(makeProduct()).padEnd(sizeBytes, ' ');
}

/** A raw connection, and the text received on it. */
function openSocket(port: number) {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let onChange = (): void => {};
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
    onChange();
  });
  socket.on('error', () => {}); // a server may reset a connection that sends too much
  const closed = new Promise<void>((resolve) => { socket.on('close', () => resolve()); });
  socket.on('close', () => onChange());
  return {
    socket,
    closed,
    received: () => received,
    /** Resolves once the pattern was received; fails if the connection ends before. */
    async waitFor(pattern: RegExp): Promise<void> {
      while (!pattern.test(received)) {
        assert.ok(!socket.destroyed, `ended after: ${received}`);
        await new Promise<void>((resolve) => { onChange = resolve; });
      }
    },
  };
}

function head(seller: TestSeller, ...fields: string[]): string {
  const lines = [
    `POST ${PRODUCTS} HTTP/1.1`, 'host: localhost', `x-api-key: ${seller.key}`,
    'content-type: application/json', ...fields,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function chunk(sizeBytes: number): string {
  return `${sizeBytes.toString(16)}\r\n${' '.repeat(sizeBytes)}\r\n`;
}

for (const type of [
  'application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON',
  'application/json; charset="utf-8"',
]) {
  test(`accepts a body of type ${type}`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller();
    assert.equal((await post(seller, { 'content-type': type })).status, 201);
  });
}

test('rejects a body of any other type, or without a type', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  assertProblem(await post(seller, {}), 415, 'unsupported-media-type');
  for (const type of [
    'text/plain', 'text/json', 'application/jsonp', 'application/x-www-form-urlencoded',
    'application/merge-patch+json', 'application/json; charset=latin1', 'json', '*/*', '',
  ]) {
    const answer = await post(seller, { 'content-type': type });
    const { detail } = assertProblem(answer, 415, 'unsupported-media-type');
    assert.match(detail, /application\/json/);
  }
  assert.equal((await seller.create()).headers['etag'], '"1"');
});

test('rejects a body with a content coding', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const encoding of ['gzip', 'br', 'identity, gzip']) {
    const answer = await post(seller, { ...JSON_TYPE, 'content-encoding': encoding });
    const { detail } = assertProblem(answer, 415, 'unsupported-media-type');
    assert.match(detail, /Content-Encoding/);
  }
  assert.equal((await post(seller, { ...JSON_TYPE, 'content-encoding': 'identity' })).status, 201);
});

test('accepts a body up to the limit, with a length and in chunks', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const chunked = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
  for (const headers of [JSON_TYPE, chunked]) {
    assert.equal((await post(seller, headers, bodyOf(BODY_LIMIT_BYTES))).status, 201);
  }
});

test('rejects a body one byte over the limit, with a length and in chunks', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const chunked = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
  for (const headers of [JSON_TYPE, chunked]) {
    const answer = await post(seller, headers, bodyOf(BODY_LIMIT_BYTES + 1));
    const { detail } = assertProblem(answer, 413, 'body-too-large');
    assert.match(detail, new RegExp(`\\b${BODY_LIMIT_BYTES}\\b`));
  }
  assert.equal((await seller.create()).headers['etag'], '"1"');
});

test('rejects a Content-Length over the limit before any of the body arrives', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { socket, waitFor } = openSocket(server.port);
  socket.write(head(seller, 'content-length: 999999999999'));
  await waitFor(/^HTTP\/1\.1 413 [^]*"status":413/);
  socket.destroy();
});

test('reads the next request on the connection after a body that was too large', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = JSON.stringify(makeProduct());
  const tooLarge = 2 * BODY_LIMIT_BYTES;
  const { socket, waitFor } = openSocket(server.port);
  socket.write(head(seller, `content-length: ${tooLarge}`) + ' '.repeat(tooLarge));
  await waitFor(/^HTTP\/1\.1 413 [^]*"status":413/);
  socket.write(head(seller, `content-length: ${Buffer.byteLength(body)}`) + body);
  await waitFor(/HTTP\/1\.1 201 /);
  socket.destroy();
});

test('closes the connection after a body of unknown length that is too large', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { socket, received, closed } = openSocket(server.port);
  socket.write(head(seller, 'transfer-encoding: chunked') + chunk(BODY_LIMIT_BYTES + 1));
  await closed;
  assert.match(received(), /^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n[^]*"status":413/i);
});

test('closes a connection that keeps sending, and serves the others', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { socket, received, closed } = openSocket(server.port);
  socket.write(head(seller, 'transfer-encoding: chunked'));
  while (!socket.destroyed) {
    if (socket.write(chunk(BODY_LIMIT_BYTES))) continue;
    await Promise.race([closed, new Promise<void>((resolve) => socket.once('drain', resolve))]);
  }
  await closed;
  assert.match(received(), /^HTTP\/1\.1 413 /); // there was time to read it
  assert.equal((await seller.create()).headers['etag'], '"1"');
  assert.deepEqual(server.reports, []);
});

test('responds to a rejected key although a body follows', async (t) => {
  const server = await startServer(t);
  const answer = await server.send({
    method: 'POST', path: PRODUCTS, headers: JSON_TYPE, body: bodyOf(500_000),
  });
  assertProblem(answer, 401, 'key-missing');
});

test('rejects the body of a GET', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answer = await seller.send({
    path: PRODUCTS, headers: { 'content-length': '5' }, body: 'abcde',
  });
  assertProblem(answer, 400, 'bad-request');
});
