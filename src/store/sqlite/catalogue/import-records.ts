/** Import records in SQLite as mutations write them. */
import type { DatabaseSync } from 'node:sqlite';
import type { ImportRows } from '../../rules/mutations/import-records.ts';
import { encodeImport, readCounts } from '../../sql/history/import-queries.ts';
import { readInteger, readOptional } from '../../sql/row.ts';

export function prepareImportRows(db: DatabaseSync): ImportRows {
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
  return {
    findLastId: (sellerId) =>
      readOptional(findLast.get(sellerId) ?? { id: null }, 'id', readInteger) ?? 0,
    insert(record) {
      insert.run(...encodeImport(record));
    },
    findCounts(sellerId, id) {
      const row = findCounts.get(sellerId, id);
      return row && readCounts(row);
    },
    update(sellerId, id, { finishedAt, counts, firstPosition, lastPosition }) {
      update.run({
        sellerId, id, finishedAt: finishedAt ?? null, counts: JSON.stringify(counts),
        first: firstPosition ?? null, last: lastPosition ?? null,
      });
    },
  };
}
