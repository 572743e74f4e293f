/** Streamed request bodies: content coding, minimum rate, and clients that disconnect or stall. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { constants, gzipSync } from 'node:zlib';
import { BODY_LIMIT_BYTES } from '../../../src/http/limits.ts';
import { AppError } from '../../../src/domain/error.ts';
import { openBody, readJson } from '../../../src/http/request/body.ts';
import { LingeringConnections } from '../../../src/http/server/lingering-close.ts';
import { createProblem } from '../../../src/http/response/problem.ts';
import { type Reply, sendReply } from '../../../src/http/response/reply.ts';
import { type Answer, send } from '../../support/http.ts';
import { open, readToEnd, readUntil, serve } from '../raw.ts';

const TYPES = ['application/x-ndjson', 'text/csv'];
const CSV = { 'content-type': 'text/csv' };
const GZIP = { ...CSV, 'content-encoding': 'gzip' };

type Read = (request: IncomingMessage) => Promise<string>;

/** Responds with what was read, or with the error. */
function serveRead(t: TestContext, read: Read): Promise<number> {
  const lingering = new LingeringConnections();
  return serve(t, async (request, response) => {
    const reply: Reply = await read(request).then(
      (body) => ({ status: 200, headers: {}, body }),
      (error: unknown) => createProblem(error, () => {}),
    );
    lingering.lingerAfter(response, reply);
    void sendReply(response, reply);
  });
}

const readWhole: Read = async (request) => {
  const { mediaType, chunks } = openBody(request, TYPES);
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return `${mediaType}\n${Buffer.concat(parts).toString()}`;
};

function post(
  port: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array,
): Promise<Answer> {
  return send(port, { method: 'POST', path: '/', headers, body });
}

function head(...fields: readonly string[]): string {
  return ['POST / HTTP/1.1', 'Host: x', ...fields, '', ''].join('\r\n');
}

describe('opens', () => {
  const long = 'é😀,'.repeat(BODY_LIMIT_BYTES / 2); // of 7 bytes each
  const cases: readonly (readonly [
    kind: string, headers: Record<string, string>, body: string | Uint8Array, text: string,
  ])[] = [
    ['a body of the first type', { 'content-type': 'application/x-ndjson' }, '{}\n', '{}\n'],
    ['a body of the second type, in any spelling', { 'content-type': 'Text/CSV; charset=UTF-8' },
      'a,b', 'a,b'],
    ['a body over the limit of JSON bodies', CSV, long, long],
    ['an empty body', CSV, '', ''],
    ['a body in gzip', GZIP, gzipSync(long), long],
    ['a body in several members of gzip', { ...GZIP, 'content-encoding': 'GZIP' },
      Buffer.concat([gzipSync('a'), gzipSync('b')]), 'ab'],
    ['a body with the coding "identity"', { ...CSV, 'content-encoding': 'identity' }, 'a', 'a'],
  ];
  for (const [kind, headers, body, text] of cases) {
    test(kind, async (t) => {
      const answer = await post(await serveRead(t, readWhole), headers, body);
      assert.equal(answer.status, 200, answer.text);
      const type = kind === 'a body of the first type' ? TYPES[0] : TYPES[1];
      assert.ok(answer.text === `${type}\n${text}`, 'another text');
    });
  }
});

describe('rejects, and says what to send:', () => {
  const cases: readonly (readonly [kind: string, headers: Record<string, string>])[] = [
    ['no type', {}], ['another type', { 'content-type': 'application/json' }],
    ['another character set', { 'content-type': 'text/csv; charset=latin1' }],
    ['another coding', { ...CSV, 'content-encoding': 'br' }],
    ['two codings', { ...CSV, 'content-encoding': 'gzip, gzip' }],
  ];
  for (const [kind, headers] of cases) {
    test(kind, async (t) => {
      const { status, json } = await post(await serveRead(t, readWhole), headers, 'a,b');
      assert.equal(status, 415);
      const expected = kind.endsWith('codings') || kind.endsWith('coding')
        ? /content-encoding: gzip/ : /application\/x-ndjson.* or .*text\/csv/;
      assert.match(json().detail, expected);
    });
  }
});

describe('rejects invalid gzip:', () => {
  const whole = gzipSync('x'.repeat(1_000));
  const altered = Buffer.from(whole);
  altered.writeUInt8((altered.at(-6) ?? 0) ^ 1, altered.length - 6); // in the checksum
  for (const [kind, bytes] of [
    ['not compressed', Buffer.from('sku,name\n')],
    ['truncated', whole.subarray(0, -5)],
    ['truncated within its header', whole.subarray(0, 5)],
    ['with a wrong checksum', altered],
    ['with NUL bytes in place of a member', Buffer.concat([whole, Buffer.alloc(9)])],
  ] as const) {
    test(kind, async (t) => {
      const { status, json } = await post(await serveRead(t, readWhole), GZIP, bytes);
      assert.equal(status, 400);
      assert.match(json().type, /invalid-data$/);
      assert.match(json().detail, /gzip/);
    });
  }
});

for (const [kind, headers, begin] of [
  ['plain', CSV, Buffer.from('a,b\n')],
  // Only the beginning of a gzip body.
  ['compressed', GZIP, gzipSync('a,b\n', { finishFlush: constants.Z_SYNC_FLUSH })],
] as const) {
  test(`lets a reader of a ${kind} body stop early and respond`, async (t) => {
    const port = await serveRead(t, async (request) => {
      for await (const chunk of openBody(request, TYPES).chunks) return String(chunk);
      return 'nothing';
    });
    const socket = await open(t, port);
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(head(...fields, `Content-Length: ${begin.length + 4}`));
    socket.write(begin);
    assert.match(await readUntil(socket, 'a,b\n'), /^HTTP\/1\.1 200 /);
    // The rest is discarded, and the connection serves another request.
    socket.write(`rest${head(...fields, 'Content-Length: 1', 'Connection: close')}`);
    socket.write('c');
    assert.match(await readToEnd(socket), /^HTTP\/1\.1 (200|400) /);
  });

  test(`throws to the reader of a ${kind} body that is cut off`, async (t) => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const port = await serve(t, async (request) => {
      try {
        for await (const chunk of openBody(request, TYPES).chunks) begun.resolve(void chunk);
        ended.resolve(undefined);
      } catch (error) {
        ended.resolve(error);
      }
    });
    const socket = await open(t, port);
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(head(...fields, 'Content-Length: 1000'));
    socket.write(begin);
    await begun.promise;
    socket.destroy();
    const error = await ended.promise;
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'invalid_data');
    assert.match(error.publicDetail, /was cut off/);
  });
}

describe('a client that stalls', () => {
  const json = 'Content-Type: application/json';

  test('in a small body gets 408, and its connection is closed', async (t) => {
    const port = await serveRead(t, async (request) =>
      String(await readJson(request, ['application/json'], 1_000, 20)));
    const socket = await open(t, port);
    socket.write(`${head(json, 'Content-Length: 10')}{"a`);
    const text = await readToEnd(socket);
    assert.match(text, /^HTTP\/1\.1 408 /);
    assert.match(text, /\r\nconnection: close\r\n/i);
    assert.match(text, /request-timeout/);
  });
});
