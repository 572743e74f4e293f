/**
 * Whether the projection that searches are answered from agrees with the catalogue, where it has
 * come to the same position. Nothing in it is a fault: it can be made again at any time.
 */
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { formatSellerId, type SellerId } from '../../../domain/id.ts';
import { openReader } from '../engine/connection.ts';
import { hasJournal } from '../files/hot-journal.ts';
import { readInteger, readText } from '../engine/row.ts';
import { isCurrentProjection } from '../search/projection-file.ts';
import { type Finding, isUnreadable, warning } from './finding.ts';

const ADVICE = 'Stop the server, delete search.db, search.db-wal and search.db-shm, and start it '
  + 'again: it builds them anew.';

const NOTHING_TO_DO = 'Nothing is lost, and nothing has to be done: the server builds it again at '
  + 'the next search. It may also be deleted while no server runs.';

export function* checkSearchFile(db: DatabaseSync, file: string): Generator<Finding, void, void> {
  if (!existsSync(file)) return; // no search was asked for yet
  if (hasJournal(file)) { // of its first write: later ones have a write-ahead log
    yield incomplete();
    return;
  }
  try {
    yield* compare(db, file);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield warning(`The file of searches cannot be read: ${error.message}.`, ADVICE);
  }
}

function* compare(db: DatabaseSync, file: string): Generator<Finding, void, void> {
  const find = db.prepare(`
    SELECT count(*) AS products, CAST(coalesce(sum(p.stock), 0) AS TEXT) AS units
    FROM seller AS s JOIN product AS p ON p.seller_id = s.id WHERE s.id = ? AND s.position = ?
    HAVING count(*) > 0`);
  const search = openReader(file);
  try {
    if (!isCurrentProjection(search)) {
      yield incomplete();
      return;
    }
    const [damage] = search.prepare('PRAGMA quick_check(1)').all();
    if (damage && damage['quick_check'] !== 'ok') {
      yield warning('The file of searches is damaged.', ADVICE);
      return;
    }
    const told = search.prepare(`
      SELECT seller_id, position, products, units FROM seller WHERE built_to IS NULL`);
    for (const row of told.iterate()) {
      const id = readInteger(row, 'seller_id');
      const sums = find.get(id, readInteger(row, 'position'));
      const isSame = !sums || (sums['products'] === row['products']
        && readText(sums, 'units') === readText(row, 'units'));
      // The column holds what this brand means.
      const seller = formatSellerId(id as SellerId);
      if (!isSame) yield warning(`Searches of seller ${seller} miss some products.`, ADVICE);
    }
  } finally {
    search.close();
  }
}

function incomplete(): Finding {
  const what = 'The file of searches is incomplete, or of another version of the server.';
  return warning(what, NOTHING_TO_DO);
}
