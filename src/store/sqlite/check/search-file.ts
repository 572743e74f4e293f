/**
 * Checks that the search database agrees with the catalogue where both have the same position.
 * Reports no faults: the server can rebuild the search database at any time.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openReader } from '../engine/connection.ts';
import { hasJournal } from '../files/hot-journal.ts';
import { readInteger, readText } from '../../sql/row.ts';
import { isCurrentProjection } from '../search/projection-file.ts';
import { fillIn, type Findings, warning } from '../../sql/check/finding.ts';
import { isUnreadable } from './finding.ts';

const REBUILD = 'Stop the server, delete search.db, search.db-wal and search.db-shm, and start it '
  + 'again: it rebuilds them.';

export function* checkSearchFile(catalogue: DatabaseSync, folder = ''): Findings {
  const file = join(folder, 'search.db');
  if (!existsSync(file)) return; // nobody has searched yet
  try {
    yield* compare(catalogue, file);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield warning(`The search database cannot be read: ${error.message}.`, REBUILD);
  }
}

function* compare(catalogue: DatabaseSync, file: string): Findings {
  // A journal is left by the first write: later ones use a write-ahead log.
  using search = hasJournal(file) ? undefined : openReader(file);
  if (!search || !isCurrentProjection(search)) {
    yield warning('The search database is incomplete, or of another version of the server.',
      'Nothing is lost and no action is needed: the server rebuilds it at the next search. You can '
        + 'also delete it while no server runs.');
    return;
  }
  const [damage] = search.prepare('PRAGMA quick_check(1)').all();
  if (damage && damage['quick_check'] !== 'ok') {
    yield warning('The search database is damaged.', REBUILD);
    return;
  }
  const findTotals = catalogue.prepare(`
    SELECT count(*) AS products, CAST(coalesce(sum(p.stock), 0) AS TEXT) AS units
    FROM seller AS s JOIN product AS p ON p.seller_id = s.id WHERE s.id = ? AND s.position = ?
      AND p.archived = 0
    HAVING count(*) > 0`);
  const sellers = search.prepare(`
    SELECT seller_id, position, products, units FROM seller WHERE built_to IS NULL`);
  for (const row of sellers.iterate()) {
    const totals = findTotals.get(readInteger(row, 'seller_id'), readInteger(row, 'position'));
    const isSame = !totals || (totals['products'] === row['products']
      && readText(totals, 'units') === readText(row, 'units'));
    if (isSame) continue;
    yield warning(fillIn('Searches of seller {seller} miss some products.', row), REBUILD);
  }
}
