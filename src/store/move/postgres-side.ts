/**
 * A database of PostgreSQL, as one side of a move, over one connection. A transaction writes some
 * megabytes; a statement reads one page, which an index finds, so that none runs for long.
 */
import { AppError } from '../../domain/error.ts';
import { isDataError } from '../postgres/engine/failures.ts';
import { readInteger } from '../sql/sql.ts';
import type { Query } from '../postgres/sql.ts';
import type { Connection } from '../postgres/wire/connection.ts';
import { copyIn, copyOut } from '../postgres/wire/copy.ts';
import { type MovedValue, parseLine } from './copy-text.ts';
import { MOVE_BATCH_CHARACTERS, MOVE_PAGE_ROWS } from './limits.ts';
import type { Key, Side } from './move.ts';
import { type Column, listNames, type Table } from './tables.ts';

export function postgresSide(connection: Connection, query: Query): Side {
  return {
    async* read(table, columns, after) {
      // The key comes with the rows, since the next page begins after it.
      const added = table.key.filter((column) => !columns.includes(column));
      if (added.length > 0) throw new TypeError(`The key of ${table.name} is not read.`);
      let last = after;
      for (let rows = MOVE_PAGE_ROWS; rows === MOVE_PAGE_ROWS;) {
        rows = 0;
        for await (const lines of readPage(connection, table, columns, last)) {
          yield lines;
          rows += lines.length;
          last = parseLine(lines.at(-1) ?? '', columns, table.key);
        }
      }
    },
    async append({ name }, columns, lines) {
      const data = Buffer.from(`${lines.join('\n')}\n`);
      try {
        await copyIn(connection, `COPY ${name} (${listNames(columns)}) FROM STDIN`, [data]);
      } catch (error) {
        if (!isDataError(error)) throw error;
        // The cast: only errors of the server are data errors.
        throw new AppError('unavailable', `PostgreSQL rejects a row of the table ${name}: ${
          (error as Error).message}. Run doctor on the source.`, { cause: error });
      }
    },
    async findLastKey({ name, key }) {
      const order = key.map((column) => `${formatKeyColumn(column)} DESC`).join(', ');
      const [row] = await query(`
        SELECT ${listNames(key)} FROM ${name} ORDER BY ${order} LIMIT 1`);
      // The cast: no column of a key has other values.
      return row && key.map((column) => row[column.name] as MovedValue);
    },
    async count({ name }) {
      const [row = {}] = await query(`SELECT count(*) AS rows FROM ${name}`);
      return readInteger(row, 'rows');
    },
  };
}

async function* readPage(
  connection: Connection, { name, key }: Table, columns: readonly Column[], after: Key | undefined,
): AsyncGenerator<readonly string[], void, void> {
  const order = key.map(formatKeyColumn).join(', ');
  const where = after ? `WHERE (${order}) > (${after.map(formatLiteral).join(', ')})` : '';
  const stream = copyOut(connection, `COPY (
    SELECT ${listNames(columns)} FROM ${name} ${where}
    ORDER BY ${order} LIMIT ${MOVE_PAGE_ROWS}) TO STDOUT`);
  let lines: string[] = [];
  let characters = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) { // chunks of whole rows
    const text = chunk.toString('utf8', 0, chunk.length - 1);
    lines.push(...text.split('\n'));
    characters += text.length;
    if (characters < MOVE_BATCH_CHARACTERS) continue;
    yield lines;
    [lines, characters] = [[], 0];
  }
  if (lines.length > 0) yield lines;
}

/** SQLite orders text by its bytes. */
function formatKeyColumn({ name, type }: Column): string {
  return type === 'TEXT' ? `${name} COLLATE "C"` : name;
}

/** COPY takes no parameters. The connection has `standard_conforming_strings`. */
function formatLiteral(value: MovedValue): string {
  if (typeof value === 'number') return String(value);
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'::bytea`;
  return `'${String(value).replaceAll("'", "''")}'`;
}
