/**
 * Sellers are isolated in every statement: what the store's contract has executed refers to rows of
 * the caller's seller only, apart from a few statements that are listed here with the reason.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../audit/places.ts';
import { findUnrestricted, type SellerColumns } from './seller-condition.ts';
import { listSqlLiterals, normalizeSql } from './sql-literals.ts';
import type { StatementLog } from './statement-log.ts';

/** A statement that is not restricted to one seller. */
interface Exception {
  /** How it starts. */
  readonly start: string;
  /** What it contains, if a restricted statement starts in the same way. */
  readonly part?: string;
  readonly reason: string;
}

const BY_SECRET = 'A secret finds its seller: who knows it may act for the seller.';
const EXPIRY = 'Removes what has expired; returns nothing.';
const FIRST_OF_SHOP = 'The invitation to create a shop belongs to no seller.';
const OPERATOR = 'For the operator, or jobs of the server: no request executes it.';
const POSITIONS = 'Positions of the sellers that this process watches, each for its own watchers.';
const DELIVERY = 'The delivery of webhooks looks for what is due, and then acts for each seller.';
const PAIRS = 'Entries of the index of metadata begin with the seller, and so does what is looked '
  + 'up; the outer query is restricted. A condition in the inner one would prevent its use.';
const TOGETHER = 'Commits of several sellers share a statement: each row has its own seller.';

const SHARED_EXCEPTIONS: readonly Exception[] = [
  { start: 'SELECT seller_id, account_id FROM account_email WHERE email =', reason: 'A sign-in has'
    + ' only the email address; the password is checked before anything of the account is used.' },
  { start: 'SELECT seller_id FROM seller_external_id WHERE external_id =', reason: 'The embedding'
    + ' program names the seller that it acts for by its own id.' },
  { start: 'SELECT id, name, external_id, currency, currency_decimals, position, created_at,'
    + ' disabled_at FROM seller WHERE id = ', part: ' AND external_id = ', reason: 'The same: the'
    + ' seller that had the external id the last time.' },
  { start: 'INSERT INTO seller (', reason: 'Creates the seller.' },
  { start: 'SELECT hash, seller_id, role, name, is_first, expires_at FROM invitation WHERE hash =',
    reason: BY_SECRET },
  { start: 'DELETE FROM invitation WHERE hash =', reason: BY_SECRET },
  { start: 'DELETE FROM invitation WHERE expires_at <=', reason: EXPIRY },
  { start: 'DELETE FROM invitation WHERE is_first = 1', reason: FIRST_OF_SHOP },
  { start: 'INSERT INTO invitation (', reason: FIRST_OF_SHOP },
  { start: 'SELECT id, name, external_id, currency, currency_decimals, position, created_at,'
    + ' disabled_at FROM seller WHERE id > ', reason: OPERATOR },
  { start: 'SELECT id FROM seller WHERE id > 0 LIMIT 1', reason: OPERATOR },
];

export const SQLITE_EXCEPTIONS: readonly Exception[] = [
  ...SHARED_EXCEPTIONS,
  { start: 'SELECT k.seller_id, k.id, k.scopes, k.address_ranges, k.expires_at,',
    reason: BY_SECRET },
  { start: 'SELECT id, position FROM seller WHERE id IN', reason: POSITIONS },
  { start: 'SELECT coalesce(sum(position), 0) AS changes FROM seller', reason: OPERATOR },
  { start: 'SELECT id FROM webhook WHERE seller_id > 0 LIMIT 1', reason: DELIVERY },
  { start: 'SELECT min(next_attempt_at) AS at FROM webhook', reason: DELIVERY },
  { start: 'SELECT min(message_at) AS at FROM webhook', reason: OPERATOR },
  { start: 'SELECT seller_id AS "sellerId",', part: ' FROM webhook AS w INDEXED BY webhook_due ',
    reason: DELIVERY },
  { start: 'SELECT coalesce(max(max( coalesce((SELECT at FROM audit_event', reason: OPERATOR },
];

