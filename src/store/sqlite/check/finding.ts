/**
 * Runs checks on SQLite. They are generators, so each finding is reported as soon as it is found,
 * and a check with too many findings ends early.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  type Dialect, fault, type Finding, type Findings, type Scan, warning,
} from '../../sql/check/finding.ts';
import { DOCTOR_FINDINGS_LIMIT } from '../../limits.ts';

/** All sellers at a time. */
const DIALECT: Dialect = {
  of: () => 'TRUE',
  isJson: (column) => `json_valid(${column})`,
  members: (column) => `json_each(${column})`,
};

/** One check. It runs while its findings are read. */
export interface Check {
  readonly name: string;
  /** What is checked, as text for people. */
  readonly subject: string;
  readonly findings: Iterable<Finding>;
}

/** A check that stops after `DOCTOR_FINDINGS_LIMIT` findings and reports unreadable data as one. */
export function makeCheck(name: string, subject: string, find: () => Iterable<Finding>): Check {
  return { name, subject, findings: limitFindings(find) };
}

function* limitFindings(find: () => Iterable<Finding>): Findings {
  let count = 0;
  try {
    for (const finding of find()) {
      count += 1;
      if (count > DOCTOR_FINDINGS_LIMIT) {
        yield warning('There are more findings of this kind.', 'Only the first are shown.');
        return;
      }
      yield finding;
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield unreadable(error);
  }
}

/** The finding that replaces everything a check could not read. */
export function unreadable(error: Error): Finding {
  return fault(`It cannot be read: ${error.message}.`);
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
