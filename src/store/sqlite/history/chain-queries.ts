/**
 * Version chains in SQLite: each has the position of the previous change of its product. Changes
 * are read one by one, since a recursive query takes several times as long to set up.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import type { ChainedChange } from '../../rules/history.ts';
import type { FoundSnapshot, HistoryQueries, PastVersion } from '../../rules/history/queries.ts';
import {
  CHANGE_COLUMNS, mapChange, mapVersion, VERSION_COLUMNS,
} from '../../sql/history/changes.ts';
import { readInteger, readOptional, readText } from '../../sql/sql.ts';

/** Fixed cost of following a chain, in versions. */
const CHAIN_COST_VERSIONS = 8;

export function chainQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT ${CHANGE_COLUMNS}, prior FROM change WHERE seller_id = ? AND position = ?`);

  function findChained(sellerId: SellerId, position: number): ChainedChange | undefined {
    const row = find.get(sellerId, position);
    return row && {
      ...mapChange(sellerId, row), previousPosition: readOptional(row, 'prior', readInteger),
    };
  }

  return {
    findVersions: prepareFindVersions(db),
    findSnapshots: prepareFindSnapshots(db),
    listChains(sellerId, chains, limit) {
      const results: ChainedChange[][] = [];
      let budget = limit;
      for (const { from, first } of chains) {
        const changes: ChainedChange[] = [];
        for (let next: number | undefined = from; next !== undefined && budget > 0; budget -= 1) {
          const change = findChained(sellerId, next);
          if (!change) break;
          changes.push(change);
          next = next > first ? change.previousPosition : undefined;
        }
        results.push(changes);
        if (budget <= 0) break;
      }
      return results;
    },
  } satisfies Partial<HistoryQueries>;
}

function prepareFindVersions(db: DatabaseSync): HistoryQueries['findVersions'] {
  const find = db.prepare(`
    SELECT ${VERSION_COLUMNS} FROM change WHERE seller_id = ? AND position = ?`);
  const step = db.prepare('SELECT prior, type FROM change WHERE seller_id = ? AND position = ?');
  return (sellerId, from, position, limit) => {
    const versions: (PastVersion | undefined)[] = [];
    let budget = limit;
    for (const start of from) {
      let last = start;
      let isEdited = false;
      for (budget -= CHAIN_COST_VERSIONS; last > position && budget > 0; budget -= 1) {
        const row = step.get(sellerId, last);
        const prior = row && readOptional(row, 'prior', readInteger);
        if (!row || prior === undefined) break;
        isEdited ||= row['type'] === 'created' || row['type'] === 'updated';
        last = prior;
      }
      const row = find.get(sellerId, last);
      const version = row && mapVersion(row, position, isEdited);
      versions.push(version);
      // All further products are newer, too.
      if (budget <= 0 || (version?.isFirst && last > position)) break;
    }
    return versions;
  };
}

function prepareFindSnapshots(db: DatabaseSync): HistoryQueries['findSnapshots'] {
  const step = db.prepare('SELECT prior, product FROM change WHERE seller_id = ? AND position = ?');
  return (sellerId, from, limit) => {
    const snapshots: (FoundSnapshot | undefined)[] = [];
    let budget = limit;
    for (const start of from) {
      let row = step.get(sellerId, start);
      let position = start;
      let product: string | undefined;
      let isEnd = false;
      for (budget -= 1; row && product === undefined && !isEnd && budget > 0; budget -= 1) {
        const prior = readOptional(row, 'prior', readInteger);
        isEnd = prior === undefined;
        if (prior === undefined) break;
        row = step.get(sellerId, prior);
        position = prior;
        product = row && readOptional(row, 'product', readText);
      }
      snapshots.push(row && { position, product, isEnd: isEnd || product !== undefined });
      if (budget <= 0) break;
    }
    return snapshots;
  };
}
