/** Clients that are still sending a large body can read the response that rejects it. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { join } from 'node:path';
import { after as afterAll, describe, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { BODY_LIMIT_BYTES, DISCARD_LIMIT_BYTES } from '../../../src/http/limits.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { makeFolder } from '../../support/folder.ts';
import { startServer } from '../../support/server.ts';
import { open, readUntil } from '../raw.ts';

/** Discarded on the connection, more than is discarded, and more than sockets buffer. */
const SIZES = [BODY_LIMIT_BYTES + 1, 2 * DISCARD_LIMIT_BYTES, 20_000_000];
const NO_CURL = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed';

type Send = (url: string, fields: Record<string, string>, body: Buffer) => Promise<number>;

const http = sendWith(new Agent({ keepAlive: true }));
const inChunks = sendWith(new Agent({ keepAlive: true }), true);
const https = sendWith(new TlsAgent({ keepAlive: true, rejectUnauthorized: false }));

const viaFetch: Send = async (url, headers, body) => {
  const response = await fetch(url, { method: 'POST', headers, body: Uint8Array.from(body) });
  await response.json();
  return response.status;
};

function sendWith(agent: Agent, isChunked = false): Send {
  afterAll(() => agent.destroy());
  return (url, headers, body) => new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, agent };
    const outgoing = agent instanceof TlsAgent ? requestTls(url, options) : request(url, options);
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode ?? 0)).resume();
    });
    if (isChunked) outgoing.write(body.subarray(0, 1));
    outgoing.end(isChunked ? body.subarray(1) : body);
  });
}

function makeCurl(t: TestContext, ...options: readonly string[]): Send {
  const file = join(makeFolder(t), 'body');
  return async (url, fields, body) => {
    writeFileSync(file, body);
    const headers = Object.entries(fields).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const { stdout } = await promisify(execFile)('curl', [
      '-sSk', '-w', '\n%{http_code}', '--data-binary', `@${file}`, ...headers, ...options, url,
    ]);
    return Number(stdout.split('\n').at(-1));
  };
}

/** Asserts that the client reads the rejection of each size, and of a wrong key and media type. */
async function assertReadable(t: TestContext, send: Send, isTls = false): Promise<void> {
  const server = await startServer(t, isTls ? { certificate: makeCertificate() } : undefined);
  const { key } = await server.makeSeller();
  const url = `${isTls ? 'https' : 'http'}://127.0.0.1:${server.port}/api/v1/products`;
  const json = { 'content-type': 'application/json' };
  const attempt = async (status: number, fields: Record<string, string>, sizeBytes: number) => {
    const received = await send(url, fields, Buffer.alloc(sizeBytes, ' '));
    assert.equal(received, status, `${sizeBytes} bytes`);
  };
  // Each request reuses the connection of the one before, if the client keeps it.
  for (const size of SIZES.slice(0, 2)) {
    await attempt(401, json, size);
    await attempt(415, { 'content-type': 'text/plain', 'x-api-key': key }, size);
  }
  for (const size of SIZES) await attempt(413, { ...json, 'x-api-key': key }, size);
  assert.deepEqual(server.reports, []);
}

test('serves the next request after an import that failed while its body was being sent',
  async (t) => {
    const server = await startServer(t);
    const { key } = await server.makeSeller();
    const makeFile = (prefix: string): string => 'sku,name,category,price,stock\n'
      + Array.from({ length: 5_000 }, (_, n) => `${prefix}${n},${'x'.repeat(60)},K,1,1\n`).join('');
    const makeHead = (file: string): string => ['POST /api/v1/products/import HTTP/1.1', 'Host: x',
      `X-Api-Key: ${key}`, 'Content-Type: text/csv', 'Idempotency-Key: "k"',
      `Content-Length: ${file.length}`, '', ''].join('\r\n');
    const [first, second] = [makeFile('A'), makeFile('B')];
    const socket = await open(t, server.port);
    socket.write(makeHead(first) + first);
    await readUntil(socket, '"summary"');
    const half = second.length / 2;
    socket.write(makeHead(second) + second.slice(0, half));
    assert.match(await readUntil(socket, 'idempotency-mismatch'), /^[^]*422 .*/);
    for (let n = 0; n < 10; n += 1) await server.send({ path: '/healthz' }); // its reader gives up
    socket.write(`${second.slice(half)}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(await readUntil(socket, '\r\n\r\n'), /HTTP\/1\.1 200 /);
  });

describe('a response to a body that is still being sent is read by', () => {
  test('fetch', (t) => assertReadable(t, viaFetch));
  test('node:http', (t) => assertReadable(t, http));
  test('node:http, in chunks', (t) => assertReadable(t, inChunks));
  test('node:https', (t) => assertReadable(t, https, true));
  for (const [kind, ...options] of [
    ['', '-H', 'Expect:'], [' that waits for 100', '-H', 'Expect: 100-continue'],
    [' in chunks', '-H', 'Expect:', '-H', 'Transfer-Encoding: chunked'],
  ]) {
    test(`curl${kind}`, { skip: NO_CURL }, (t) => assertReadable(t, makeCurl(t, ...options)));
  }
  test('curl over TLS', { skip: NO_CURL }, (t) => assertReadable(t, makeCurl(t), true));
});
