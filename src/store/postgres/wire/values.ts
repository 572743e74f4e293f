/**
 * Values in PostgreSQL's text format; only parameters that are bytes are sent as they are. Results
 * of integer types, oid and floats become numbers, bool 1 or 0 as in SQLite, bytea bytes, and all
 * other types, numeric included, strings.
 */
import { ProtocolError } from './errors.ts';

export type Value = string | number | Uint8Array | null;
/** An array is for `unnest($1::bigint[])`: it has one dimension, and may contain null. */
export type Parameter = Value | readonly Value[];
export type Row = Record<string, Field>;
type Field = string | number | Uint8Array<ArrayBuffer> | null;

export interface Column {
  readonly name: string;
  /** Reads a field, which is a part of the buffer; the value does not refer to the buffer. */
  readonly decode: (buffer: Buffer, start: number, end: number) => Field;
}

/** By the OID of the type; built-in types keep theirs for ever. */
const DECODERS: Readonly<Record<number, Column['decode']>> = {
  16: (buffer, start) => Number(buffer[start] === 0x74), // t
  17: decodeBytes,
  20: decodeInteger, 21: decodeInteger, 23: decodeInteger, 26: decodeInteger,
  700: decodeFloat, 701: decodeFloat,
};
/** After the name of a column: table, attribute, type, size, modifier, format. */
const [TYPE_AT, FORMAT_AT, COLUMN_BYTES] = [6, 16, 18] as const;
/** Integers of fewer characters are exact. */
const EXACT_CHARACTERS = 15;

/** A string is sent in text format, bytes in binary format. */
export function encodeParameter(value: Parameter): string | Uint8Array | null {
  if (typeof value === 'string' || value === null || value instanceof Uint8Array) return value;
  if (!Array.isArray(value)) return encodeElement(value as Value); // the cast: it is no array
  return `{${value.map(encodeElement).join(',')}}`;
}

/** PostgreSQL manual, "Array Input and Output Syntax". */
function encodeElement(value: Value): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') {
    return `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
  }
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  throw new TypeError(`PostgreSQL has no parameter of type ${typeof value}.`);
}

/** The columns of a RowDescription. */
export function parseColumns(body: Buffer): readonly Column[] {
  if (body.length < 2) throw malformed();
  let at = 2;
  return Array.from({ length: body.readUInt16BE(0) }, () => {
    const from = body.indexOf(0, at) + 1;
    if (from === 0 || from + COLUMN_BYTES > body.length
      || body.readInt16BE(from + FORMAT_AT) !== 0) throw malformed();
    const name = body.toString('utf8', at, from - 1);
    at = from + COLUMN_BYTES;
    return { name, decode: DECODERS[body.readInt32BE(from + TYPE_AT)] ?? decodeText };
  });
}

/**
 * The row of a DataRow.
 * @throws ProtocolError if it does not match the columns, TypeError if a value cannot be read.
 */
export function decodeRow(
  columns: readonly Column[], buffer: Buffer, start: number, end: number,
): Row {
  if (end - start < 2 || buffer.readInt16BE(start) !== columns.length) throw malformed();
  const row: Row = {};
  let at = start + 2;
  for (const { name, decode } of columns) {
    if (at + 4 > end) throw malformed();
    const length = buffer.readInt32BE(at);
    at += 4;
    if (length < -1 || at + length > end) throw malformed();
    row[name] = length === -1 ? null : decode(buffer, at, at + length);
    if (length > 0) at += length;
  }
  return row;
}

function malformed(): ProtocolError {
  return new ProtocolError('malformed row from the server');
}

function decodeText(buffer: Buffer, start: number, end: number): string {
  return buffer.toString('utf8', start, end);
}

/** NaN and Infinity have the names that JavaScript uses. */
function decodeFloat(buffer: Buffer, start: number, end: number): number {
  return Number(decodeText(buffer, start, end));
}

export function decodeInteger(buffer: Buffer, start: number, end: number): number {
  const isNegative = buffer[start] === 0x2d;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) {
    value = value * 10 + ((buffer[at] ?? 0) - 0x30);
  }
  if (end - start > EXACT_CHARACTERS && !Number.isSafeInteger(value)) {
    throw new TypeError('The server returned an integer beyond 2^53.');
  }
  return isNegative ? -value : value;
}

/** `bytea_output` has its default, hex. */
function decodeBytes(buffer: Buffer, start: number, end: number): Uint8Array<ArrayBuffer> {
  if (buffer.toString('latin1', start, start + 2) !== '\\x') {
    throw new TypeError('The server returned bytea in another format: set bytea_output to hex.');
  }
  return Buffer.from(buffer.toString('latin1', start + 2, end), 'hex');
}
