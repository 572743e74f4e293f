/**
 * High-water marks: small files that say how far a catalogue has come. If an older copy takes its
 * place, such as one made with `cp`, it is behind its mark when it is next opened, and begins a
 * generation. A mark says what is durable already and is not flushed, so a crash leaves it behind
 * the catalogue, never ahead of it.
 */
import { createHash } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { toGeneration } from '../../../domain/revision.ts';
import { readInteger } from '../../sql/sql.ts';
import { HIGH_WATER_INTERVAL_MS } from '../limits.ts';
import { openReader, openWriter } from './connection.ts';
import { rollBackHotJournal } from '../files/hot-journal.ts';
import { findGeneration, putGeneration, readCursorKey } from './database-file.ts';

export const HIGH_WATER_FILE_NAME = 'high-water.json';
/** All marks have this length, so that one is written over the other in one piece. */
const MARK_BYTES = 128;

type Mark = ReturnType<typeof readMark>;

export function readMark(db: DatabaseSync) {
  return {
    catalogue: createHash('sha256').update(readCursorKey(db)).digest('hex').slice(0, 32),
    generation: toGeneration(findGeneration(db)),
    changes: countChanges(db) + readInteger(db.prepare(COUNT_DELETED).get() ?? {}, 'changes'),
  };
}

/** Changes of deleted sellers: with them, the total never decreases. */
const COUNT_DELETED = 'SELECT coalesce(sum(position), 0) AS changes FROM deleted_seller';

/** How many changes all existing sellers have made. Not filtered by seller_id. */
export function countChanges(db: DatabaseSync): number {
  const row = db.prepare('SELECT coalesce(sum(position), 0) AS changes FROM seller').get() ?? {};
  return readInteger(row, 'changes');
}

/** Begins a generation if the catalogue is behind a mark, or its mark is of another generation. */
export async function checkHighWater(
  catalogue: string, files: readonly string[],
): Promise<void> {
  rollBackHotJournal(catalogue); // a reader cannot
  using reader = openReader(catalogue);
  if (!isBehind(reader, files)) return;
  using db = openWriter(catalogue);
  db.exec('BEGIN IMMEDIATE');
  // Another process may just have begun one.
  if (isBehind(db, files)) {
    putGeneration(db);
    await writeMark(files, readMark(db)).catch(() => {}); // then the next start begins another
  }
  db.exec('COMMIT');
}

function isBehind(db: DatabaseSync, files: readonly string[]): boolean {
  const { catalogue, generation, changes } = readMark(db);
  return files.map(findMark).some((mark) => mark?.catalogue === catalogue
    && (mark.generation !== generation || mark.changes > changes));
}

/** Undefined without a readable file, and for one that a power cut has emptied. */
function findMark(file: string): Mark | undefined {
  try {
    // The cast: its members are only compared.
    return JSON.parse(readFileSync(file, 'utf8')) as Mark;
  } catch {
    return undefined;
  }
}

async function writeMark(files: readonly string[], mark: Mark): Promise<void> {
  const flag = constants.O_WRONLY | constants.O_CREAT; // keeps the old one until it is replaced
  const text = JSON.stringify(mark).padEnd(MARK_BYTES);
  for (const file of files) await writeFile(file, text, { flag, mode: 0o600 });
}

/** Keeps the marks of a catalogue that this process has open. */
export function openHighWater(read: () => Mark, files: readonly string[]) {
  let highest = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  async function write(): Promise<void> {
    timer = undefined;
    try {
      const mark = read();
      // With fewer changes than before, another file has replaced the catalogue.
      if (mark.changes < highest) return;
      highest = mark.changes;
      await writeMark(files, mark);
    } catch {
      // Such as a failing disk: the mark stays behind until a commit succeeds again.
    }
  }
  const noteCommit = (): void => {
    timer ??= setTimeout(() => { writing = write(); }, HIGH_WATER_INTERVAL_MS).unref();
  };
  noteCommit(); // there may be no mark yet
  return {
    noteCommit,
    /** Call it before closing the reader, which it reads at once. */
    async close(): Promise<void> {
      clearTimeout(timer);
      await Promise.all([writing, write()]);
    },
  };
}
