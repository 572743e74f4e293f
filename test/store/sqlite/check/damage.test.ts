/** Each kind of damage to a catalogue is reported by the check for it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, openSync, closeSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { listFileFindings, listFindings } from '../../../support/health.ts';
import { FILE_NAME, readRows } from '../engine/read-file.ts';
import { copyFolder, damage, makeSampleFolder } from './sample-folder.ts';

let sample = '';
const cleanups: (() => void)[] = [];
before(async () => {
  sample = await makeSampleFolder({ after: (remove) => void cleanups.push(remove as () => void) });
});
after(() => cleanups.forEach((remove) => remove()));

/** What doctor reports of every file that it checks without a data folder. */
const UNCHECKED = 'audit-chain note: The authentication codes of the audit log were not checked.';

const ONE = '(SELECT min(id) FROM seller)';
const KEPT = `seller_id = ${ONE} AND position > (SELECT pruned_to FROM seller WHERE id = ${ONE})`;
const LAST = '(SELECT max(position) FROM change AS x WHERE x.seller_id = change.seller_id)';
/** The first kept change of stock that is not the last of its product, nor the first. */
const MIDDLE = `${KEPT} AND type = 'stock' AND position = (
  SELECT min(c.prior) FROM change AS c JOIN change AS b
  ON b.seller_id = c.seller_id AND b.position = c.prior AND b.type = 'stock'
  WHERE c.seller_id = ${ONE} AND c.type = 'stock'
  AND c.prior > (SELECT pruned_to FROM seller WHERE id = ${ONE}))`;

const NEWEST_IMPORT = 'id = (SELECT max(id) FROM import)';

