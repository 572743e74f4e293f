/**
 * Due webhooks of all sellers, by an index over them: the only queries without a seller's id. The
 * index is on an expression that SQLite does not choose by itself.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import { WEBHOOK_RETRY_LIMIT_MS } from '../../limits.ts';
import { readInteger, readOptional } from '../../sql/sql.ts';
import { decodeWebhook, SELECT_WEBHOOK } from '../../sql/webhooks/webhooks.ts';
import type { DueQuery } from '../../webhook-store.ts';

export function dueWebhookQueries(db: DatabaseSync) {
  const prepareList = (isWhen: '<=' | '>') => db.prepare(`
    ${SELECT_WEBHOOK} AS w INDEXED BY webhook_due
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
  const findOldest = db.prepare(`
    SELECT min(message_at) AS at FROM webhook INDEXED BY webhook_due WHERE status = 'active'`);
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
    findOldestMessageTime(): number | undefined {
      return readOptional(findOldest.get() ?? {}, 'at', readInteger);
    },
  };
}
