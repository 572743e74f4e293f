/**
 * Decodes UTF-8 that comes in chunks, with or without a byte order mark, which it drops. Unlike a
 * TextDecoder it gives the text before a fault too, so that the fault can be told by its line.
 */
import { isUtf8 } from 'node:buffer';

const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes one text. */
export class Utf8Decoder {
  /** What is not decoded: a character that has not ended, or all from a fault on. */
  #rest = Buffer.alloc(0);
  #hasBegun = false;
  #isFaulty = false;

  /** Whether something was not UTF-8: what comes later is not to be decoded. */
  get isFaulty(): boolean {
    return this.#isFaulty;
  }

  /** Whether all was decoded, so that the text may end. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }

  /** The text that a chunk completes, up to the first fault. */
  decode(chunk: Uint8Array): string {
    const bytes = this.#rest.length > 0
      ? Buffer.concat([this.#rest, chunk])
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const all = wholePart(bytes);
    this.#isFaulty = !isUtf8(all);
    const good = this.#isFaulty ? goodPart(bytes) : all;
    this.#rest = Buffer.from(bytes.subarray(good.length));
    const text = good.toString('utf8');
    const isMarked = !this.#hasBegun && text.startsWith(BYTE_ORDER_MARK);
    this.#hasBegun ||= text !== '';
    return isMarked ? text.slice(1) : text;
  }
}

/** The longest beginning that is UTF-8, found by halving. */
function goodPart(bytes: Buffer): Buffer {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isUtf8(wholePart(bytes.subarray(0, middle)))) good = middle;
    else bad = middle;
  }
  return wholePart(bytes.subarray(0, good));
}

/** All but the bytes of a last character that has not ended. */
function wholePart(bytes: Buffer): Buffer {
  for (let count = 1; count <= Math.min(3, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (byte >= 0x80 && byte < 0xc0) continue; // it goes on a character
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > count ? bytes.subarray(0, bytes.length - count) : bytes;
  }
  return bytes;
}
