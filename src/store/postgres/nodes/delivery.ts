/**
 * Leases of the delivery of webhooks, in rows; and how nodes notice the changes of webhooks.
 * Sellers are in 64 buckets, each with a lease. A lease has expired once a node has seen the same
 * row for a term by its own monotonic clock: no wall clock is compared.
 */
import { hash } from 'node:crypto';
import type { SellerId } from '../../../domain/id.ts';
import type { SellerVersion } from '../../nodes/due-webhooks.ts';
import type { WebhookLeases } from '../../nodes/webhook-leases.ts';
import { readId, readInteger, readText, type Row } from '../../sql/sql.ts';
import type { MutationName } from '../../rules/mutations/registry.ts';
import { decodeWebhook, SELECT_WEBHOOK } from '../../sql/webhooks/webhooks.ts';
import { queryOf, type Runner } from '../sql.ts';
import type { Statement } from '../wire/statement-run.ts';
import { DATABASE_TIME, removeNode, renewNode } from './node-table.ts';

const BUCKETS = 64;
const REGISTER = `
  INSERT INTO webhook_seller (seller_id, bucket) VALUES ($1, $2)
  ON CONFLICT (seller_id) DO NOTHING`;
/** Lets one node after the other renew its leases. */
const LOCK = 'SELECT bucket FROM webhook_lease WHERE bucket = 0 FOR UPDATE';
/**
 * Those that the node holds come first: it gives up none that it need not. $3 and $4 are buckets
 * that have not been renewed, and what their rows say if that is still so.
 */
const RENEW = `
  WITH live AS (
    SELECT count(*) AS nodes, count(*) FILTER (WHERE id < $1) AS rank
    FROM node WHERE role = 'delivery' AND expires_at > ${DATABASE_TIME}
  ), available AS (
    SELECT bucket, row_number() OVER (ORDER BY holder <> $1, bucket) AS n
    FROM webhook_lease WHERE holder = $1 OR expires_at = 0
      OR (bucket, expires_at) IN (SELECT * FROM unnest($3::bigint[], $4::bigint[]))
  )
  UPDATE webhook_lease AS l SET holder = $1, expires_at = ${DATABASE_TIME} + $2::bigint
  FROM available AS a, live
  WHERE l.bucket = a.bucket AND EXISTS (SELECT FROM webhook_seller)
    AND n <= ${BUCKETS} / nodes + (CASE WHEN rank < ${BUCKETS} % nodes THEN 1 ELSE 0 END)
  RETURNING l.bucket`;
const LIST_SELLERS = `
  SELECT s.seller_id, s.bucket FROM webhook_seller AS s JOIN webhook_lease AS l
  ON l.bucket = s.bucket WHERE l.holder = $1`;
const LIST_LEASES = 'SELECT bucket, expires_at FROM webhook_lease';
/** All except some. */
const GIVE_UP = `
  UPDATE webhook_lease SET holder = '', expires_at = 0
  WHERE holder = $1 AND bucket <> ALL ($2::bigint[])`;

const FIND_VERSIONS = `
  SELECT id, position, concat(webhook_version, ' ', disabled_at) AS version, disabled_at
  FROM seller WHERE id = ANY ($1::bigint[])`;
const LIST_WEBHOOKS = `${SELECT_WEBHOOK} WHERE seller_id = ANY ($1::bigint[])`;

/** What a transaction of a mutation of webhooks executes in addition. */
export function announceMutation(name: MutationName, sellerId: SellerId): readonly Statement[] {
  const text = 'UPDATE seller SET webhook_version = webhook_version + 1 WHERE id = $1';
  return [
    { text, values: [sellerId] },
    ...name === 'createWebhook' ? [{ text: REGISTER, values: [sellerId, bucketOf(sellerId)] }] : [],
  ];
}

/** Of a seller; never changes. */
export function bucketOf(sellerId: SellerId): number {
  return hash('sha256', String(sellerId), 'buffer').readUInt8(0) % BUCKETS;
}

export function webhookLeases(database: Runner): WebhookLeases {
  const query = queryOf(database);
  /** What the row of each bucket says, and since when (`performance.now`). */
  const seen = new Map<number, { readonly expiresAt: number; readonly since: number }>();
  return {
    async renew(nodeId, termMs) {
      const now = performance.now();
      const expired = [...seen].filter(([, { since }]) => now - since >= termMs);
      const columns = [expired.map(([n]) => n), expired.map(([, { expiresAt }]) => expiresAt)];
      const results = await database.run([
        { text: LOCK, values: [] }, ...renewNode(nodeId, 'delivery', termMs),
        { text: RENEW, values: [nodeId, termMs, ...columns] }, { text: LIST_LEASES, values: [] },
      ], { isTransaction: true });
      const [renewed = [], leases = []] = results.slice(-2).map(({ rows }) => rows);
      const since = performance.now();
      for (const row of leases) {
        const [bucket, expiresAt] = [readInteger(row, 'bucket'), readInteger(row, 'expires_at')];
        if (seen.get(bucket)?.expiresAt !== expiresAt) seen.set(bucket, { expiresAt, since });
      }
      const sellers = await query(LIST_SELLERS, nodeId); // many: not while others are locked out
      return {
        buckets: new Set(renewed.map((row) => readInteger(row, 'bucket'))),
        sellers: new Map(sellers.map((row) =>
          [readId<SellerId>(row, 'seller_id'), readInteger(row, 'bucket')])),
      };
    },
    giveUp: async (nodeId, except) => void await query(GIVE_UP, nodeId, [...except]),
    removeNode: (nodeId) => removeNode(database, nodeId),
    findVersions: async (ids) => (await query(FIND_VERSIONS, ids)).map(mapVersion),
    async readWebhooks(ids) {
      const values = [ids];
      const [sellers = [], webhooks = []] = (await database.run([
        { text: FIND_VERSIONS, values }, { text: LIST_WEBHOOKS, values },
      ])).map(({ rows }) => rows);
      return { versions: sellers.map(mapVersion), webhooks: webhooks.map(decodeWebhook) };
    },
  };
}

function mapVersion(row: Row): SellerVersion {
  return {
    id: readId<SellerId>(row, 'id'),
    position: readInteger(row, 'position'),
    version: readText(row, 'version'),
    isDisabled: row['disabled_at'] !== null,
  };
}