export const POSTGRES_EXCEPTIONS: readonly Exception[] = [
  ...SHARED_EXCEPTIONS,
  { start: 'SELECT seller_id FROM key_owner WHERE hash =', reason: BY_SECRET },
  { start: 'SELECT id, position FROM seller WHERE id = ANY', reason: POSITIONS },
  { start: 'SELECT id, position, concat(webhook_version,', reason: DELIVERY },
  { start: 'SELECT seller_id AS "sellerId",', part: ' FROM webhook WHERE seller_id = ANY ',
    reason: DELIVERY },
  { start: 'SELECT s.seller_id, s.bucket FROM webhook_seller', reason: DELIVERY },
  { start: 'WITH live AS ( SELECT count(*) AS nodes,', reason: DELIVERY },
  { start: 'SELECT coalesce(sum(position), 0)::text AS sum FROM seller', reason: OPERATOR },
  { start: 'SELECT k.id, k.scopes, k.address_ranges, k.expires_at,', reason: BY_SECRET },
  { start: 'SELECT greatest(( SELECT max(greatest(s.last_at,', reason: OPERATOR },
  { start: 'SELECT seller_id, id FROM ( SELECT seller_id, id, is_running,', reason: OPERATOR },
  { start: 'INSERT INTO audit_segment (', reason: 'A server that starts has a chain of its own.' },
  { start: 'SELECT count(*) AS matches FROM (SELECT p.* FROM product AS p', reason: PAIRS },
  ...['SELECT s.position AS seller_position,', 'SELECT count(*) AS products FROM ('].map((start) =>
    ({ start, part: ' @> $', reason: PAIRS })),
  { start: 'SELECT s.position AS seller_position,', part: ' @> q.value::jsonb', reason: PAIRS },
  { start: 'SELECT FROM seller WHERE id = ANY', reason: TOGETHER },
  { start: 'UPDATE seller AS s SET position = CASE WHEN s.position = m.was', reason: TOGETHER },
  ...['change', 'product', 'change_minute', 'stock_day', 'idempotency'].map((table) =>
    ({ start: `INSERT INTO ${table} (`, part: ') SELECT * FROM unnest(', reason: TOGETHER })),
];

/** Statements that the contract does not execute on PostgreSQL. */
export const POSTGRES_UNEXECUTED: readonly Exception[] = [
  { start: 'SELECT min(groupid) AS place FROM pg_dist_placement', reason: 'On Citus only.' },
  { start: 'SELECT FROM change WHERE seller_id = ? AND position = ? AND batch = ?',
    reason: 'After a lost answer to a COMMIT: late-commit.postgres.ts executes it.' },
  { start: 'SELECT count(*) AS nodes, (SELECT value FROM setting',
    reason: 'No rows of sellers; test/store/postgres/nodes/ executes it.' },
  { start: 'SELECT count(*) AS nodes FROM node WHERE expires_at >',
    reason: 'No rows of sellers; migrate.postgres.ts executes it.' },
  { start: 'SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)',
    reason: 'No rows of sellers; oldest-transaction.postgres.ts executes it.' },
  { start: 'WHERE full_at <=', reason: 'No rows of sellers; test/store/postgres/nodes/ does it.' },
];

/** The column with the seller, by table, of a schema in `src/store/`, with its migrations. */
export function readSellerColumns(schema: string): SellerColumns {
  const files = globSync(join(ROOT, 'src/store', dirname(schema), '*.sql'));
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  const tables = [...text.matchAll(/^CREATE TABLE (\w+) \(([^]*?)^\)/gm)];
  const owned = tables.filter(([, , columns = '']) => /^ +seller_id /m.test(columns));
  assert.ok(owned.length > 15, 'the schema was read');
  return new Map([['seller', 'id'], ...owned.map(([, name = '']) => [name, 'seller_id'] as const)]);
}

/**
 * Fails for a statement without a restriction, and for an exception that is none any more, or that
 * would excuse a restricted statement if it lost its restriction.
 */
export function assertRestricted(
  log: StatementLog, columns: SellerColumns, exceptions: readonly Exception[],
): void {
  const statements = [...log.list()]
    .filter(([text]) => /^(?:SELECT|WITH|INSERT|UPDATE|DELETE)/.test(text))
    .map(([text, parameters]) =>
      ({ text, references: findUnrestricted(text, parameters, columns) }));
  assert.ok(statements.length > 150, 'the statements of the contract were recorded');
  const isAbout = ({ start, part = '' }: Exception, text: string): boolean =>
    text.startsWith(start) && text.includes(part);
  const isException = (text: string): boolean => exceptions.some((one) => isAbout(one, text));
  assert.deepEqual(statements.filter(({ text, references }) =>
    isException(text) !== references.length > 0), []);
  assert.deepEqual(exceptions.filter((exception) =>
    !statements.some(({ text }) => isAbout(exception, text))), []);
}

/**
 * Fails for SQL in the source that was not executed, so that nothing is known about it; apart from
 * files whose paths below `src/store/` start with one of `others`, and from these exceptions.
 */
export function assertExecuted(
  log: StatementLog, others: readonly string[], exceptions: readonly Exception[] = [],
): void {
  const executed = [...log.list().keys()].map(normalizeSql);
  const literals = listSqlLiterals().filter(({ path }) =>
    !others.some((start) => path.startsWith(start)));
  assert.ok(literals.length > 150, 'the source was read');
  const unexecuted = literals.filter(({ text }) => !executed.some((line) => line.includes(text)));
  const isException = (text: string): boolean =>
    exceptions.some(({ start }) => text.startsWith(start));
  assert.deepEqual(unexecuted.filter(({ text }) => !isException(text)), []);
  assert.equal(unexecuted.length, exceptions.length);
}
