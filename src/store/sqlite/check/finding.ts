/**
 * Findings: what is wrong and what to do. Checks are generators, so each finding is reported as
 * soon as it is found, and a check with too many findings ends early.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  formatImportId, formatProductId, formatSellerId, formatWebhookId, type ImportId, type ProductId,
  type SellerId, type WebhookId,
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

/** Findings of one kind, in the order found. */
export type Findings = Generator<Finding, void, void>;

/** One check. It runs while its findings are read. */
export interface Check {
  readonly name: string;
  /** What is checked, as text for people. */
  readonly subject: string;
  readonly findings: Iterable<Finding>;
}

/** The advice for damage that cannot be repaired in place. */
const RESTORE = 'Stop the server, keep a copy of the whole data folder, and restore the newest '
  + 'backup that doctor finds clean.';

export function fault(what: string, advice = RESTORE): Finding {
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

/**
 * A rule that no row may break: the condition in SQL, and a sentence about such a row. In the
 * sentence `{column}` is a value, 0 for NULL; `{seller}`, `{product}`, `{import}` and `{webhook}`
 * are public ids.
 */
export type Rule = readonly [isBroken: string, what: string, find?: (what: string) => Finding];

/** One finding for each row of a query and each rule that it breaks. */
export function* checkRows(db: DatabaseSync, rows: string, rules: readonly Rule[]): Findings {
  const conditions = rules.map(([isBroken]) => `(${isBroken})`);
  const broken = db.prepare(`
    SELECT *, ${conditions.map((sql, n) => `${sql} AS rule_${n}`).join(', ')}
    FROM (${rows}) WHERE ${conditions.join(' OR ')}`);
  for (const row of broken.iterate()) {
    for (const [n, [, what, find = fault]] of rules.entries()) {
      if (row[`rule_${n}`] === 1) yield find(fillIn(what, row));
    }
  }
}

/** Fills the values of a row into a sentence. */
export function fillIn(what: string, row: Row): string {
  return what.replace(/\{(\w+)\}/g, (_, name: string) =>
    IDS[name]?.(row) ?? String(row[name] ?? 0));
}

const IDS: Readonly<Record<string, (row: Row) => string>> = {
  seller: (row) => formatSellerId(sellerOf(row)),
  product: (row) => formatProductId(sellerOf(row), readId<ProductId>(row, 'product_id')),
  import: (row) => formatImportId(sellerOf(row), readId<ImportId>(row, 'import_id')),
  webhook: (row) =>
    formatWebhookId({ sellerId: sellerOf(row), id: readId<WebhookId>(row, 'webhook_id') }),
};

function sellerOf(row: Row): SellerId {
  return readId<SellerId>(row, 'seller_id');
}