const damages: readonly [what: string, sql: string, says: RegExp][] = [
  ['a change that is gone', `DELETE FROM change WHERE ${MIDDLE}`,
    /^positions fault: The history of seller sel_\w+ has no change at position \d+\./],
  ['several changes that are gone',
    `DELETE FROM change WHERE ${KEPT} AND position BETWEEN ${LAST} - 4 AND ${LAST} - 2`,
    /^positions fault: .* has no change at positions \d+ to \d+\./],
  ['the last change gone', `DELETE FROM change WHERE position = ${LAST}`,
    /^positions fault: seller sel_\w+ is at position \d+, and its history ends at \d+\./],
  ['a seller before its history', `UPDATE seller SET position = position - 1 WHERE id = ${ONE}`,
    /^positions fault: .* is at position \d+, and its history ends at \d+\./],
  ['a product after its seller', `UPDATE product SET position = 1000 WHERE seller_id = ${ONE}`,
    /^positions fault: .* has a product of position 1000\./],
  ['a history that begins after its end', `UPDATE seller SET pruned_to = 999 WHERE id = ${ONE}`,
    /^positions fault: .* its history begins after 999\./],
  ['times that are gone', `DELETE FROM change_minute WHERE seller_id = ${ONE}`,
    /^positions fault: .* the times of its history end at 0\./],
  ['an id that was not assigned', 'UPDATE seller SET last_product_id = 1',
    /^positions fault: .* an id that was not assigned yet\./],
  ['a wrong stock level', `UPDATE product SET stock = stock + 1 WHERE seller_id = ${ONE}`,
    /^ledger fault: The stock of product prd_\w+ is \d+, and the sum of its movements is \d+\./],
  ['a wrong movement', `UPDATE change SET stock_after = stock_after + 1 WHERE ${MIDDLE}`,
    /^ledger fault: .* begins with a stock of \d+, and the one before it ended with \d+\./],
  ['a change of another product', `UPDATE change SET product_id = product_id + 1 WHERE ${MIDDLE}`,
    /^ledger fault: The change of product prd_\w+ at position \d+ does not follow/],
  ['a wrong previous change', `UPDATE change SET prior = prior - 1 WHERE ${MIDDLE}`,
    /^ledger fault: .* does not follow the one before it, at \d+\./],
  ['a product that is gone', `DELETE FROM product WHERE sku = 'MUG-1'`,
    /^ledger fault: .* is its last, and the product does not exist\./],
  ['a product that came back', `UPDATE change SET type = 'deleted', product = '{}'
    WHERE (seller_id, position) = (SELECT seller_id, position FROM product WHERE sku = 'MUG-2')`,
  /^ledger fault: .* deleted it, and the product exists\./],
  ['a wrong SKU', `UPDATE product SET sku = 'OTHER' WHERE sku = 'MUG-2'`,
    /^ledger fault: .* or has another SKU\./],
  ['a product without its change', `UPDATE product SET position = 1 WHERE sku = 'MUG-2'`,
    /^ledger fault: The history does not have the last change of product prd_\w+\./],
  ['a snapshot that is not JSON', `UPDATE change SET product = '{' WHERE product IS NOT NULL`,
    /^ledger fault: .* has a snapshot that is not JSON\./],
  ['a wrong name', `UPDATE product SET name = 'Another' WHERE sku = 'MUG-2'`,
    /^descriptions fault: The newest snapshot of product prd_\w+ differs from the product\./],
  ['a wrong price', `UPDATE product SET price_minor = price_minor + 1 WHERE sku = 'MUG-2'`,
    /^descriptions fault: .* differs from the product\./],
  ['a snapshot that is gone', `UPDATE product SET snapshot_position = 1 WHERE sku = 'MUG-2'`,
    /^descriptions fault: The history has no snapshot of product prd_\w+\./],
  ['a day with too few units', 'UPDATE stock_day SET units_in = units_in - 1 WHERE units_in > 0',
    /^stock-days fault: .* moved on 2026-01-0\d do not agree .* 1 less in, 0 more out/],
  ['a day that is gone', 'DELETE FROM stock_day WHERE day = (SELECT max(day) FROM stock_day)',
    /^stock-days fault: .* less out\./],
  ['a day with too many units, in a complete history',
    `UPDATE stock_day SET units_out = 5 WHERE seller_id <> ${ONE}`,
    /^stock-days fault: .* 0 more in, 5 more out\./],
  ['a day with too many units, in a pruned history',
    `UPDATE stock_day SET units_out = units_out + 5 WHERE seller_id = ${ONE}`,
    /^stock-days warning: .* 5 more out\./],
  ['a record of an import that is gone', `DELETE FROM import WHERE ${NEWEST_IMPORT}`,
    /^imports fault: The history has changes of import imp_\w+, which has no record\.$/],
  ['an import with wrong positions',
    `UPDATE import SET last_position = last_position + 1 WHERE ${NEWEST_IMPORT}`,
    /^imports fault: Import imp_\w+ changed positions \d+ to \d+, and its record says \d+ to /],
  ['an import with wrong counts',
    `UPDATE import SET counts = '{"applied":99}' WHERE ${NEWEST_IMPORT}`,
    /^imports fault: Import imp_\w+ made \d+ changes, and its record counts 99\.$/],
  ['a change that lost its import',
    'UPDATE change SET import_id = NULL WHERE position = (SELECT max(last_position) FROM import)',
    /^imports fault: Import imp_\w+ made \d+ changes, and its record counts \d+\.$/],
  ['a webhook ahead of its seller', 'UPDATE webhook SET position = 1000',
    /^webhooks fault: Webhook whk_\w+ is at position 1000, and its seller at \d+\./],
  ['a message ahead of its seller', `UPDATE webhook SET message_id = 'm', message_first = 1,
    message_last = 2000, message_at = 0`, /^webhooks fault: .* is at position 2000,/],
  ['an account without its e-mail address', 'DELETE FROM account_email',
    /^accounts fault: Signing in does not find the account of sel_\w+ by its e-mail address\.$/],
  ['an account with another e-mail address', "UPDATE account_email SET email = 'x@y.example'",
    /^accounts fault: Signing in does not find the account of sel_\w+ by its e-mail address\.$/],
  ['a seller without its external id', "UPDATE seller SET external_id = 'x'",
    /^accounts fault: sel_\w+ is not found by its external id\.$/],
  ['an event that was changed', "UPDATE audit_event SET subject = 'forged' WHERE n = 2",
    /^audit-chain fault: The audit log of sel_\w+ is broken at event 2\.$/],
  ['an event that was removed', 'DELETE FROM audit_event WHERE n = 2',
    /^audit-chain fault: Event 2 of the audit log of sel_\w+ is missing\.$/],
  ['several events that were removed', 'DELETE FROM audit_event WHERE n IN (1, 2)',
    /^audit-chain fault: Events 1 to 2 of the audit log of sel_\w+ are missing\.$/],
  ['an index that is gone', 'DROP INDEX change_deleted',
    /^schema fault: The index change_deleted is missing\.$/],
  ['a table that is gone', 'DROP TABLE idempotency',
    /^schema fault: The table idempotency is missing\.$/],
  ['an index that does not belong there', 'CREATE INDEX mine ON product (name)',
    /^schema fault: The index mine does not belong here\.$/],
  ['a trigger that does not belong there',
    'CREATE TRIGGER mine AFTER DELETE ON change BEGIN SELECT 1; END',
    /^schema fault: The trigger mine does not belong here\.$/],
  ['an index with another definition',
    'DROP INDEX product_sku; CREATE INDEX product_sku ON product (seller_id, name)',
    /^schema fault: The index product_sku differs from the expected schema\.$/],
  ['a record of a seller that does not exist', `INSERT INTO idempotency
    VALUES (7, zeroblob(32), 0, zeroblob(32), 0, '{}', 0)`,
  /^references fault: Rows of idempotency reference a seller that does not exist: 1\.$/],
  ['a newer version', 'PRAGMA user_version = 99',
    /^version fault: It was written by a newer version: its schema is 99, and this/],
  ['a file of another program', 'PRAGMA application_id = 7',
    /^version fault: It is not a database of this server\.$/],
];

