/**
 * Checks the statements that a store has executed: on Citus each of them must touch one shard, so
 * it has to name one seller.
 */
import assert from 'node:assert/strict';
import type { Connection } from '../../../src/store/postgres/wire/connection.ts';
import type { Statement } from '../../../src/store/postgres/wire/statement-run.ts';
import { readText } from '../../../src/store/sql/sql.ts';

/** The tables that are not distributed by the seller: small, or distributed by their own keys. */
const GLOBAL_TABLES = [
  'account_email', 'deleted_seller', 'invitation', 'key_owner', 'node', 'setting', 'throttle',
  'webhook_lease', 'lived_time', 'seller_external_id', 'webhook_seller',
];
/** Statements that no request executes: polls, operator commands, and cleanups between tests. */
const OF_ALL_SELLERS = [
  /^SELECT id, position FROM seller WHERE id = ANY/, /^SELECT id, position, concat/,
  /^SELECT coalesce\(sum\(position\), 0\)/, /^SELECT id FROM seller WHERE id > 0 LIMIT 1$/,
  /^SELECT .* FROM seller WHERE id > \$1 ORDER BY id LIMIT/, /^SELECT greatest/,
  /^SELECT .* FROM webhook WHERE seller_id = ANY/, /^DELETE FROM \w+$/,
  /^SELECT seller_id, id FROM \( SELECT seller_id, id, is_running/,
];
const LIST_KEYS = `
  SELECT t.relname::text AS name, a.attname::text AS first FROM pg_index AS i
  JOIN pg_class AS t ON t.oid = i.indrelid
  JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
  WHERE i.indisprimary AND t.relnamespace = current_schema()::regnamespace ORDER BY t.relname`;

/** Asserts that the primary key of each seller table starts with the seller; lists the tables. */
export async function assertSellersLead(connection: Connection): Promise<readonly string[]> {
  const [keys] = await connection.run([{ text: LIST_KEYS, values: [] }]);
  const rows = (keys?.rows ?? []).filter((row) => !GLOBAL_TABLES.includes(readText(row, 'name')));
  const names = rows.map((row) => readText(row, 'name'));
  assert.deepEqual(rows.map((row) => readText(row, 'first')),
    names.map((name) => name === 'seller' ? 'id' : 'seller_id'), names.join(', '));
  return names;
}

/** Asserts that every statement names the seller of each seller table that it mentions. */
export function assertNameSellers(
  statements: readonly Statement[], tables: readonly string[],
): void {
  const checked = listOfRequests(statements).map((text) =>
    ({ text, mentioned: listTables(text).filter((name) => tables.includes(name)) }))
    .filter(({ mentioned }) => mentioned.length > 0);
  assert.ok(checked.length > 100, 'the statements of the contract were recorded');
  const unnamed = checked.filter(({ text, mentioned }) => {
    const named = text.match(/\bseller_id (?:=|IN)|\(seller_id,/g)?.length ?? 0;
    const isSellerNamed = !mentioned.includes('seller') || /\bid = /.test(text)
      || text.startsWith('INSERT INTO seller (id,');
    return !isSellerNamed || (named === 0 && mentioned.some((name) => name !== 'seller'));
  });
  assert.deepEqual(unnamed, []);
}

/** Asserts that every statement has one task in its Citus plan. */
export async function assertOneShard(
  connection: Connection, statements: readonly Statement[],
): Promise<void> {
  const texts = new Set(listOfRequests(statements));
  const values = new Map(statements.map((one) => [normalize(one.text), one] as const));
  assert.ok(texts.size > 100, 'the statements of the contract were recorded');
  for (const text of texts) {
    const [plan] = await connection.run([{
      text: `EXPLAIN (COSTS OFF) ${text}`, values: values.get(text)?.values ?? [], isUnnamed: true,
    }]);
    const lines = (plan?.rows ?? []).map((row) => readText(row, 'QUERY PLAN'));
    const tasks = lines.filter((line) => line.includes('Task Count:')).map((line) => line.trim());
    assert.deepEqual(tasks, ['Task Count: 1'], [text, ...lines].join('\n'));
    assert.ok(!lines.some((line) => /Subplan|pull to/.test(line)), [text, ...lines].join('\n'));
  }
}

/** Statements of requests: not those of the test itself, and only those that use tables. */
function listOfRequests(statements: readonly Statement[]): readonly string[] {
  return statements.map(({ text }) => normalize(text)).filter((text) =>
    /^(?:SELECT|WITH|INSERT|UPDATE|DELETE)/.test(text) && listTables(text).length > 0
    && !/\bpg_|current_setting|set_config|generate_series/.test(text)
    && !OF_ALL_SELLERS.some((pattern) => pattern.test(text)));
}

function listTables(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE|USING) (\w+)\b(?!\()/g)]
    .map(([, name = '']) => name);
}

function normalize(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
