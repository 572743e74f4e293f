/**
 * Decodes UTF-8 in chunks and drops a byte order mark. Unlike TextDecoder it also returns the text
 * before an invalid byte, so that an error can name its line.
 */
import { isUtf8 } from 'node:buffer';

/** Yields the text of each chunk; at an invalid byte it yields undefined and ends. */
export async function* decodeUtf8(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | undefined, void, void> {
  /** An incomplete character. */
  let incomplete = Buffer.alloc(0);
  let hasStarted = false;
  for await (const chunk of chunks) {
    const bytes = incomplete.length > 0 ? Buffer.concat([incomplete, chunk])
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const complete = completePart(bytes);
    const isValid = isUtf8(complete);
    const valid = isValid ? complete : validPart(bytes);
    const text = valid.toString('utf8');
    yield hasStarted ? text : text.replace(/^\uFEFF/, '');
    hasStarted ||= text !== '';
    incomplete = Buffer.from(bytes.subarray(valid.length));
    if (!isValid) break;
  }
  if (incomplete.length > 0) yield undefined;
}

/** The longest prefix that is UTF-8, by binary search. */
function validPart(bytes: Buffer): Buffer {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    if (isUtf8(completePart(bytes.subarray(0, middle)))) valid = middle;
    else invalid = middle;
  }
  return completePart(bytes.subarray(0, valid));
}

/** All bytes except an incomplete last character. */
function completePart(bytes: Buffer): Buffer {
  const start = bytes.findLastIndex((byte) => byte < 0x80 || byte >= 0xc0); // no continuation byte
  const first = bytes[start] ?? 0;
  const length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}
