/** Which responses are compressed, for which clients, and with which headers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { brotliDecompressSync, createGunzip, createGzip, gunzipSync, gzipSync } from 'node:zlib';
import { COMPRESSION_MIN_BYTES } from '../../../src/http/limits.ts';
import { Compressor, pipeThroughZlib } from '../../../src/http/response/compression.ts';
import type { Chunks, Reply } from '../../../src/http/response/reply.ts';

const MEBIBYTE = 1024 * 1024;
const LONG = 'a "word" of many; '.repeat(500);
const DECOMPRESS = { br: brotliDecompressSync, gzip: gunzipSync } as const;

function makeReply(reply: Partial<Reply<Chunks>> = {}): Reply<Chunks> {
  const headers = { 'content-type': 'application/json', etag: '"12"', ...reply.headers };
  return { status: 200, body: LONG, ...reply, headers };
}

function ask(acceptEncoding?: string, method = 'GET', headers: Record<string, string> = {}) {
  const accept = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding };
  return { method, headers: { ...accept, ...headers } };
}

/** The body as bytes. */
async function readBody({ body = '' }: Reply<Chunks>): Promise<Buffer> {
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.concat((await Array.fromAsync(body)).map((chunk) => Buffer.from(chunk)));
}

describe('compresses', () => {
  for (const [accept, coding] of [
    ['gzip', 'gzip'], ['br', 'br'], ['gzip, deflate, br', 'br'], ['br;q=0.1, gzip', 'gzip'],
  ] as const) {
    for (const body of [LONG, Buffer.from(LONG)]) {
      test(`${typeof body} for "${accept}" in ${coding}`, async () => {
        const reply = makeReply({ body, headers: { link: '</>; rel="next"' } });
        const sent = await new Compressor().compress(reply, ask(accept));
        assert.deepEqual({ ...sent.headers }, {
          ...reply.headers, etag: `"12-${coding}"`, 'content-encoding': coding,
          vary: 'accept-encoding',
        });
        const bytes = await readBody(sent);
        assert.ok(bytes.length < LONG.length / 2);
        assert.equal(DECOMPRESS[coding](bytes).toString(), LONG);
      });
    }
  }

  for (const type of [
    'application/json', 'application/vnd.oai.openapi+json', 'application/x-ndjson',
    'text/csv; charset=utf-8', 'text/html', 'image/svg+xml',
  ]) {
    test(`${type}, with status 200 and 201`, async () => {
      for (const status of [200, 201]) {
        const reply = makeReply({ status, headers: { 'content-type': type } });
        const sent = await new Compressor().compress(reply, ask('gzip', 'POST'));
        assert.equal(sent.headers['content-encoding'], 'gzip');
      }
    });
  }

  test('a body that is sent repeatedly only once per coding', async () => {
    const compressor = new Compressor();
    const body = Buffer.from(LONG);
    const bodies = await Promise.all(['gzip', 'gzip', 'br', 'br', 'gzip'].map(async (accept) =>
      (await compressor.compress(makeReply({ body }), ask(accept))).body));
    assert.equal(new Set(bodies).size, 2);
    assert.equal(bodies[0], bodies[4]);
  });

  test('a body without an ETag', async () => {
    const reply: Reply = { status: 200, headers: { 'content-type': 'text/html' }, body: LONG };
    const { headers } = await new Compressor().compress(reply, ask('br'));
    assert.equal('etag' in headers, false);
  });

  test('and adds to an existing Vary header', async () => {
    const reply = makeReply({ headers: { vary: 'accept' } });
    for (const accept of [undefined, 'gzip']) {
      const { headers } = await new Compressor().compress(reply, ask(accept));
      assert.equal(headers['vary'], 'accept, accept-encoding');
    }
  });
});

