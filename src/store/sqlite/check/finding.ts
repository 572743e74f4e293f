/** Runs checks on SQLite. They are generators, so that one with too many faults ends early. */
import type { DatabaseSync } from 'node:sqlite';
import {
  type Check, collectFindings, type Dialect, type Finding, type Findings, type Scan, unreadable,
} from '../../sql/check/finding.ts';

/** All sellers at a time. */
const DIALECT: Dialect = {
  of: () => 'TRUE',
  isJson: (column) => `json_valid(${column})`,
  members: (column) => `json_each(${column})`,
};

/** One that does not wait. */
export interface SqliteCheck extends Check {
  find(): readonly Finding[];
}

/** A check that reports unreadable data as a finding. */
export function makeCheck(
  name: string, subject: string, search: () => Iterable<Finding>,
): SqliteCheck {
  return {
    name, subject,
    find() {
      const findings = collectFindings();
      try {
        for (const finding of search()) if (!findings.add(finding)) break;
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        findings.add(unreadable(error));
      }
      return findings.list();
    },
  };
}

/** Whether SQLite or the system failed, or a column has a value that its table does not allow. */
export function isUnreadable(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError
    || (error instanceof Error && ('errcode' in error || 'syscall' in error));
}

export function* runScan(db: DatabaseSync, { select, begin }: Scan): Findings {
  const visit = begin();
  for (const row of db.prepare(select(DIALECT)).iterate()) yield* visit(row);
}
