/**
 * An upload while it comes: one that comes too slowly keeps others from theirs, and one whose
 * session has ended is nobody's any more. That nothing comes at all, the listener ends.
 */
import { REAUTHORIZE_INTERVAL_MS } from '../../../api/limits.ts';
import { AppError } from '../../../domain/error.ts';
import { UPLOAD_GRACE_MS, UPLOAD_MIN_RATE_BYTES_PER_SECOND } from '../limits.ts';

/** @throws AppError `request_timeout`, and what `reauthorize` rejects with */
export async function* watchUpload(
  content: AsyncIterable<Buffer>, reauthorize: () => Promise<void>,
  now = () => performance.now(),
): AsyncGenerator<Buffer, void, void> {
  const start = now();
  let checkAt = start + REAUTHORIZE_INTERVAL_MS;
  let seenBytes = 0;
  for await (const chunk of content) {
    seenBytes += chunk.length;
    const passedMs = now() - start;
    const expectedBytes = (passedMs - UPLOAD_GRACE_MS) / 1000 * UPLOAD_MIN_RATE_BYTES_PER_SECOND;
    if (seenBytes < expectedBytes) {
      throw new AppError('request_timeout', 'The upload was too slow. The file was not kept.');
    }
    if (start + passedMs >= checkAt) {
      await reauthorize();
      checkAt = now() + REAUTHORIZE_INTERVAL_MS;
    }
    yield chunk;
  }
}
