/** The findings of a check of the data: what is wrong, and what to do about it. */
import { DOCTOR_FINDINGS_LIMIT } from '../limits.ts';

export interface Finding {
  /** A fault is damage or a danger; a warning is worth a look; a note is only information. */
  readonly level: 'fault' | 'warning' | 'note';
  /** One sentence. */
  readonly what: string;
  /** What to do. */
  readonly advice: string;
}

/** One check: its findings are looked for while they are read, in the order in which they come. */
export interface Check {
  readonly name: string;
  /** What is checked, for people to read. */
  readonly subject: string;
  readonly findings: Iterable<Finding>;
}

/** For what cannot be put right in place. */
export const RESTORE = 'Stop the server, keep a copy of the whole data folder, and restore the '
  + 'newest backup that doctor finds clean.';

export function fault(what: string, advice: string): Finding {
  return { level: 'fault', what, advice };
}

export function warning(what: string, advice: string): Finding {
  return { level: 'warning', what, advice };
}

export function note(what: string, advice: string): Finding {
  return { level: 'note', what, advice };
}

/** Not more than are of use; and what cannot be read is a finding, too. */
export function* limitFindings(
  find: () => Iterable<Finding>,
): Generator<Finding, void, void> {
  let count = 0;
  try {
    for (const finding of find()) {
      count += 1;
      if (count > DOCTOR_FINDINGS_LIMIT) {
        yield warning('There is more of this kind.', 'Only the first are shown.');
        return;
      }
      yield finding;
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield unreadable(error);
  }
}

/** What stands for all that could not be looked for. */
export function unreadable(error: Error): Finding {
  return fault(`It cannot be read: ${error.message}.`, RESTORE);
}

/** SQLite or the system refuses it; or a column holds what its table does not allow. */
export function isUnreadable(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError
    || (error instanceof Error && ('errcode' in error || 'syscall' in error));
}
