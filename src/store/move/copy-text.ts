/**
 * Rows as lines of text: the format that PostgreSQL's COPY reads and writes (PostgreSQL manual,
 * "COPY", Text Format). Each value has exactly one form, so equal rows are equal lines, whichever
 * database they come from.
 */
import type { Column } from './tables.ts';

export type MovedValue = number | string | Uint8Array | null;

const NULL = '\\N';
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v',
};
const CHARACTERS = new Map(Object.entries(ESCAPES).map(([character, escape]) =>
  [escape, character]));
const SPECIAL = /[\\\b\f\n\r\t\v]/;
const ALL_SPECIAL = /[\\\b\f\n\r\t\v]/g;

export function formatLine(values: readonly unknown[]): string {
  return values.map(formatValue).join('\t'); // unlike `+=`, it leaves no parts behind
}

/** The values of some columns of a line, which has all of `columns`. */
export function parseLine(
  line: string, columns: readonly Column[], subset: readonly Column[] = columns,
): readonly MovedValue[] {
  const fields = line.split('\t');
  return subset.map((column) => {
    const index = columns.indexOf(column);
    const field = fields[index];
    if (field === undefined || fields.length !== columns.length) {
      throw new TypeError(`A row has no column ${column.name}.`);
    }
    return parseValue(field, column);
  });
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') {
    if (!SPECIAL.test(value)) return value;
    return value.replaceAll(ALL_SPECIAL, (character) => ESCAPES[character] ?? '');
  }
  if (typeof value === 'number') return String(value);
  if (value === null) return NULL;
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`;
  throw new TypeError('SQLite returned a value of an unknown type.');
}

function parseValue(field: string, { type }: Column): MovedValue {
  if (field === NULL) return null;
  if (type === 'INTEGER') return Number(field);
  const text = field.includes('\\')
    ? field.replaceAll(/\\./g, (escape) => CHARACTERS.get(escape) ?? escape) : field;
  return type === 'BLOB' ? Buffer.from(text.slice('\\x'.length), 'hex') : text;
}
