/** The table of live nodes. A node that does not renew its row is gone once that has expired. */
import { repeat } from '../../../runtime/repeat.ts';
import { readInteger } from '../../sql/sql.ts';
import { NODE_INTERVALS } from '../../nodes/webhook-leases.ts';
import type { Runner } from '../sql.ts';
import type { Statement } from '../wire/statement-run.ts';

/**
 * Milliseconds since 1970, by the database's clock. It is a constant of the statement (STABLE), as
 * Citus demands where rows are changed.
 */
export const DATABASE_TIME = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint';

const RENEW_NODE = `
  INSERT INTO node (id, role, expires_at) VALUES ($1, $2, ${DATABASE_TIME} + $3::bigint)
  ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`;

/** Renews the row of a node, and removes those of nodes that are gone. */
export function renewNode(
  id: string, role: 'delivery' | 'limits', expiryMs: number,
): readonly Statement[] {
  return [
    { text: RENEW_NODE, values: [id, role, expiryMs] },
    { text: `DELETE FROM node WHERE expires_at <= ${DATABASE_TIME}`, values: [] },
  ];
}

export async function removeNode(database: Runner, id: string): Promise<void> {
  await database.run([{ text: 'DELETE FROM node WHERE id = $1', values: [id] }]);
}

/** Counts the nodes that share rate limits; the first call of `read` makes this process one. */
export function openNodeCount(database: Runner, { renewMs, expiryMs } = NODE_INTERVALS) {
  const id = crypto.randomUUID();
  let renewal: ReturnType<typeof repeat> | undefined;
  let count = 1;
  const select = `SELECT count(*) AS nodes FROM node WHERE role = 'limits'`;
  return {
    /** At least 1, as of the last renewal. */
    read(): number {
      renewal ??= repeat(async () => {
        const statements = [...renewNode(id, 'limits', expiryMs), { text: select, values: [] }];
        count = readInteger((await database.run(statements)).at(-1)?.rows[0] ?? {}, 'nodes');
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
