/**
 * Decodes UTF-8 in chunks, and drops a byte order mark. Unlike a TextDecoder it returns the text
 * before an invalid byte too, so that an error can name its line.
 */
import { isUtf8 } from 'node:buffer';

const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes one text. */
export class Utf8Decoder {
  /** Bytes that are not decoded: an incomplete character, or all from an invalid byte on. */
  #rest = Buffer.alloc(0);
  #hasStarted = false;
  #isInvalid = false;

  /** Whether an invalid byte was found. Do not decode further chunks then. */
  get isInvalid(): boolean {
    return this.#isInvalid;
  }

  /** Whether everything was decoded, so that the text may end here. */
  get isComplete(): boolean {
    return this.#rest.length === 0;
  }

  /** The text that a chunk completes, up to the first invalid byte. */
  decode(chunk: Uint8Array): string {
    const bytes = this.#rest.length > 0
      ? Buffer.concat([this.#rest, chunk])
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const complete = completePart(bytes);
    this.#isInvalid = !isUtf8(complete);
    const valid = this.#isInvalid ? validPart(bytes) : complete;
    this.#rest = Buffer.from(bytes.subarray(valid.length));
    const text = valid.toString('utf8');
    const hasMark = !this.#hasStarted && text.startsWith(BYTE_ORDER_MARK);
    this.#hasStarted ||= text !== '';
    return hasMark ? text.slice(1) : text;
  }
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

/** All bytes but those of an incomplete last character. */
function completePart(bytes: Buffer): Buffer {
  const start = bytes.findLastIndex((byte) => byte < 0x80 || byte >= 0xc0); // no continuation byte
  const first = bytes[start] ?? 0;
  const length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}
