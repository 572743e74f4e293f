/** The plan of every statement: each finds its rows with an index, however large the tables are. */
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { accountQueries } from '../../../../src/store/sql/accounts/accounts.ts';
import { auditQueries } from '../../../../src/store/sql/accounts/audit.ts';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import { openWriter } from '../../../../src/store/sqlite/engine/connection.ts';
import { chainQueries } from '../../../../src/store/sqlite/history/chain-queries.ts';
import { feedQueries } from '../../../../src/store/sqlite/history/history-queries.ts';
import { importQueries } from '../../../../src/store/sql/history/import-queries.ts';
import { ledgerQueries } from '../../../../src/store/sql/history/ledger-queries.ts';
import { pastQueries, revertQueries } from '../../../../src/store/sql/history/past-queries.ts';
import { stockDayQueries, stockQueries } from '../../../../src/store/sql/history/stock-queries.ts';
import { idempotencyQueries } from '../../../../src/store/sql/idempotency.ts';
import { usageQueries } from '../../../../src/store/sql/access/key-usage.ts';
import { invitationQueries } from '../../../../src/store/sql/accounts/invitations.ts';
import { grantQueries } from '../../../../src/store/sqlite/catalogue/grants.ts';
import { columnMappingQueries } from '../../../../src/store/sql/accounts/saved-filters.ts';
import { keyQueries } from '../../../../src/store/sql/access/key-queries.ts';
import { productQueries } from '../../../../src/store/sqlite/catalogue/products.ts';
import { sellerQueries } from '../../../../src/store/sql/access/sellers.ts';
import { sqlOf } from '../../../../src/store/sqlite/sql.ts';
import { sessionQueries } from '../../../../src/store/sql/accounts/sessions.ts';
import { passkeyQueries } from '../../../../src/store/sql/accounts/passkeys.ts';
import { totpQueries } from '../../../../src/store/sql/accounts/totp.ts';
import { prepareGroupCommit } from '../../../../src/store/sqlite/engine/group-commit.ts';
import { webhookQueries } from '../../../../src/store/sql/webhooks/webhooks.ts';
import { dueWebhookQueries } from '../../../../src/store/sqlite/webhooks/due-webhooks.ts';
import { makeFolder } from '../../../support/folder.ts';
import { AUDIT_KEY } from '../open.ts';

test('scans no table and sorts nothing in any statement', (t) => {
  const plans = explainAll(t);
  assert.ok(plans.size >= 15);
  // Allowed are scans of what a statement is given (rows to insert, a list of names), of the rows
  // of a recursion, a version chain or a binary search, and of as many rows as a count reads.
  const forbidden = new RegExp('TEMP B-TREE|AUTOMATIC'
    + '|SCAN (?!(\\d+ )?CONSTANT ROW|\\d+-ROW VALUES|moved$|\\w+ VIRTUAL TABLE'
    + '|version|v\n|search\n|newest$)');
  for (const [sql, plan] of plans) assert.doesNotMatch(plan, forbidden, sql);
});

test('starts each step of a recursion at the previous row', (t) => {
  const plans = [...explainAll(t)].filter(([sql]) => sql.includes('RECURSIVE'));
  assert.ok(plans.length >= 2);
  for (const [sql, plan] of plans) assert.match(plan, /RECURSIVE STEP\nSCAN \w+\nSEARCH c /, sql);
});

test('reads no whole history in any query', (t) => {
  for (const [sql, plan] of explainAll(t)) {
    // The history of a deleted seller has been emptied in steps before.
    const isLastStep = /^\s*DELETE FROM change WHERE seller_id = :sellerId\s*$/.test(sql);
    if (!sql.includes('FROM change') || isLastStep) continue;
    assert.doesNotMatch(plan, /\bc(hange)? .*\(seller_id=\?\)/, sql);
  }
});

