/**
 * Whether the audit log is the chain that was written: each event is sealed with the one before it.
 * Events that were cut off at its end leave a chain that is whole: that cannot be seen here.
 */
import type { DatabaseSync } from 'node:sqlite';
import { chainHash, mapSealed } from '../audit.ts';
import { readBytes } from '../row.ts';
import { fault, type Finding } from './finding.ts';

const ADVICE = 'Somebody changed the log, or the disk did. Keep a copy of the whole data folder, '
  + 'compare the log with that of a backup, and find out who could write to the file.';

export function* checkAuditChain(db: DatabaseSync): Generator<Finding, void, void> {
  const rows = db.prepare(`
    SELECT n, seller_id, at, type, address, subject, hash FROM audit_event ORDER BY n`);
  let [before, last]: [Uint8Array, number] = [new Uint8Array(32), 0];
  for (const row of rows.iterate()) {
    const [event, hash] = [mapSealed(row), readBytes(row, 'hash')];
    if (event.n !== last + 1) {
      const which = event.n === last + 2 ? `${last + 1} is` : `${last + 1} to ${event.n - 1} are`;
      yield fault(`Of the audit log ${which} missing.`, ADVICE);
    } else if (!chainHash(before, event).equals(hash)) {
      yield fault(`The audit log is broken at event ${event.n}.`, ADVICE);
    }
    // From here on by what is written there: one link that is broken is told of once.
    [before, last] = [hash, event.n];
  }
}
