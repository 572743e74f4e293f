/**
 * Import records in SQLite. Each mutation of an import writes the record in its own transaction, so
 * counts and positions are exact even if the server stops in the middle.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  IMPORT_KINDS, type ImportCounts, type ImportRecord, type RevertedChanges,
} from '../../../domain/catalogue/import.ts';
import { type ImportId, type KeyId, nextId, type SellerId } from '../../../domain/id.ts';
import type { ImportStore } from '../../import-store.ts';
import type { ChangeActor } from '../../rules/history.ts';
import { addCounts } from '../../rules/import-counts.ts';
import type { WriteContext } from '../../write.ts';
import type { QueriesOf } from '../engine/port-methods.ts';
import { readId, readInteger, readOptional, readText, type Row } from '../engine/row.ts';
import type { PositionAllocator } from './position-allocator.ts';

/** The actor of a mutation, and the part of an import that it writes. */
export type WriteActor = Omit<WriteContext, 'idempotency'>;

/** A record while one mutation writes it. */
interface OpenRecord {
  /** The actor of the mutation's changes. */
  readonly actor: ChangeActor;
  /** Adds the mutation's counts and positions, and returns the id of its import. */
  close(counts: ImportCounts): ImportId | undefined;
}

/**
 * Returns a function that opens the record of a mutation's import, creating it in the first part.
 * An import of a single part that changes nothing has no record.
 */
export function prepareImportRecords(db: DatabaseSync, positions: PositionAllocator) {
  const findLast = db.prepare('SELECT max(id) AS id FROM import WHERE seller_id = ?');
  const insert = db.prepare(`
    INSERT INTO import (seller_id, id, kind, key_id, actor, address, file_name, mode, source,
      reverts, started_at, finished_at, counts, first_position, last_position)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const findCounts = db.prepare('SELECT counts FROM import WHERE seller_id = ? AND id = ?');
  const update = db.prepare(`
    UPDATE import SET finished_at = :finishedAt, counts = :counts,
      first_position = coalesce(first_position, :first),
      last_position = coalesce(:last, last_position)
    WHERE seller_id = :sellerId AND id = :id`);

  function takeId(sellerId: SellerId, at: number): ImportId {
    const last = readOptional(findLast.get(sellerId) ?? { id: null }, 'id', readInteger);
    // The origin of every ImportId.
    return nextId(last ?? 0, at) as ImportId;
  }

  return ({ import: part, ...actor }: WriteActor, now: number): OpenRecord => {
    if (!part) return { actor, close: () => undefined };
    const { sellerId, keyId, actorName } = actor;
    const { at, position: next } = positions.next(sellerId, now);
    const { record } = part;
    const importId = part.id ?? takeId(sellerId, at);
    return {
      actor: { ...actor, importId },
      close(counts) {
        const position = positions.of(sellerId);
        const [first, last] = position < next ? [null, null] : [next, position];
        const finishedAt = part.isLast ? at : null;
        if (part.id === undefined) {
          if (part.isLast && last === null) return undefined; // it changed nothing
          insert.run(
            sellerId, importId, record.kind, keyId, actorName ?? null, record.address || null,
            record.fileName ?? null, record.mode ?? null, record.source ?? null,
            record.reverts ? JSON.stringify(record.reverts) : null, at, finishedAt,
            JSON.stringify(addCounts(counts, part.counts)), first, last,
          );
          return importId;
        }
        const row = findCounts.get(sellerId, importId);
        if (!row) return importId; // removed with the history
        const total = addCounts(readCounts(row), addCounts(counts, part.counts));
        update.run({
          sellerId, id: importId, finishedAt, counts: JSON.stringify(total), first, last,
        });
        return importId;
      },
    };
  };
}

export function importQueries(db: DatabaseSync) {
  const columns = `id, kind, key_id, actor, address, file_name, mode, source, reverts, started_at,
    finished_at, counts, first_position, last_position`;
  const find = db.prepare(`SELECT ${columns} FROM import WHERE seller_id = ? AND id = ?`);
  const list = db.prepare(`
    SELECT ${columns} FROM import
    WHERE seller_id = :sellerId AND id < :before AND (:kind IS NULL OR kind = :kind)
    ORDER BY id DESC LIMIT :limit`);
  return {
    findImport(sellerId, id) {
      const row = find.get(sellerId, id);
      return row && mapImport(sellerId, row);
    },
    listImports(sellerId, { before = Number.MAX_SAFE_INTEGER, kind, limit }) {
      return list.all({ sellerId, before, kind: kind ?? null, limit })
        .map((row) => mapImport(sellerId, row));
    },
  } satisfies QueriesOf<ImportStore>;
}

function mapImport(sellerId: SellerId, row: Row): ImportRecord {
  const kind = IMPORT_KINDS.find((known) => known === row['kind']);
  if (!kind) throw new TypeError(`"${readText(row, 'kind')}" is not a kind of import.`);
  const reverts = readOptional(row, 'reverts', readText);
  return {
    sellerId, kind,
    id: readId<ImportId>(row, 'id'),
    keyId: readId<KeyId>(row, 'key_id'),
    actor: readOptional(row, 'actor', readText),
    address: readOptional(row, 'address', readText),
    fileName: readOptional(row, 'file_name', readText),
    mode: readOptional(row, 'mode', readText),
    source: readOptional(row, 'source', readText),
    // The column holds what `close` wrote.
    reverts: reverts === undefined ? undefined : JSON.parse(reverts) as RevertedChanges,
    startedAt: readInteger(row, 'started_at'),
    finishedAt: readOptional(row, 'finished_at', readInteger),
    counts: readCounts(row),
    firstPosition: readOptional(row, 'first_position', readInteger),
    lastPosition: readOptional(row, 'last_position', readInteger),
  };
}

function readCounts(row: Row): ImportCounts {
  // The column holds what `close` wrote.
  return JSON.parse(readText(row, 'counts')) as ImportCounts;
}
