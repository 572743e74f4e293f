/**
 * A move between two databases: copies tables in the order of their keys, so that what is missing
 * after an interruption is what follows the last key, and proves that both have the same rows. It
 * never changes the source.
 */
import { createHash } from 'node:crypto';
import { AppError } from '../../domain/error.ts';
import { type MovedValue, parseLine } from './copy-text.ts';
import type { Column, Table } from './tables.ts';

/** Values of a table's primary key. */
export type Key = readonly MovedValue[];

/** One of the databases. */
export interface Side {
  /** The values of these columns as lines, in the order of the key, from the row after `after`. */
  read(table: Table, columns: readonly Column[], after?: Key): AsyncIterable<readonly string[]>;
  /** Writes all of these rows, or none. */
  append(table: Table, columns: readonly Column[], lines: readonly string[]): Promise<void>;
  findLastKey(table: Table): Promise<Key | undefined>;
  count(table: Table): Promise<number>;
}

export interface MoveProgress {
  readonly phase: 'copy' | 'proof';
  readonly table: string;
  /** Those of this run. */
  readonly rows: number;
  /** Those that this run has to copy, or to prove: of all tables. */
  readonly totalRows: number;
}

export interface ProvenTable {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 of its lines, in hexadecimal digits. */
  readonly digest: string;
}

interface Move {
  readonly source: Side;
  readonly target: Side;
  readonly tables: readonly Table[];
  readonly totalRows: number;
  readonly onProgress: (progress: MoveProgress) => void;
}

/** Copies the rows that the target lacks, with all of its columns. */
export async function copyTables(move: Move): Promise<void> {
  const { source, target, tables, onProgress } = move;
  let { totalRows } = move;
  let rows = 0;
  for (const table of tables) {
    const columns = [...table.columns, ...table.additions];
    const lastKey = await target.findLastKey(table);
    if (lastKey !== undefined) totalRows -= await target.count(table);
    for await (const lines of source.read(table, columns, lastKey)) {
      onProgress({ phase: 'copy', table: table.name, rows, totalRows });
      await target.append(table, columns, lines);
      rows += lines.length;
    }
    onProgress({ phase: 'copy', table: table.name, rows, totalRows });
  }
}

/** @throws AppError `unavailable` that names the first table and row that differ */
export async function proveTables(move: Move): Promise<readonly ProvenTable[]> {
  const { source, target, tables, totalRows, onProgress } = move;
  const proven: ProvenTable[] = [];
  let rows = 0;
  for (const table of tables) {
    const note = (count: number): void => {
      rows += count;
      onProgress({ phase: 'proof', table: table.name, rows, totalRows });
    };
    const [sourceDigest, targetDigest] = await Promise.all([
      digest(source, table, note), digest(target, table),
    ]);
    if (sourceDigest.digest !== targetDigest.digest) throw await differs(move, table);
    proven.push({ table: table.name, ...sourceDigest });
  }
  return proven;
}

async function digest(side: Side, table: Table, note: (count: number) => void = () => {}) {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const lines of side.read(table, table.columns)) {
    hash.update(`${lines.join('\n')}\n`);
    rows += lines.length;
    note(lines.length);
  }
  return { rows, digest: hash.digest('hex') };
}

async function differs({ source, target }: Move, table: Table): Promise<AppError> {
  // Closed at the end: rows that are left unread would delay the next statement.
  await using sourceLines = listLines(source, table);
  await using targetLines = listLines(target, table);
  let [one, other]: (string | undefined)[] = [];
  do [one, other] = [(await sourceLines.next()).value, (await targetLines.next()).value];
  while (one !== undefined && one === other);
  const line = one ?? other;
  const row = line === undefined ? '' : `, first in the row ${describeKey(table, line)}`;
  return new AppError('unavailable', `The table ${table.name} differs between source and target${
    row}. The target remains marked as unfinished, and the source is unchanged. Make sure that `
    + 'nothing else writes to either, and run the command again: it copies everything again.');
}

async function* listLines(side: Side, table: Table): AsyncGenerator<string, undefined, void> {
  for await (const lines of side.read(table, table.columns)) yield* lines;
  return undefined;
}

/** Such as `seller_id=7, position=12`. */
function describeKey({ key, columns }: Table, line: string): string {
  const values = parseLine(line, columns, key);
  return key.map(({ name }, index) => {
    const value = values[index];
    return `${name}=${value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value}`;
  }).join(', ');
}

/**
 * Identifies a source as it is now: its server key, the positions of its sellers, and the numbers
 * of its rows. A move that was interrupted continues only from the same one.
 */
export async function readState(
  source: Side, tables: readonly Table[], keyCheck: string,
): Promise<{ readonly state: Buffer; readonly totalRows: number }> {
  const hash = createHash('sha256').update(`${keyCheck}\n`);
  let totalRows = 0;
  for (const table of tables) {
    const count = await source.count(table);
    totalRows += count;
    hash.update(`${table.name} ${count}\n`);
  }
  const seller = tables.find(({ name }) => name === 'seller');
  const columns = seller?.columns.filter(({ name }) => name === 'id' || name === 'position') ?? [];
  if (!seller || columns.length !== 2) throw new TypeError('There is no table of sellers.');
  for await (const lines of source.read(seller, columns)) hash.update(lines.join('\n'));
  return { state: hash.digest(), totalRows };
}