describe('does not compress', () => {
  const replies: Readonly<Record<string, Reply<Chunks>>> = {
    'a short body': makeReply({ body: 'x'.repeat(COMPRESSION_MIN_BYTES - 1) }),
    'a response without a body': { status: 204, headers: {} },
    'a problem': makeReply({ status: 400 }),
    'a compressed media type': makeReply({ headers: { 'content-type': 'image/png' } }),
    'a body without a type': { status: 200, headers: {}, body: LONG },
  };
  for (const [kind, reply] of Object.entries(replies)) {
    test(kind, () => {
      assert.equal(new Compressor().compress(reply, ask('gzip, br')), reply);
    });
  }

  for (const accept of [undefined, '', 'identity', 'gzip;q=0, br;q=0', 'deflate']) {
    test(`a body for ${accept ?? 'no Accept-Encoding'}, but sends Vary`, () => {
      const reply = makeReply();
      const sent = new Compressor().compress(reply, ask(accept));
      assert.ok(!(sent instanceof Promise));
      assert.equal(sent.body, reply.body);
      assert.deepEqual({ ...sent.headers }, { ...reply.headers, vary: 'accept-encoding' });
    });
  }

  test('a body that does not shrink', async () => {
    const reply = makeReply({ body: randomBytes(10_000) });
    const sent = await new Compressor().compress(reply, ask('br'));
    assert.equal(sent.body, reply.body);
    assert.deepEqual({ ...sent.headers }, { ...reply.headers, vary: 'accept-encoding' });
  });
});

describe('a 304 has the ETag of the representation that the client has:', () => {
  for (const [field, etag] of [
    ['"12"', '"12"'], ['"12-gzip"', '"12-gzip"'], ['W/"12-br", "7"', '"12-br"'], ['*', '"12"'],
  ] as const) {
    test(field, () => {
      const reply: Reply = { status: 304, headers: { etag: '"12"', vary: 'accept' } };
      const request = ask('gzip', 'GET', { 'if-none-match': field });
      assert.deepEqual(new Compressor().compress(reply, request), {
        status: 304, headers: { etag, vary: 'accept, accept-encoding' },
      });
    });
  }
});

describe('a stream', () => {
  const lines = { 'content-type': 'application/x-ndjson' };

  async function* generate(): AsyncGenerator<string> {
    for (let n = 0; n < 10; n += 1) yield `${LONG}${n}`;
  }

  for (const [accept, coding] of [
    ['gzip', 'gzip'], ['br, gzip;q=0.1', 'gzip'], ['br', undefined], [undefined, undefined],
  ] as const) {
    test(`for ${accept ?? 'no Accept-Encoding'} uses ${coding ?? 'no coding'}`, async () => {
      const reply = makeReply({ headers: lines, body: generate() });
      const sent = await new Compressor().compress(reply, ask(accept));
      assert.equal(sent.headers['content-encoding'], coding);
      assert.equal(sent.headers['etag'], coding ? '"12-gzip"' : '"12"');
      assert.equal(sent.headers['vary'], 'accept-encoding');
      const bytes = await readBody(sent);
      const text = coding ? gunzipSync(bytes).toString() : bytes.toString();
      assert.equal(text, (await Array.fromAsync(generate())).join(''));
    });
  }

  test('of live changes is not delayed', () => {
    const reply = makeReply({ headers: lines, body: generate() });
    assert.equal(new Compressor().compress(reply, ask('gzip', 'POST')), reply);
  });
});

test('pipes texts and bytes through a zlib stream', async () => {
  const coded = pipeThroughZlib((async function* () {
    yield 'é';
    yield Buffer.from('😀');
  })(), createGzip());
  assert.equal(gunzipSync(Buffer.concat(await Array.fromAsync(coded))).toString(), 'é😀');
});

test('applies backpressure to a zlib stream, and closes its source', async () => {
  const member = gzipSync(Buffer.alloc(MEBIBYTE));
  const returned = Promise.withResolvers<void>();
  let pulled = 0;
  async function* members(): AsyncGenerator<Uint8Array> {
    try {
      for (; pulled < 100_000; pulled += 1) yield member;
    } finally {
      returned.resolve();
    }
  }
  let readBytes = 0;
  for await (const chunk of pipeThroughZlib(members(), createGunzip())) {
    readBytes += chunk.length;
    if (readBytes > 50 * MEBIBYTE) break;
  }
  await returned.promise;
  assert.ok(pulled >= 50 && pulled < 1_000, `${pulled} chunks`);
});

test('rejects when the source of a zlib stream fails', async () => {
  const error = new Error('no more');
  const coded = pipeThroughZlib((async function* () {
    yield 'a';
    throw error;
  })(), createGzip());
  await assert.rejects(Array.fromAsync(coded), (thrown) => thrown === error);
});

test('rejects chunks in another coding than that of a zlib stream', async () => {
  const coded = pipeThroughZlib((async function* () { yield 'plain text'; })(), createGunzip());
  await assert.rejects(Array.fromAsync(coded), { code: 'Z_DATA_ERROR' });
});
