/** Whether the cursors of webhooks stand in the history of their sellers. */
import type { DatabaseSync } from 'node:sqlite';
import { formatWebhookId, type SellerId, type WebhookId } from '../../../domain/id.ts';
import { readInteger } from '../engine/row.ts';
import { fault, type Finding } from './finding.ts';

export function* checkWebhooks(db: DatabaseSync): Generator<Finding, void, void> {
  const rows = db.prepare(`
    SELECT w.seller_id, w.id, s.position, max(w.position, coalesce(w.message_last, 0)) AS reached
    FROM webhook AS w JOIN seller AS s ON s.id = w.seller_id
    WHERE w.position > s.position OR w.message_last > s.position
    ORDER BY w.seller_id, w.id`);
  for (const row of rows.iterate()) {
    // The columns hold what these brands mean.
    const webhook = formatWebhookId({
      sellerId: readInteger(row, 'seller_id') as SellerId, id: readInteger(row, 'id') as WebhookId,
    });
    yield fault(
      `Webhook ${webhook} has come to position ${readInteger(row, 'reached')}, and its seller `
        + `stands at ${readInteger(row, 'position')}.`,
      'Replay it from a position that there is, or delete it and make another.',
    );
  }
}
