/**
 * Findings of `doctor`: what is wrong and what to do; and the scans that find them, which every
 * adapter executes on its tables.
 */
import {
  formatImportId, formatProductId, formatSellerId, formatWebhookId, type ImportId, type ProductId,
  type SellerId, type WebhookId,
} from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { DOCTOR_FINDINGS_LIMIT } from '../../limits.ts';
import { SERVER_CHAIN } from '../../rules/audit.ts';
import { readId, readInteger, type Row } from '../sql.ts';

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

/** The advice for damage that cannot be repaired in place. */
const RESTORE = 'Stop all servers, keep a copy of the whole data folder or database, and restore '
  + 'the newest backup that doctor finds clean.';

export function fault(what: string, advice = RESTORE): Finding {
  return { level: 'fault', what, advice };
}

export function warning(what: string, advice: string): Finding {
  return { level: 'warning', what, advice };
}

export function note(what: string, advice: string): Finding {
  return { level: 'note', what, advice };
}

/** One check. It runs when its findings are asked for. */
export interface Check {
  readonly name: string;
  /** What is checked, as text for people. */
  readonly subject: string;
  find(): readonly Finding[] | Promise<readonly Finding[]>;
}

/** Collects findings: faults first; a limited number of them, and of the others. */
export function collectFindings() {
  const [faults, others]: [Finding[], Finding[]] = [[], []];
  return {
    /** Returns whether more faults can be added. */
    add(finding: Finding): boolean {
      const list = finding.level === 'fault' ? faults : others;
      if (list.length <= DOCTOR_FINDINGS_LIMIT) list.push(finding);
      return faults.length <= DOCTOR_FINDINGS_LIMIT;
    },
    list(): readonly Finding[] {
      const all = [...faults, ...others];
      if (all.length <= DOCTOR_FINDINGS_LIMIT) return all;
      const more = warning('There are more findings of this kind.', 'Only the first are shown.');
      return [...all.slice(0, DOCTOR_FINDINGS_LIMIT), more];
    },
  };
}

/** The finding that replaces everything a check could not read. */
export function unreadable(error: Error): Finding {
  return fault(`It cannot be read: ${error.message}.`);
}

/** What the SQL of a scan leaves to the adapter. */
export interface Dialect {
  /** A condition: the column is a seller that is checked. All of them at a time, or one. */
  readonly of: (sellerColumn: string) => string;
  /** A condition: the text is JSON. */
  readonly isJson: (column: string) => string;
  /** A source of rows `key`, `value`: the members of a JSON object. */
  readonly members: (column: string) => string;
}

/** A query, and what its rows reveal. */
export interface Scan {
  readonly select: (dialect: Dialect) => string;
  /** Called once for each execution; what it returns is called with each row, in order. */
  readonly begin: () => (row: Row) => Iterable<Finding>;
  /** Whether it is about all sellers at once: it does not use `of`. */
  readonly isGlobal?: boolean;
}

/** A check of a database that has the tables of this version. */
export interface CatalogueCheck {
  readonly name: string;
  /** What is checked, as text for people. */
  readonly subject: string;
  /** Executed in this order. */
  readonly scans: readonly Scan[];
}

/**
 * A rule that no row may break: the condition in SQL, and a sentence about such a row. In the
 * sentence `{column}` is a value, 0 for NULL; `{seller}`, `{product}`, `{import}` and `{webhook}`
 * are public ids; `{chain}` is whose audit events they are, `{date}` the column `day`.
 */
export type Rule = readonly [
  isBroken: string, sentence: string, find?: (sentence: string) => Finding,
];

/** One finding for each row of a query and each rule that it breaks. */
export function scanRows(rows: Scan['select'], rules: readonly Rule[]): Scan {
  const conditions = rules.map(([isBroken]) => `(${isBroken})`);
  return {
    select: (dialect) => `
      SELECT *, ${conditions.map((sql, n) => `${sql} AS rule_${n}`).join(', ')}
      FROM (${rows(dialect)}) AS checked WHERE ${conditions.join(' OR ')}`,
    begin: () => (row) => rules.flatMap(([, sentence, find = fault], n) =>
      (row[`rule_${n}`] === 1 ? [find(fillIn(sentence, row))] : [])),
  };
}

/** Fills the values of a row into a sentence. */
export function fillIn(sentence: string, row: Row): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) =>
    FORMATS[name]?.(row) ?? String(row[name] ?? 0));
}

const FORMATS: Readonly<Record<string, (row: Row) => string>> = {
  seller: (row) => formatSellerId(sellerOf(row)),
  chain: (row) =>
    (sellerOf(row) === SERVER_CHAIN ? 'the server' : formatSellerId(sellerOf(row))),
  product: (row) => formatProductId(sellerOf(row), readId<ProductId>(row, 'product_id')),
  import: (row) => formatImportId(sellerOf(row), readId<ImportId>(row, 'import_id')),
  webhook: (row) =>
    formatWebhookId({ sellerId: sellerOf(row), id: readId<WebhookId>(row, 'webhook_id') }),
  date: (row) => new Date(readInteger(row, 'day') * DAY_MS).toISOString().slice(0, 10),
};

function sellerOf(row: Row): SellerId {
  return readId<SellerId>(row, 'seller_id');
}
