/**
 * Reads CBOR (RFC 8949), as far as WebAuthn uses it: integers, byte and text strings, arrays, maps,
 * booleans and null. Rejects what the CTAP2 canonical form forbids: indefinite lengths, lengths and
 * integers that are longer than necessary, and duplicate keys; also tags, floats and invalid UTF-8.
 * It does not check the order of keys, because clients get it wrong and nothing here depends on it.
 * Size, depth and number of items are limited, and no memory is reserved for a declared length.
 */
import { AppError } from '../../error.ts';
import { CBOR_DEPTH_LIMIT, CBOR_ITEMS_LIMIT, CBOR_LIMIT_BYTES } from '../../limits.ts';

export type CborKey = number | string;
export type CborValue =
  | number | string | boolean | null | Uint8Array | readonly CborValue[] | CborMap;
export type CborMap = ReadonlyMap<CborKey, CborValue>;

/** The major types of RFC 8949, section 3.1. */
const [POSITIVE, NEGATIVE, BYTES, TEXT, ARRAY, MAP, , SIMPLE] = [0, 1, 2, 3, 4, 5, 6, 7];
const SIMPLE_VALUES: ReadonlyMap<number, CborValue> =
  new Map([[20, false], [21, true], [22, null]]);
/** The additional information of an argument in 1 byte, and in 8 (section 3). */
const [ONE_BYTE, EIGHT_BYTES] = [24, 27];

/** Reads one item that is all of `bytes`. @throws AppError `invalid_data` */
export function parseCbor(bytes: Uint8Array): CborValue {
  const { value, rest } = readCbor(bytes);
  if (rest.length > 0) throw invalidCbor('has bytes after its end');
  return value;
}

/** Reads the first item; `rest` is what follows. @throws AppError `invalid_data` */
export function readCbor(
  bytes: Uint8Array,
): { readonly value: CborValue; readonly rest: Uint8Array } {
  if (bytes.length > CBOR_LIMIT_BYTES) throw invalidCbor('is too long');
  const reader = new Reader(bytes);
  const value = reader.readItem(0);
  return { value, rest: bytes.subarray(reader.offset) };
}

class Reader {
  readonly #bytes: Uint8Array;
  #items = 0;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  readItem(depth: number): CborValue {
    this.#items += 1;
    if (this.#items > CBOR_ITEMS_LIMIT) throw invalidCbor('has too many items');
    if (depth > CBOR_DEPTH_LIMIT) throw invalidCbor('is nested too deeply');
    const [first = 0] = this.#take(1);
    const [type, info] = [first >> 5, first & 31];
    if (type === SIMPLE) return readSimple(info);
    const argument = this.#readArgument(info);
    switch (type) {
      case POSITIVE: return argument;
      case NEGATIVE: return toSafeInteger(-1 - argument);
      case BYTES: return this.#take(argument);
      case TEXT: return decodeText(this.#take(argument));
      case ARRAY: return this.#readArray(argument, depth);
      case MAP: return this.#readMap(argument, depth);
      default: throw invalidCbor('has a tag');
    }
  }

  #readArray(length: number, depth: number): readonly CborValue[] {
    const values: CborValue[] = [];
    // Each item takes a byte at least, so a false length soon ends the loop.
    for (let n = 0; n < length; n += 1) values.push(this.readItem(depth + 1));
    return values;
  }

  #readMap(length: number, depth: number): CborMap {
    const map = new Map<CborKey, CborValue>();
    for (let n = 0; n < length; n += 1) {
      const key = this.readItem(depth + 1);
      if (typeof key !== 'number' && typeof key !== 'string') {
        throw invalidCbor('has a key that is neither a number nor a text');
      }
      if (map.has(key)) throw invalidCbor('has a duplicate key');
      map.set(key, this.readItem(depth + 1));
    }
    return map;
  }

  /** The number after the type: a value, or a length. */
  #readArgument(info: number): number {
    if (info < ONE_BYTE) return info;
    if (info > EIGHT_BYTES) throw invalidCbor('has an indefinite or reserved length');
    const length = 2 ** (info - ONE_BYTE);
    const argument = this.#take(length).reduce((number, byte) => number * 2 ** 8 + byte, 0);
    const minimum = length === 1 ? ONE_BYTE : 2 ** (4 * length);
    if (argument < minimum) throw invalidCbor('has a number in more bytes than necessary');
    return toSafeInteger(argument);
  }

  #take(length: number): Uint8Array {
    const end = this.offset + length;
    if (end > this.#bytes.length) throw invalidCbor('ends early');
    const bytes = this.#bytes.subarray(this.offset, end);
    this.offset = end;
    return bytes;
  }
}

function readSimple(info: number): CborValue {
  const value = SIMPLE_VALUES.get(info);
  if (value === undefined) throw invalidCbor('has a float or an unknown simple value');
  return value;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidCbor('has a text that is not UTF-8');
  }
}

function toSafeInteger(number: number): number {
  if (Number.isSafeInteger(number)) return number;
  throw invalidCbor('has a number that is too large');
}

function invalidCbor(reason: string): AppError {
  return new AppError('invalid_data', `The CBOR data ${reason}.`);
}
