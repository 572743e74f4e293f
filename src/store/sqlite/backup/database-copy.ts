/**
 * Shared by backup and restore: free space, progress, the completeness check, and error texts. A
 * complete copy has intact pages, indexes and references, and a gapless history for every seller;
 * only `doctor` checks stock and snapshots.
 */
import { createHash } from 'node:crypto';
import { statfsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import type { Finding } from '../../sql/check/finding.ts';
import { POSITION_SCANS } from '../../sql/check/history.ts';
import { runScan } from '../check/finding.ts';
import { checkIntegrity, checkReferences } from '../check/schema.ts';
import { openReader } from '../engine/connection.ts';
import { resultCodeOf, SQLITE_FULL } from '../engine/disk-failure.ts';
import { describeVersion } from '../schema/migrate.ts';
import { readInteger } from '../../sql/sql.ts';

/** Progress of a copy. */
export interface CopyState {
  readonly bytes: number;
  readonly sizeBytes: number;
}

export interface CatalogueFacts {
  /** Schema version. */
  readonly version: number;
  readonly sellers: number;
  readonly products: number;
  /** Sum of all sellers' positions. */
  readonly changes: number;
  /** Hash of all sellers' positions. */
  readonly mark: string;
}

/** Reads one snapshot, if the connection is in a transaction. */
export function readFacts(db: DatabaseSync): CatalogueFacts {
  const mark = createHash('sha256');
  let [sellers, changes] = [0, 0];
  for (const row of db.prepare('SELECT id, position FROM seller ORDER BY id').iterate()) {
    const position = readInteger(row, 'position');
    mark.update(`${readInteger(row, 'id')} ${position}\n`);
    sellers += 1;
    changes += position;
  }
  const products = db.prepare('SELECT count(*) AS products FROM product').get() ?? {};
  return {
    version: describeVersion(db).version, sellers, products: readInteger(products, 'products'),
    changes, mark: mark.digest('hex'),
  };
}

/**
 * Reads a whole copy; errors call it `name`.
 * @throws AppError `unavailable` if it is incomplete
 */
export function checkCopy(file: string, name: string): CatalogueFacts {
  using db = openReader(file);
  for (const check of [checkIntegrity, checkReferences, checkHistory]) {
    for (const { what } of check(db)) {
      throw new AppError('unavailable', `${name} is damaged: ${what}`);
    }
  }
  return readFacts(db);
}

function checkHistory(db: DatabaseSync): Iterable<Finding> {
  return POSITION_SCANS.values().flatMap((scan) => runScan(db, scan));
}

/** @throws AppError `storage_full` before the copy fills a disk that others need */
export function assertRoom(folder: string, bytes: number, reserveBytes = 0): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= bytes + reserveBytes) return;
  const [needed, reserve, free] = [bytes, reserveBytes, bavail * bsize].map((count) =>
    Math.ceil(count / 2 ** 20));
  const server = reserve ? `, and the server ${reserve} MiB beside it` : '';
  const text = `The copy needs ${needed} MiB${server}; ${folder} has ${free} MiB free.`;
  throw new AppError('storage_full', `${text} Nothing was written.`);
}

/** Explains why `file` was not written; nothing of it is left. */
export function explainCopyError(error: unknown, file: string): unknown {
  const code = resultCodeOf(error);
  if (code === SQLITE_FULL || isSystemError(error, 'ENOSPC', 'EDQUOT')) {
    const text = `The disk has no room for ${file}. No partial file was left.`;
    return new AppError('storage_full', text, { cause: error });
  }
  if (code === 0 || !(error instanceof Error)) return error;
  const text = `${file} was not written: ${error.message}. Run "doctor" for details.`;
  return new AppError('unavailable', text, { cause: error });
}
