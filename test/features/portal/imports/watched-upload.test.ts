/** Uploads that come too slowly, or for nobody any more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/domain/error.ts';
import { watchUpload } from '../../../../src/features/portal/imports/watched-upload.ts';
import {
  UPLOAD_GRACE_MS, UPLOAD_MIN_RATE_BYTES_PER_SECOND,
} from '../../../../src/features/portal/limits.ts';

const HOUR_S = 3_600;

test('lets a file come as slowly as the pace allows', async () => {
  const { content, now } = trickle(UPLOAD_MIN_RATE_BYTES_PER_SECOND, HOUR_S);
  const chunks = await Array.fromAsync(watchUpload(content, async () => {}, now));
  assert.equal(Buffer.concat(chunks).length, UPLOAD_MIN_RATE_BYTES_PER_SECOND * HOUR_S);
});

test('ends one that comes more slowly, after a time of grace', async () => {
  const { content, now } = trickle(1, HOUR_S);
  const watched = watchUpload(content, async () => {}, now);
  await assert.rejects(Array.fromAsync(watched), { code: 'request_timeout' });
  assert.ok(now() > UPLOAD_GRACE_MS && now() <= UPLOAD_GRACE_MS + 1_000, String(now()));
});

test('ends one whose session has ended, within 15 s', async () => {
  const { content, now } = trickle(UPLOAD_MIN_RATE_BYTES_PER_SECOND, HOUR_S);
  const watched = watchUpload(content, async () => {
    if (now() >= 60_000) throw new AppError('browser_refused', 'Signed out.');
  }, now);
  await assert.rejects(Array.fromAsync(watched), { code: 'browser_refused' });
  assert.ok(now() < 60_000 + 16_000, String(now()));
});

/** So many bytes each second, by a clock that its reading moves. */
function trickle(bytesPerSecond: number, seconds: number) {
  let passedMs = 0;
  async function* make() {
    for (let n = 0; n < seconds; n += 1) {
      passedMs += 1_000;
      yield Buffer.alloc(bytesPerSecond);
    }
  }
  return { content: make(), now: () => passedMs };
}
