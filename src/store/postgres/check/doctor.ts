/**
 * The checks of `doctor` on a database, even while servers use it: one read-only transaction, so
 * that all of them see the same state; one seller after the other; and rows by a cursor, so that
 * memory does not grow with the catalogue.
 */
import type { SellerId } from '../../../domain/id.ts';
import type { DatabaseLocation } from '../../database-engine.ts';
import { readServerKeyFile } from '../../nodes/secret-files.ts';
import { deriveAuditKey, SERVER_CHAIN } from '../../rules/audit.ts';
import { AUDIT_SCANS, scanCodes } from '../../sql/check/audit-chain.ts';
import { AUDIT_CHECK, CATALOGUE_CHECKS } from '../../sql/check/catalogue-checks.ts';
import {
  type CatalogueCheck, type Check, collectFindings, type Dialect, type Finding, type Scan,
  unreadable,
} from '../../sql/check/finding.ts';
import { JSON_SCAN } from '../../sql/check/history.ts';
import { secretScans } from '../../sql/check/secrets.ts';
import { readId } from '../../sql/sql.ts';
import { openConnection } from '../connect/open-connection.ts';
import { explainOpening } from '../connect/opening-failures.ts';
import { readConnectOptions } from '../database.ts';
import { POSTGRES_CURSOR_ROWS } from '../limits.ts';
import { assertSchema, assertServerKey, liftLimits, makePatientRunner } from '../schema/migrate.ts';
import { queryOf, readByCursor, type Runner } from '../sql.ts';
import { PostgresError } from '../wire/errors.ts';
import { checkDurability, checkReferences, findUnlimited } from './database-checks.ts';

/** What finds something without a scan of catalogues. */
type Search = (runner: Runner) => AsyncIterable<Finding>;

const LIMITS_CHECK = { name: 'limits', subject: 'time limits of sessions behind the pooler' };

/** `find` of each must be called before the next one. @throws AppError as a server does */
export async function* checkDatabase(location: DatabaseLocation): AsyncGenerator<Check> {
  const connect = readConnectOptions(location);
  const key = readServerKeyFile(location.serverKeyFile);
  const connection = await openConnection(connect).catch(explainOpening);
  try {
    const runner = makePatientRunner(connection);
    const query = queryOf(runner);
    await assertSchema(query);
    await assertServerKey(query, key);
    await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const unlimited = await findUnlimited(query, connect);
    await liftLimits(query);
    const make = (name: string, subject: string, search: Search): Check =>
      ({ name, subject, find: () => runCheck(runner, search) });
    const scanned = ({ name, subject, scans }: CatalogueCheck, first: number): Check =>
      make(name, subject, () => runScans(runner, scans, first));
    yield make('durability', 'settings and standbys of the database server', checkDurability);
    if (unlimited) yield { ...LIMITS_CHECK, find: () => [unlimited] };
    yield make('references', 'rows of sellers, and tables that find them', checkReferences);
    for (const check of CATALOGUE_CHECKS) yield scanned(check, 1);
    yield make('snapshots', 'snapshots of products in the history, as JSON',
      () => runScans(runner, [JSON_SCAN], 1));
    const scans = [...AUDIT_SCANS, ...scanCodes(deriveAuditKey(key))];
    yield scanned({ ...AUDIT_CHECK, scans }, SERVER_CHAIN);
    yield make('secrets', 'secrets, which the server\'s key decrypts',
      () => runScans(runner, secretScans(key), 1));
  } finally {
    await connection.close();
  }
}

/** A statement that fails is a fault. */
async function runCheck(runner: Runner, search: Search): Promise<readonly Finding[]> {
  const query = queryOf(runner);
  const findings = collectFindings();
  await query('SAVEPOINT doctor_check');
  try {
    for await (const finding of search(runner)) if (!findings.add(finding)) break;
  } catch (error) {
    if (!(error instanceof PostgresError || error instanceof TypeError)) throw error;
    findings.add(unreadable(error));
  }
  await query('ROLLBACK TO SAVEPOINT doctor_check'); // which closes its cursor
  return findings.list();
}

/** @param first The lowest number of a seller, or of a chain. */
async function* runScans(
  runner: Runner, scans: readonly Scan[], first: number,
): AsyncGenerator<Finding> {
  for (const scan of scans.filter(({ isGlobal }) => isGlobal)) yield* runScan(runner, scan, 0);
  const own = scans.filter(({ isGlobal }) => !isGlobal);
  for await (const id of listOwners(runner, first)) {
    for (const scan of own) yield* runScan(runner, scan, id);
  }
}

async function* listOwners(runner: Runner, first: number): AsyncGenerator<number> {
  if (first === SERVER_CHAIN) yield SERVER_CHAIN;
  const query = queryOf(runner);
  for (let last = 0; ;) {
    const rows = await query('SELECT id FROM seller WHERE id > $1 ORDER BY id LIMIT $2',
      last, POSTGRES_CURSOR_ROWS);
    for (const row of rows) yield last = readId<SellerId>(row, 'id');
    if (rows.length < POSTGRES_CURSOR_ROWS) return;
  }
}

async function* runScan(
  runner: Runner, { select, begin }: Scan, id: number,
): AsyncGenerator<Finding> {
  const visit = begin();
  const dialect: Dialect = {
    of: (column) => `${column} = ${id}`,
    isJson: () => 'TRUE', // see JSON_SCAN
    members: (column) => `json_each_text(${column}::json)`,
  };
  const rows = readByCursor(runner, { text: select(dialect), values: [] });
  for await (const page of rows) for (const row of page) yield* visit(row);
}