test('finds nothing in an undamaged catalogue', () => {
  assert.deepEqual(listFindings(sample), []);
  assert.deepEqual(listFileFindings(join(sample, FILE_NAME)), [UNCHECKED]);
});

for (const [what, sql, says] of damages) {
  test(`names ${what}`, (t) => {
    const folder = copyFolder(t, sample);
    damage(folder, sql);
    const findings = listFindings(folder);
    assert.ok(findings.some((text) => says.test(text)), `${findings.join('\n')}`);
  });
}

test('names a view in the place of a table, and does not read from it', (t) => {
  const folder = copyFolder(t, sample);
  damage(folder, `ALTER TABLE change_minute RENAME TO other;
    CREATE VIEW change_minute AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)
      SELECT n AS seller_id, n AS position FROM r`);
  const main = join(import.meta.dirname, '../../../../src/main.ts');
  for (const where of [['--data', folder], ['--file', join(folder, FILE_NAME)]]) {
    // In a separate process, which can be killed.
    const { stdout, signal } = spawnSync(process.execPath, [main, 'doctor', ...where], {
      timeout: 30_000, killSignal: 'SIGKILL', encoding: 'utf8',
    });
    assert.equal(signal, null);
    assert.match(stdout, /The view change_minute does not belong here\./);
  }
});

test('names overwritten pages', (t) => {
  const folder = copyFolder(t, sample);
  const file = join(folder, FILE_NAME);
  const [{ rootpage = 0 } = {}] = readRows(folder,
    "SELECT rootpage FROM sqlite_schema WHERE name = 'product_sku'");
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(64, 0xff), 0, 64, (Number(rootpage) - 1) * 4096 + 2000);
  writeSync(handle, Buffer.alloc(8, 0xff), 0, 8, (Number(rootpage) - 1) * 4096);
  closeSync(handle);
  assert.match(listFindings(folder).join('\n'), /^integrity fault: /m);
});

test('names rows that are missing in an index', (t) => {
  const folder = copyFolder(t, sample);
  const name = "'change_deleted_sku'";
  const [{ sql, rootpage } = {}] = readRows(folder,
    `SELECT sql, rootpage FROM sqlite_schema WHERE name = ${name}`);
  const unlock = 'PRAGMA writable_schema = ON';
  damage(folder, `${unlock}; DELETE FROM sqlite_schema WHERE name = ${name}`);
  damage(folder, `UPDATE change SET sku = 'OTHER' WHERE type = 'deleted'; ${unlock};
    INSERT INTO sqlite_schema VALUES
      ('index', ${name}, 'change', ${Number(rootpage)}, '${String(sql).replaceAll("'", "''")}')`);
  const findings = listFindings(folder).join('\n');
  assert.match(findings, /^integrity fault: SQLite finds damage: .*change_deleted_sku\.$/m);
});

test('names a truncated file, and a file that is not a database', (t) => {
  const folder = copyFolder(t, sample);
  const file = join(folder, FILE_NAME);
  const bytes = readFileSync(file);
  for (const rest of [bytes.subarray(0, bytes.length >> 1), Buffer.alloc(9_000, 'x')]) {
    const cut = join(folder, 'cut.db');
    const handle = openSync(cut, 'w');
    writeSync(handle, rest);
    closeSync(handle);
    assert.match(listFileFindings(cut).join('\n'), /^integrity fault: /m);
  }
});

test('reads a closed database without creating files next to it', (t) => {
  const folder = copyFolder(t, sample);
  const file = join(folder, 'a backup #1?.db');
  copyFileSync(join(folder, FILE_NAME), file);
  assert.deepEqual(listFileFindings(file), [UNCHECKED]);
  assert.throws(() => readFileSync(`${file}-wal`), { code: 'ENOENT' });
});
