/** The table of live nodes. A node that does not renew its row is gone once that has expired. */
import { AppError } from '../../../domain/error.ts';
import { repeat } from '../../../runtime/repeat.ts';
import { readInteger } from '../../sql/sql.ts';
import { NODE_EXPIRY_MS } from '../../limits.ts';
import { NODE_INTERVALS } from '../../nodes/webhook-leases.ts';
import type { Query, Runner } from '../sql.ts';
import type { Statement } from '../wire/statement-run.ts';

/**
 * Milliseconds since 1970, by the database's clock. It is a constant of the statement (STABLE), as
 * Citus demands where rows are changed.
 */
export const DATABASE_TIME = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint';

const RENEW_NODE = `
  INSERT INTO node (id, role, expires_at) VALUES ($1, $2, ${DATABASE_TIME} + $3::bigint)
  ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`;

/** Times that are too far ahead are from before the database's clock was set back. */
const REMOVE_NODES = `
  DELETE FROM node
  WHERE expires_at NOT BETWEEN ${DATABASE_TIME} + 1 AND ${DATABASE_TIME} + 2 * $1::bigint`;

const WRONG_SCHEMA = 'The database has the wrong schema, that of another version of this server. '
  + 'Nothing was changed. Stop this server, and start the version that ran `migrate`.';

/** Renews the row of a node, and removes those of nodes that are gone. */
export function renewNode(
  id: string, role: 'delivery' | 'limits', expiryMs: number,
): readonly Statement[] {
  return [
    { text: RENEW_NODE, values: [id, role, expiryMs] },
    { text: REMOVE_NODES, values: [expiryMs] },
  ];
}

export async function removeNode(database: Runner, id: string): Promise<void> {
  await database.run([{ text: 'DELETE FROM node WHERE id = $1', values: [id] }]);
}

/** @throws AppError `unavailable` while servers use the database, or shortly after one crashed */
export async function assertNoServers(query: Query): Promise<void> {
  const [row = {}] = await query(`
    SELECT count(*) AS nodes FROM node WHERE expires_at > ${DATABASE_TIME}`);
  if (readInteger(row, 'nodes') === 0) return;
  throw new AppError('unavailable', 'Servers use this database. Nothing was changed: stop all of '
    + `them first. One that was killed is forgotten after ${NODE_EXPIRY_MS / 1_000} seconds.`);
}

/**
 * Counts the nodes that share rate limits; the first call of `read` makes this process one. Each
 * renewal also notices that the database got another schema version than this process has.
 */
export function openNodeCount(
  database: Runner, schemaVersion: number, { renewMs, expiryMs } = NODE_INTERVALS,
) {
  const id = crypto.randomUUID();
  let renewal: ReturnType<typeof repeat> | undefined;
  let count = 1;
  let problem: string | undefined;
  const select = `
    SELECT count(*) AS nodes, (SELECT value FROM setting WHERE name = 'schema_version') AS version
    FROM node WHERE role = 'limits'`;
  return {
    /** Why nothing may be written, as of the last renewal. */
    findProblem: (): string | undefined => problem,
    /** At least 1, as of the last renewal. */
    read(): number {
      renewal ??= repeat(async () => {
        const statements = [...renewNode(id, 'limits', expiryMs), { text: select, values: [] }];
        const [row = {}] = (await database.run(statements)).at(-1)?.rows ?? [];
        count = readInteger(row, 'nodes');
        problem = row['version'] === String(schemaVersion) ? undefined : WRONG_SCHEMA;
      }, renewMs);
      return count;
    },
    /** The others count this process no more. */
    async close(): Promise<void> {
      await renewal?.stop();
      if (renewal) await removeNode(database, id).catch(() => {}); // then it expires
    },
  };
}
