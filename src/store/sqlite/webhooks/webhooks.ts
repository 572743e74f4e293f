/** Webhooks in SQLite: their queries, and the mapping between rows and webhooks. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { WEBHOOK_RETRY_LIMIT_MS } from '../../limits.ts';
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { SellerId, WebhookId, WebhookReference } from '../../../domain/id.ts';
import type {
  NewWebhook, Webhook, WebhookAttempt, WebhookMessage, WebhookStatus,
} from '../../../domain/webhooks/webhook.ts';
import type { AttemptQuery, DueQuery } from '../../webhook-store.ts';
import type { PageQuery } from '../../write.ts';
import { readBytes, readId, readInteger, readOptional, readText, type Row } from '../engine/row.ts';

/** All but the secrets, which only signing needs. */
export const WEBHOOK_COLUMNS = `seller_id, id, url, description, types, status, disabled_reason,
  position, message_id, message_first, message_last, message_at, failures, failing_since,
  next_attempt_at, created_at, updated_at`;
const ATTEMPT_COLUMNS = `n, message_id, kind, first_position, last_position, at, duration_ms,
  status, outcome`;

/** The current secret, and the one before it until its overlap ends. */
interface EncryptedSecrets {
  readonly secret: Uint8Array;
  readonly old: { readonly secret: Uint8Array; readonly endsAt: number } | undefined;
}

export function webhookQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE seller_id = ? AND id = ?`);
  const list = db.prepare(`
    SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE seller_id = ? AND id > ? ORDER BY id LIMIT ?`);
  const findLastId = db.prepare(`
    SELECT coalesce(max(id), 0) AS id FROM webhook WHERE seller_id = ?`);
  const findSecrets = db.prepare(`
    SELECT secret, old_secret, old_secret_ends_at FROM webhook WHERE seller_id = ? AND id = ?`);
  const listAttempts = db.prepare(`
    SELECT ${ATTEMPT_COLUMNS} FROM webhook_attempt
    WHERE seller_id = ? AND webhook_id = ? AND n < ? ORDER BY n DESC LIMIT ?`);
  return {
    findWebhook({ sellerId, id }: WebhookReference): Webhook | undefined {
      const row = find.get(sellerId, id);
      return row && mapWebhook(row);
    },
    listWebhooks(sellerId: SellerId, query: PageQuery<WebhookId>): Webhook[] {
      return list.all(sellerId, query.after ?? 0, query.limit).map(mapWebhook);
    },
    findLastWebhookId(sellerId: SellerId): number {
      return readInteger(findLastId.get(sellerId) ?? {}, 'id');
    },
    findEncryptedSecrets({ sellerId, id }: WebhookReference): EncryptedSecrets | undefined {
      const row = findSecrets.get(sellerId, id);
      if (!row) return undefined;
      const old = readOptional(row, 'old_secret', readBytes);
      return {
        secret: readBytes(row, 'secret'),
        old: old && { secret: old, endsAt: readInteger(row, 'old_secret_ends_at') },
      };
    },
    listWebhookAttempts({ sellerId, id }: WebhookReference, query: AttemptQuery): WebhookAttempt[] {
      const before = query.before ?? Number.MAX_SAFE_INTEGER;
      return listAttempts.all(sellerId, id, before, query.limit).map(mapAttempt);
    },
  };
}

/** Queries over all sellers: the only ones without a seller_id. An index covers due webhooks. */
export function dueWebhookQueries(db: DatabaseSync) {
  const columns = WEBHOOK_COLUMNS.split(',').map((name) => `w.${name.trim()}`).join(', ');
  const prepareList = (isWhen: '<=' | '>') => db.prepare(`
    SELECT ${columns} FROM webhook AS w INDEXED BY webhook_due
    JOIN seller AS s ON s.id = w.seller_id
    WHERE w.status = 'active' AND (w.failures > 0) = ? AND w.next_attempt_at ${isWhen} ?
      AND s.disabled_at IS NULL
      AND (w.message_id IS NOT NULL OR w.position < s.position)
    ORDER BY w.next_attempt_at, w.seller_id, w.id LIMIT ?`);
  const listDue = prepareList('<=');
  // A wait longer than the longest was started by a clock that was ahead: it is over.
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
      return [...due, ...ahead].map(mapWebhook);
    },
    findNextRetry(after: number): number | undefined {
      return readOptional(findRetry.get(after) ?? {}, 'at', readInteger);
    },
  };
}

export function mapWebhook(row: Row): Webhook {
  const types = readOptional(row, 'types', readText);
  return {
    sellerId: readId<SellerId>(row, 'seller_id'),
    id: readId<WebhookId>(row, 'id'),
    url: readText(row, 'url'),
    description: readText(row, 'description'),
    // The casts: these columns hold only values of their types.
    types: types === undefined ? null : types.split(' ') as ChangeType[],
    status: readText(row, 'status') as WebhookStatus,
    disabledReason: readOptional(row, 'disabled_reason', readText),
    position: readInteger(row, 'position'),
    message: mapMessage(row),
    failures: readInteger(row, 'failures'),
    failingSince: readOptional(row, 'failing_since', readInteger),
    nextAttemptAt: readInteger(row, 'next_attempt_at'),
    createdAt: readInteger(row, 'created_at'),
    updatedAt: readInteger(row, 'updated_at'),
  };
}

/** The columns that change, by name. */
export function encodeWebhook(webhook: Webhook): Record<string, SQLInputValue> {
  const { sellerId, id, status, position, message } = webhook;
  return {
    sellerId, id, ...encodeSettings(webhook), status, position,
    disabledReason: webhook.disabledReason ?? null,
    ...encodeMessage(message),
    failures: webhook.failures,
    failingSince: webhook.failingSince ?? null,
    nextAttemptAt: webhook.nextAttemptAt,
    updatedAt: webhook.updatedAt,
  };
}

/** The columns that a seller sets, by name. */
export function encodeSettings({ url, description, types }: NewWebhook) {
  return { url, description, types: types && types.join(' ') };
}

/** All columns of a message by name, NULL if there is none. */
export function encodeMessage(message: WebhookMessage | undefined) {
  return {
    messageId: message?.id ?? null, messageFirst: message?.first ?? null,
    messageLast: message?.last ?? null, messageAt: message?.at ?? null,
  };
}

function mapMessage(row: Row): WebhookMessage | undefined {
  const id = readOptional(row, 'message_id', readText);
  return id === undefined ? undefined : {
    id,
    first: readInteger(row, 'message_first'),
    last: readInteger(row, 'message_last'),
    at: readInteger(row, 'message_at'),
  };
}

function mapAttempt(row: Row): WebhookAttempt {
  return {
    n: readInteger(row, 'n'),
    messageId: readText(row, 'message_id'),
    // The cast: a CHECK of the table allows only these.
    kind: readText(row, 'kind') as WebhookAttempt['kind'],
    first: readOptional(row, 'first_position', readInteger),
    last: readOptional(row, 'last_position', readInteger),
    at: readInteger(row, 'at'),
    durationMs: readInteger(row, 'duration_ms'),
    status: readOptional(row, 'status', readInteger),
    outcome: readText(row, 'outcome'),
  };
}
