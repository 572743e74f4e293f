/**
 * Every state that the catalogue of a recorded run was ever in: all rows of all tables after each
 * commit. After a power cut it has to be in one of them, to the last byte of each row, and in one
 * that confirms every claim from before the cut: so each change exists once or not at all, none is
 * half done, and nothing exists that was never written.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FILE_NAME } from '../../store/sqlite/engine/read-file.ts';
import type { Receipt } from './claim.ts';
import { hashTree, NO_LOSS, writeTree } from './crash-states.ts';
import type { FileOperation } from './operation.ts';
import type { Recording } from './record.ts';

/** The header of a frame of the log (https://www.sqlite.org/walformat.html). */
const FRAME_HEADER_BYTES = 24;
const AFTER = 0.5;

/** The receipts that hold in a state, by the hash of all its rows. */
export type Commits = ReadonlyMap<string, ReadonlySet<Receipt>>;

/** `scratch` is a folder that does not exist yet. */
export async function listCommits(
  { disk, operations, receipts }: Recording, folder: string, scratch: string,
): Promise<Commits> {
  const file = join(folder, FILE_NAME);
  const needed = [file, `${file}-wal`, `${file}-journal`, join(folder, 'server.key')];
  const commits = new Map<string, ReadonlySet<Receipt>>();
  const seen = new Set<string>();
  for (const at of [-Infinity, ...findCommits(operations, file), Infinity]) {
    const tree = new Map([...disk.crash(at, NO_LOSS)].filter(([path]) => needed.includes(path)));
    const hash = hashTree(tree);
    if (seen.has(hash) || !tree.has(file)) continue;
    seen.add(hash);
    writeTree(tree, folder, scratch);
    const db = new DatabaseSync(join(scratch, FILE_NAME));
    const isTrue = ({ sql, values = [] }: Receipt): boolean =>
      sql !== undefined && db.prepare(sql).get(...values) !== undefined;
    commits.set(hashRows(db), new Set(receipts.filter(isTrue)));
    db.close();
    rmSync(scratch, { recursive: true });
  }
  return commits;
}

/** The whole content of the catalogue, as one text. */
export function hashRows(db: DatabaseSync): string {
  const hash = createHash('sha256');
  const tables = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  for (const { name } of tables) {
    hash.update(`${String(name)}\n`);
    const rows = db.prepare(`SELECT * FROM ${String(name)}`);
    rows.setReadBigInts(true);
    for (const row of rows.iterate()) hash.update(JSON.stringify(Object.values(row), writeValue));
  }
  return hash.digest('hex');
}

function writeValue(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

/** The times at which a reader could first see another commit: in the log, or by a name. */
function findCommits(operations: readonly FileOperation[], file: string): number[] {
  let isCommitting = false;
  return operations.flatMap((operation) => {
    const { kind, begin } = operation;
    if (kind === 'write' && operation.path === `${file}-wal`) {
      const { data, offset } = operation;
      const isHeader = data.length === FRAME_HEADER_BYTES && offset > 0;
      const isOver = isCommitting;
      isCommitting = isHeader && data.readUInt32BE(4) !== 0; // the size of the database after it
      return isOver ? [begin + AFTER] : [];
    }
    const path = 'to' in operation ? operation.to : kind === 'unlink' ? operation.path : '';
    return path.startsWith(file) ? [begin + AFTER] : [];
  });
}
