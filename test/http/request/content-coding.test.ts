/** Chunks that go through a coding of node:zlib. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGunzip, createGzip, gunzipSync, gzipSync } from 'node:zlib';
import { pipeThroughZlib } from '../../../src/http/request/content-coding.ts';

/** For tests that would otherwise wait for ever where the code is wrong. */
const LIMITED = { timeout: 10_000 };
const MEBIBYTE = 1024 * 1024;

test('codes texts and bytes', LIMITED, async () => {
  const coded = pipeThroughZlib((async function* () {
    yield 'é';
    yield Buffer.from('😀');
  })(), createGzip());
  assert.equal(gunzipSync(Buffer.concat(await Array.fromAsync(coded))).toString(), 'é😀');
});

test('takes no more chunks than are read, and returns them', LIMITED, async () => {
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

test('fails as its chunks fail', LIMITED, async () => {
  const error = new Error('no more');
  const coded = pipeThroughZlib((async function* () {
    yield 'a';
    throw error;
  })(), createGzip());
  await assert.rejects(Array.fromAsync(coded), (thrown) => thrown === error);
});

test('fails where the chunks are not in the coding', LIMITED, async () => {
  const coded = pipeThroughZlib((async function* () { yield 'plain text'; })(), createGunzip());
  await assert.rejects(Array.fromAsync(coded), { code: 'Z_DATA_ERROR' });
});
