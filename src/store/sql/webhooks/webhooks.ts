/** Webhooks: columns, row mapper and queries. */
import type { SellerId, WebhookReference } from '../../../domain/id.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import type { WebhookType } from '../../../domain/webhooks/webhook-type.ts';
import type {
  WebhookAttempt, WebhookAttemptDetail,
} from '../../../domain/webhooks/webhook-attempt.ts';
import type { WebhookStore } from '../../webhook-store.ts';
import type { QueriesOf } from '../port-methods.ts';
import {
  type Parameters, prepareFind, prepareList, readBytes, readInteger, readText, type Row, type Sql,
} from '../sql.ts';

/** A webhook's columns by member, without its secrets: only signing needs them. */
interface StoredWebhook extends Omit<Webhook, 'types' | 'message'> {
  /** Separated by spaces. */
  readonly types: string | undefined;
  readonly messageId: string | undefined;
  readonly messageFirst: number;
  readonly messageLast: number;
  readonly messageAt: number;
  readonly messageEvent: WebhookType | undefined;
  readonly messageLowStock: number | undefined;
}

/** The column `detail` of an attempt, as JSON. */
export type StoredDetail = Pick<WebhookAttemptDetail, 'exchange' | 'message'>;

const COLUMNS: Readonly<Record<keyof StoredWebhook, string>> = {
  sellerId: 'seller_id', id: 'id', url: 'url', description: 'description', types: 'types',
  delivery: 'delivery',
  status: 'status', disabledReason: 'disabled_reason', position: 'position',
  messageId: 'message_id', messageFirst: 'message_first', messageLast: 'message_last',
  messageAt: 'message_at', messageEvent: 'message_event', messageLowStock: 'message_low_stock',
  failures: 'failures', failingSince: 'failing_since',
  failingLivedSince: 'failing_lived_since',
  nextAttemptAt: 'next_attempt_at', createdAt: 'created_at', updatedAt: 'updated_at',
  createdBy: 'created_by',
};
const MEMBERS = Object.keys(COLUMNS);
const ATTEMPT_COLUMNS = `n, message_id AS "messageId", kind, first_position AS first,
  last_position AS last, at, duration_ms AS "durationMs", status, outcome`;
/** Names the columns as members. */
export const SELECT_WEBHOOK = `SELECT ${
  Object.entries(COLUMNS).map(([member, column]) => `${column} AS "${member}"`).join(', ')}
  FROM webhook`;

export function prepareFindWebhook(sql: Sql) {
  const find = prepareFind(
    sql, decodeWebhook, `${SELECT_WEBHOOK} WHERE seller_id = :sellerId AND id = :id`);
  return ({ sellerId, id }: WebhookReference) => find({ sellerId, id });
}

/** The queries behind the methods that need the server's key. */
export interface WebhookKeyQueries {
  findLastWebhookId(sellerId: SellerId): Promise<number>;
  /** The secrets valid at this time, still encrypted, newest first. */
  listWebhookSecrets(webhook: WebhookReference, at: number): Promise<readonly Uint8Array[]>;
}

