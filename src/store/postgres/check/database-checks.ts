/**
 * Checks that only a database needs: what the server promises, limits that the role needs behind a
 * pooler, and rows that nothing finds.
 */
import { fault, fillIn, type Finding, note, warning } from '../../sql/check/finding.ts';
import { readInteger, readText } from '../../sql/sql.ts';
import { type ConnectOptions, SESSION_LIMITS } from '../connect/open-connection.ts';
import { queryOf, type Query, type Runner } from '../sql.ts';

/** Whether an acknowledged write survives a crash of the server, and a failover. */
export async function* checkDurability(runner: Runner): AsyncGenerator<Finding> {
  const query = queryOf(runner);
  const rows = await query('SELECT name, setting FROM pg_settings');
  const settings = new Map(rows.map((row) => [readText(row, 'name'), readText(row, 'setting')]));
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if (settings.get(name) !== 'off') continue;
    yield fault(`${name} is off: a crash of the server can lose or damage acknowledged writes.`,
      `Set ${name} = on in postgresql.conf, and look for ALTER ROLE and ALTER DATABASE that set `
        + 'it.');
  }
  const [standbys = {}] = await query(`
    SELECT count(*) FILTER (WHERE sync_state = 'async') AS asynchronous, count(*) AS n
    FROM pg_stat_replication`);
  const count = readInteger(standbys, 'n');
  if (count > 0 && settings.get('synchronous_standby_names') === '') {
    yield warning('No standby is synchronous: a failover can lose acknowledged writes.',
      'Set synchronous_standby_names in postgresql.conf.');
  }
  if (settings.get('data_checksums') === 'off') {
    yield note('Pages of the database have no checksums.',
      'With them, damage by a disk is noticed: stop the server and run pg_checksums --enable.');
  }
}

/** A Unix socket between pooler and server has no `tcp_user_timeout`. */
const FIND_UNLIMITED = `
  SELECT name, current_user::text AS role FROM pg_settings
  WHERE name = ANY ($1::text[]) AND setting = '0'
    AND (name <> 'tcp_user_timeout' OR inet_client_addr() IS NOT NULL)
  ORDER BY name`;

/** Behind a pooler in transaction mode: what is unlimited in the sessions that nodes get. */
export async function findUnlimited(
  query: Query, { poolMode }: Pick<ConnectOptions, 'poolMode'>,
): Promise<Finding | undefined> {
  if (poolMode !== 'transaction') return undefined;
  const rows = await query(FIND_UNLIMITED, Object.keys(SESSION_LIMITS));
  const [{ role } = {}] = rows;
  if (role === undefined) return undefined;
  const names = rows.map((row) => readText(row, 'name'));
  const commands = names.map((name) =>
    `ALTER ROLE "${role}" SET ${name} = '${SESSION_LIMITS[name]}ms';`);
  return warning(
    `Sessions behind the pooler have no ${names.join(', no ')}: a node that is paused or lost can `
      + 'block the writes of its sellers for as long as it is gone.',
    `Run ${commands.join(' ')} and then RECONNECT in pgbouncer's console.`,
  );
}

const FOREIGN_ROWS = `
  SELECT table_name::text AS name FROM information_schema.columns
  WHERE table_schema = current_schema() AND column_name = 'seller_id'
    AND table_name <> 'rate_lease' ORDER BY 1`;

/** Rows of a table that find rows of another one, without which nothing would find those. */
const LOST_ROWS: readonly (readonly [select: string, sentence: string])[] = [
  [`SELECT k.seller_id, count(*) AS n FROM api_key AS k
    LEFT JOIN key_owner AS o ON o.hash = k.hash AND o.seller_id = k.seller_id
    WHERE o.hash IS NULL GROUP BY k.seller_id`,
  'Keys of seller {seller} that requests do not find: {n}.'],
  [`SELECT w.seller_id, count(*) AS n FROM webhook AS w
    LEFT JOIN webhook_seller AS s ON s.seller_id = w.seller_id
    WHERE s.seller_id IS NULL GROUP BY w.seller_id`,
  'Webhooks of seller {seller} that no node delivers: {n}.'],
];

/** Rows of sellers that do not exist, and rows that nothing finds. */
export async function* checkReferences(runner: Runner): AsyncGenerator<Finding> {
  const query = queryOf(runner);
  for (const table of await query(FOREIGN_ROWS)) {
    const name = readText(table, 'name');
    const rows = await query(`
      SELECT t.seller_id, count(*) AS n FROM ${name} AS t
      LEFT JOIN seller AS s ON s.id = t.seller_id
      WHERE s.id IS NULL AND t.seller_id > 0 GROUP BY t.seller_id ORDER BY 1 LIMIT 100`);
    for (const row of rows) {
      yield fault(fillIn(`Rows of ${name} are of seller {seller}, who does not exist: {n}.`, row));
    }
  }
  for (const [select, sentence] of LOST_ROWS) {
    const rows = await query(`${select} ORDER BY 1 LIMIT 100`);
    for (const row of rows) yield fault(fillIn(sentence, row));
  }
}
