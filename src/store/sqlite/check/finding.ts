/**
 * The result of a check: what is wrong, and what to do about it. Checks are generators, so each
 * finding is reported when it is found, and a check ends early when there are too many.
 */
import {
  formatProductId, formatSellerId, type ProductId, type SellerId,
} from '../../../domain/id.ts';
import { DOCTOR_FINDINGS_LIMIT } from '../limits.ts';
import { readId, type Row } from '../engine/row.ts';

export interface Finding {
  /** A fault is damage or a danger; a warning is worth a look; a note is only information. */
  readonly level: 'fault' | 'warning' | 'note';
  /** One sentence. */
  readonly what: string;
  /** What to do. */
  readonly advice: string;
}

/** The findings of one kind, in the order in which they are found. */
export type Findings = Generator<Finding, void, void>;

/** One check; it runs while its findings are read. */
export interface Check {
  readonly name: string;
  /** What is checked, for people to read. */
  readonly subject: string;
  readonly findings: Iterable<Finding>;
}

/** The advice for damage that cannot be repaired in place. */
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

/** The finding that replaces everything a check could not read. */
export function unreadable(error: Error): Finding {
  return fault(`It cannot be read: ${error.message}.`, RESTORE);
}

/** Whether SQLite or the system failed, or a column holds what its table does not allow. */
export function isUnreadable(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError
    || (error instanceof Error && ('errcode' in error || 'syscall' in error));
}

/** The seller of a row with `seller_id`. */
export function nameSeller(row: Row): string {
  return `seller ${formatSellerId(readId<SellerId>(row, 'seller_id'))}`;
}

/** The product of a row with `seller_id` and `product_id`. */
export function nameProduct(row: Row): string {
  const sellerId = readId<SellerId>(row, 'seller_id');
  return `product ${formatProductId(sellerId, readId<ProductId>(row, 'product_id'))}`;
}
