/** Webhooks in SQLite: columns, row mapper and queries. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { WEBHOOK_RETRY_LIMIT_MS } from '../../limits.ts';
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { SellerId, WebhookId, WebhookReference } from '../../../domain/id.ts';
import type { Webhook, WebhookAttempt } from '../../../domain/webhooks/webhook.ts';
import type { AttemptQuery, DueQuery } from '../../webhook-store.ts';
import type { PageQuery } from '../../write.ts';
import { readBytes, readInteger, readOptional, type Row } from '../engine/row.ts';

/** A webhook's columns by member. Its secrets are in another table: only signing needs them. */
interface StoredWebhook extends Omit<Webhook, 'types' | 'message'> {
  /** Separated by spaces. */
  readonly types: string | undefined;
  readonly messageId: string | undefined;
  readonly messageFirst: number;
  readonly messageLast: number;
  readonly messageAt: number;
}

const COLUMNS: Readonly<Record<keyof StoredWebhook, string>> = {
  sellerId: 'seller_id', id: 'id', url: 'url', description: 'description', types: 'types',
  status: 'status', disabledReason: 'disabled_reason', position: 'position',
  messageId: 'message_id', messageFirst: 'message_first', messageLast: 'message_last',
  messageAt: 'message_at', failures: 'failures', failingSince: 'failing_since',
  nextAttemptAt: 'next_attempt_at', createdAt: 'created_at', updatedAt: 'updated_at',
};
const MEMBERS = Object.keys(COLUMNS);
const SELECT = `SELECT ${
  Object.entries(COLUMNS).map(([member, column]) => `${column} AS ${member}`).join(', ')}
  FROM webhook`;

export function webhookQueries(db: DatabaseSync) {
  const find = db.prepare(`${SELECT} WHERE seller_id = ? AND id = ?`);
  const list = db.prepare(`${SELECT} WHERE seller_id = ? AND id > ? ORDER BY id LIMIT ?`);
  const findLastId = db.prepare(`
    SELECT coalesce(max(id), 0) AS id FROM webhook WHERE seller_id = ?`);
  const listSecrets = db.prepare(`
    SELECT secret FROM webhook WHERE seller_id = :sellerId AND id = :id UNION ALL
    SELECT old_secret FROM webhook
    WHERE seller_id = :sellerId AND id = :id AND old_secret_ends_at > :at`);
  const listAttempts = db.prepare(`
    SELECT n, message_id AS messageId, kind, first_position AS first, last_position AS last, at,
      duration_ms AS durationMs, status, outcome
    FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ? AND n < ? ORDER BY n DESC LIMIT ?`);
  return {
    findWebhook({ sellerId, id }: WebhookReference): Webhook | undefined {
      const row = find.get(sellerId, id);
      return row && decodeWebhook(row);
    },
    listWebhooks(sellerId: SellerId, query: PageQuery<WebhookId>): Webhook[] {
      return list.all(sellerId, query.after ?? 0, query.limit).map(decodeWebhook);
    },
    findLastWebhookId(sellerId: SellerId): number {
      return readInteger(findLastId.get(sellerId) ?? {}, 'id');
    },
    /** The secrets valid at this time, still encrypted, newest first. */
    listWebhookSecrets({ sellerId, id }: WebhookReference, at: number): Uint8Array[] {
      return listSecrets.all({ sellerId, id, at }).map((row) => readBytes(row, 'secret'));
    },
    listWebhookAttempts({ sellerId, id }: WebhookReference, query: AttemptQuery): WebhookAttempt[] {
      const before = query.before ?? Number.MAX_SAFE_INTEGER;
      // The cast: the columns are named as members, and the STRICT table holds their types.
      return listAttempts.all(sellerId, id, before, query.limit)
        .map((row) => replaceNulls(row) as unknown as WebhookAttempt);
    },
  };
}

/** Queries over all sellers: the only ones without a seller_id. An index covers due webhooks. */
export function dueWebhookQueries(db: DatabaseSync) {
  const prepareList = (isWhen: '<=' | '>') => db.prepare(`
    ${SELECT} AS w INDEXED BY webhook_due
    WHERE status = 'active' AND (failures > 0) = ? AND next_attempt_at ${isWhen} ?
      AND EXISTS (SELECT 1 FROM seller AS s WHERE s.id = w.seller_id AND s.disabled_at IS NULL
        AND (w.message_id IS NOT NULL OR w.position < s.position))
    ORDER BY next_attempt_at, seller_id, id LIMIT ?`);
  const listDue = prepareList('<=');
  // A wait longer than the maximum was started by a clock that was ahead: it is over.
  const listAhead = prepareList('>');
  const findAny = db.prepare('SELECT id FROM webhook WHERE seller_id > 0 LIMIT 1');
  const findRetry = db.prepare(`
    SELECT min(next_attempt_at) AS at FROM webhook INDEXED BY webhook_due
    WHERE status = 'active' AND (failures > 0) = 1 AND next_attempt_at > ?`);
  return {
    hasWebhooks(): boolean {
      return findAny.get() !== undefined;
    },
    listDueWebhooks({ at, isFailing, limit }: DueQuery): Webhook[] {
      const due = listDue.all(Number(isFailing), at, limit);
      const ahead = isFailing && due.length < limit
        ? listAhead.all(1, at + WEBHOOK_RETRY_LIMIT_MS, limit - due.length) : [];
      return [...due, ...ahead].map(decodeWebhook);
    },
    findNextRetry(after: number): number | undefined {
      return readOptional(findRetry.get(after) ?? {}, 'at', readInteger);
    },
  };
}

/** Inserts a webhook with its encrypted secret. */
export function prepareInsertWebhook(db: DatabaseSync) {
  const insert = db.prepare(`
    INSERT INTO webhook (${Object.values(COLUMNS).join(', ')}, secret)
    VALUES (${MEMBERS.map((member) => `:${member}`).join(', ')}, :secret)`);
  return (webhook: Webhook, secret: Uint8Array): void => {
    insert.run({ ...encodeWebhook(webhook), secret });
  };
}

/** Stores an existing webhook, except its secrets. */
export function prepareUpdateWebhook(db: DatabaseSync) {
  const { sellerId: _, id: __, ...changing } = COLUMNS;
  const assignments = Object.entries(changing).map(([member, column]) => `${column} = :${member}`);
  const update = db.prepare(`
    UPDATE webhook SET ${assignments.join(', ')} WHERE seller_id = :sellerId AND id = :id`);
  return (webhook: Webhook): void => void update.run(encodeWebhook(webhook));
}

function decodeWebhook(row: Row): Webhook {
  // The cast: SELECT names the columns as members, and the STRICT table holds their types.
  const { messageId, messageFirst, messageLast, messageAt, ...rest } =
    replaceNulls(row) as unknown as StoredWebhook;
  return {
    ...rest,
    // The cast: only these are written.
    types: rest.types === undefined ? null : rest.types.split(' ') as ChangeType[],
    message: messageId === undefined ? undefined
      : { id: messageId, first: messageFirst, last: messageLast, at: messageAt },
  };
}

/** The values of all columns, by member. */
function encodeWebhook({ message, types, ...rest }: Webhook): Record<string, SQLInputValue> {
  return {
    ...rest, types: types && types.join(' '), disabledReason: rest.disabledReason ?? null,
    failingSince: rest.failingSince ?? null, messageId: message?.id ?? null,
    messageFirst: message?.first ?? null, messageLast: message?.last ?? null,
    messageAt: message?.at ?? null,
  };
}

/** An undefined member is NULL in its column. */
function replaceNulls(row: Row): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined]));
}
