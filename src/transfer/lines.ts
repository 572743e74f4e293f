/** Splits bytes into lines. */
import { LINE_LIMIT_BYTES } from './limits.ts';
import { AppError } from '../domain/error.ts';

/** The lines, without the line feeds that end them. @throws AppError `body_too_large` */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, void> {
  let begun: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([begun, chunk]);
    let start = 0;
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    begun = bytes.subarray(start);
    if (begun.length <= LINE_LIMIT_BYTES) continue;
    throw new AppError('body_too_large', 'A line is too long to be read.');
  }
  if (begun.length > 0) yield begun;
}
