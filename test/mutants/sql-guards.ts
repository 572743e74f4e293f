/** Weakens the conditions in the text of SQL statements: a small scan, not a parser. */

export interface SqlEdit {
  readonly operator: 'seller-dropped' | 'seller-other' | 'check-skipped' | 'comparison-shifted';
  /** In the text. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const VALUE = String.raw`(?:[:$]?\w+(?:\.\w+)?|\?\d*)`;
const COLUMN = String.raw`(?<![\w.])(?:\w+\.)?`;
/** `seller_id = :sellerId`, `c.seller_id = s.id`; in the table of sellers, `id = :sellerId`. */
const SELLER = new RegExp(`${COLUMN}(?:seller_id = ${VALUE}|id = :sellerId\\b)`, 'g');
const WITH_PARAMETER = /= [:?$]/;
const AFTER_KEYWORD = String.raw`(?<=\b(?:WHERE|AND|OR|ON|WHEN)\s+\(?)`;
/** What is required of a row: its role, that it was not revoked, that it has not expired. */
const CHECK = new RegExp(AFTER_KEYWORD + COLUMN
  + String.raw`(?:role|status|revoked_at|disabled_at|disabled_reason|\w*expires_at|\w+_ends_at)\s+`
  + String.raw`(?:IS NOT NULL|IS NULL|(?:=|<>|<=|>=|<|>) (?:'\w+'|${VALUE}))`, 'g');
const COMPARISON = new RegExp(
  String.raw`${AFTER_KEYWORD}[\w.]+ (?<operator><=|>=|<|>)(?= [:$?\w(])`, 'g');
const STATEMENT = /\b(?:SELECT|UPDATE|DELETE|INSERT|FROM|WHERE|AND|JOIN)\b|seller_id = :/;

/** The other comparison with the same direction, which differs for equal values. */
export const SHIFTED: Readonly<Record<string, string>> = {
  '<': '<=', '<=': '<', '>': '>=', '>=': '>',
};

/** The edits of a literal; none if it has no SQL. */
export function findSqlEdits(text: string): SqlEdit[] {
  if (!STATEMENT.test(text)) return [];
  const edits: SqlEdit[] = [];
  for (const { 0: conjunct, index: start } of text.matchAll(SELLER)) {
    const end = start + conjunct.length;
    // The parameter stays in the statement: SQLite rejects one that a statement does not have.
    edits.push({ operator: 'seller-dropped', start, end, replacement: `(${conjunct} OR TRUE)` });
    if (WITH_PARAMETER.test(conjunct)) {
      const replacement = conjunct.replace(' = ', ' <> ');
      edits.push({ operator: 'seller-other', start, end, replacement });
    }
  }
  for (const { 0: conjunct, index: start } of text.matchAll(CHECK)) {
    const end = start + conjunct.length;
    edits.push({ operator: 'check-skipped', start, end, replacement: `(${conjunct} OR TRUE)` });
  }
  for (const { 0: comparison, index, groups } of text.matchAll(COMPARISON)) {
    const operator = groups?.['operator'] ?? '';
    const end = index + comparison.length;
    edits.push({
      operator: 'comparison-shifted', start: end - operator.length, end,
      replacement: SHIFTED[operator] ?? '',
    });
  }
  return edits;
}