export function webhookQueries(sql: Sql) {
  const list = prepareList(sql, decodeWebhook, `
    ${SELECT_WEBHOOK} WHERE seller_id = :sellerId AND id > :after ORDER BY id LIMIT :limit`);
  const findLastId = sql.prepare(`
    SELECT coalesce(max(id), 0) AS id FROM webhook WHERE seller_id = :sellerId`);
  const findThreshold = sql.prepare('SELECT low_stock FROM seller WHERE id = :sellerId');
  const listSecrets = prepareList(sql, (row) => readBytes(row, 'secret'), `
    SELECT secret FROM webhook WHERE seller_id = :sellerId AND id = :id UNION ALL
    SELECT old_secret FROM webhook
    WHERE seller_id = :sellerId AND id = :id AND old_secret_ends_at > :at`);
  // The cast: the columns are named as members, and the table holds their types.
  const mapAttempt = (row: Row) => replaceNulls(row) as unknown as WebhookAttempt;
  const listAttempts = prepareList(sql, mapAttempt, `
    SELECT ${ATTEMPT_COLUMNS} FROM webhook_attempt
    WHERE seller_id = :sellerId AND webhook_id = :id AND n < :before
    ORDER BY n DESC LIMIT :limit`);
  const findAttempt = sql.prepare(`
    SELECT ${ATTEMPT_COLUMNS}, detail FROM webhook_attempt
    WHERE seller_id = :sellerId AND webhook_id = :id AND n = :n`);
  return {
    findWebhook: prepareFindWebhook(sql),
    listWebhooks: (sellerId, { after, limit }) => list({ sellerId, after: after ?? 0, limit }),
    findLowStock: async (sellerId) =>
      readInteger(await findThreshold.get({ sellerId }) ?? {}, 'low_stock'),
    findLastWebhookId: async (sellerId) =>
      readInteger(await findLastId.get({ sellerId }) ?? {}, 'id'),
    listWebhookSecrets: ({ sellerId, id }, at) => listSecrets({ sellerId, id, at }),
    listWebhookAttempts: ({ sellerId, id }, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      listAttempts({ sellerId, id, before, limit }),
    async findWebhookAttempt({ sellerId, id }, n) {
      const row = await findAttempt.get({ sellerId, id, n });
      if (!row) return undefined;
      const { detail, ...attempt } = row;
      const members = JSON.parse(detail === null ? '{}' : readText(row, 'detail'));
      // The cast: as above, and `detail` is a `StoredDetail`.
      return { ...replaceNulls(attempt), ...members } as WebhookAttemptDetail;
    },
  } satisfies Partial<QueriesOf<WebhookStore>> & WebhookKeyQueries;
}

/** Inserts a webhook with its encrypted secret. */
export function prepareInsertWebhook(sql: Sql) {
  const insert = sql.prepare(`
    INSERT INTO webhook (${Object.values(COLUMNS).join(', ')}, secret)
    VALUES (${MEMBERS.map((member) => `:${member}`).join(', ')}, :secret)`);
  return async (webhook: Webhook, secret: Uint8Array): Promise<void> => {
    await insert.run({ ...encodeWebhook(webhook), secret });
  };
}

/** Stores an existing webhook, except its secrets. */
export function prepareUpdateWebhook(sql: Sql) {
  const { sellerId: _, id: __, ...changing } = COLUMNS;
  const assignments = Object.entries(changing).map(([member, column]) => `${column} = :${member}`);
  const update = sql.prepare(`
    UPDATE webhook SET ${assignments.join(', ')} WHERE seller_id = :sellerId AND id = :id`);
  return async (webhook: Webhook): Promise<void> => {
    await update.run(encodeWebhook(webhook));
  };
}

/** From a row of `SELECT_WEBHOOK`. */
export function decodeWebhook(row: Row): Webhook {
  // The cast: SELECT names the columns as members, and the table holds their types.
  const { messageId, messageFirst, messageLast, messageAt, messageEvent, messageLowStock, ...rest }
    = replaceNulls(row) as unknown as StoredWebhook;
  // The cast: only these are written.
  const types = rest.types === undefined ? null : rest.types.split(' ') as WebhookType[];
  return {
    ...rest,
    types,
    message: messageId === undefined ? undefined : {
      id: messageId, first: messageFirst, last: messageLast, at: messageAt,
      types, // a change of types drops the message
      ...(messageEvent !== undefined && { event: messageEvent }),
      ...(messageLowStock !== undefined && { lowStock: messageLowStock }),
    },
  };
}

/** The values of all columns, by member. */
function encodeWebhook({ message, types, ...rest }: Webhook): Parameters {
  return {
    ...rest, types: types && types.join(' '), messageId: message?.id,
    messageFirst: message?.first, messageLast: message?.last, messageAt: message?.at,
    messageEvent: message?.event, messageLowStock: message?.lowStock,
  } satisfies Record<keyof StoredWebhook, unknown>;
}

/** An undefined member is NULL in its column. */
function replaceNulls(row: Row): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined]));
}
