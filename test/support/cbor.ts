/** Writes CBOR (RFC 8949) in the CTAP2 canonical form, but keeps the given order of keys. */

export type Encodable =
  | number | string | boolean | null | Uint8Array | readonly Encodable[]
  | ReadonlyMap<number | string, Encodable>;

export function encodeCbor(value: Encodable): Buffer {
  if (value === false) return Buffer.from([0xf4]);
  if (value === true) return Buffer.from([0xf5]);
  if (value === null) return Buffer.from([0xf6]);
  if (typeof value === 'number') {
    return value < 0 ? encodeHead(1, -1 - value) : encodeHead(0, value);
  }
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([encodeHead(3, text.length), text]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([encodeHead(2, value.length), value]);
  if (value instanceof Map) {
    // The cast: `instanceof` drops the types of keys and values.
    const entries = [...value as ReadonlyMap<number | string, Encodable>];
    return Buffer.concat([encodeHead(5, entries.length), ...entries.flat().map(encodeCbor)]);
  }
  // The cast: only a list is left.
  const items = value as readonly Encodable[];
  return Buffer.concat([encodeHead(4, items.length), ...items.map(encodeCbor)]);
}

/** The type and its argument, in as few bytes as possible. */
function encodeHead(type: number, argument: number): Buffer {
  const first = type << 5;
  if (argument < 24) return Buffer.from([first | argument]);
  const [info, bytes] = argument < 2 ** 8 ? [24, 1] : argument < 2 ** 16 ? [25, 2]
    : argument < 2 ** 32 ? [26, 4] : [27, 8];
  const head = Buffer.alloc(1 + bytes);
  head.writeUInt8(first | info);
  if (bytes === 8) head.writeBigUInt64BE(BigInt(argument), 1);
  else head.writeUIntBE(argument, 1, bytes);
  return head;
}