const expected: readonly [what: string, sql: RegExp, plan: RegExp][] = [
  ['a list of all products', /FROM product WHERE .*ORDER BY id LIMIT/,
    /^SEARCH product USING PRIMARY KEY \(seller_id=\? AND id>\?\)$/],
  ['a list of archived products, or of others', /FROM product INDEXED .*ORDER BY id LIMIT/,
    /^SEARCH product USING INDEX product_archived \(seller_id=\? AND archived=\? AND id>\?\)$/],
  ['a product by its id', /^SELECT id, .* FROM product WHERE seller_id = \? AND id = \?$/,
    /^SEARCH product USING PRIMARY KEY \(seller_id=\? AND id=\?\)$/],
  ['a product by its SKU', /^SELECT id, .* FROM product WHERE seller_id = \? AND sku = \?$/,
    /^SEARCH product USING INDEX product_sku \(seller_id=\? AND sku=\?\)$/],
  ['a list of keys', /FROM api_key .*ORDER BY id LIMIT/,
    /^SEARCH api_key USING PRIMARY KEY \(seller_id=\? AND id>\?\)$/],
  ['a list of sellers', /FROM seller .*ORDER BY id LIMIT/,
    /^SEARCH seller USING INTEGER PRIMARY KEY \(rowid>\?\)$/],
  ['the webhooks that are due', /FROM webhook AS w .*next_attempt_at <=/, new RegExp(
    '^SEARCH w USING INDEX webhook_due \\(<expr>=\\? AND next_attempt_at<\\?\\)\n'
    + 'SEARCH s (EXISTS )?USING INTEGER PRIMARY KEY \\(rowid=\\?\\)$')],
  ['the webhooks that wait too long', /FROM webhook AS w .*next_attempt_at >/, new RegExp(
    '^SEARCH w USING INDEX webhook_due \\(<expr>=\\? AND next_attempt_at>\\?\\)\n'
    + 'SEARCH s (EXISTS )?USING INTEGER PRIMARY KEY \\(rowid=\\?\\)$')],
  ['the events of a seller', /FROM audit_event WHERE seller_id = :sellerId AND n </,
    /^SEARCH audit_event USING INDEX sqlite_autoindex_\w+ \(seller_id=\? AND n<\?\)$/],
  ['the events of a type',
    /at, .* FROM audit_event WHERE seller_id = :sellerId AND type = :type AND n </,
    /^SEARCH audit_event USING INDEX audit_event_type \(seller_id=\? AND type=\? AND n<\?\)$/],
  ['a grant', /FROM api_key AS k JOIN seller/,
    /^SEARCH k USING INDEX \S+ \(hash=\?\)\nSEARCH s USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
];

for (const [what, sql, plan] of expected) {
  test(`finds ${what} with an index`, (t) => {
    const plans = [...explainAll(t)].filter(([text]) => sql.test(text)).map(([, found]) => found);
    assert.equal(plans.length, 1);
    assert.match(plans[0] ?? '', plan);
  });
}

/** Every statement that the adapter prepares, on one line, with its plan. */
function explainAll(t: TestContext): Map<string, string> {
  const db = openWriter(prepareCatalogueFile(makeFolder(t)).file);
  t.after(() => db.close());
  const statements: string[] = [];
  const prepare = db.prepare.bind(db);
  db.prepare = (sql) => {
    statements.push(sql.replaceAll(/\s+/g, ' ').trim());
    return prepare(sql);
  };
  prepareAll(db);
  return new Map(statements.map((sql) => {
    const rows = prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    return [sql, rows.map(({ detail }) => String(detail)).join('\n')];
  }));
}

function prepareAll(db: DatabaseSync): void {
  prepareGroupCommit(db, AUDIT_KEY);
  const sql = sqlOf(db);
  sellerQueries(sql);
  keyQueries(sql);
  grantQueries(db);
  usageQueries(sql);
  columnMappingQueries(sql);
  feedQueries(db);
  chainQueries(db);
  ledgerQueries(sql);
  pastQueries(sql);
  revertQueries(sql);
  importQueries(sql);
  idempotencyQueries(sql);
  stockDayQueries(sql);
  stockQueries(sql);
  productQueries(db);
  webhookQueries(sqlOf(db));
  dueWebhookQueries(db);
  accountQueries(sql);
  totpQueries(sql);
  sessionQueries(sql);
  invitationQueries(sql);
  passkeyQueries(sql);
  auditQueries(sql);
}
