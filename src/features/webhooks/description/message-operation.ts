/** The OpenAPI description of the messages that webhooks receive. */
import { WEBHOOK_MESSAGE_CHANGES_LIMIT } from '../limits.ts';
import { JSON_TYPE } from '../../../api/media-types.ts';
import type { WebhookOperation } from '../../../api/description/operation.ts';
import { product, stockChange } from '../../../api/description/examples.ts';
import { refer } from '../../../api/description/schema.ts';
import { tag, webhook } from './operations.ts';

const text = { type: 'string', minLength: 1 };
const timestamp = '2026-11-20T10:49:00.213Z';
const position = stockChange.position;

const { position: _, type: __, data: movement, ...origin } = stockChange;
const { before, after, delta, ...reason } = movement;
const stockEvent = {
  webhook_id: webhook.id, position, ...origin, stock_before: before, stock_after: after,
  stock_delta: delta, ...reason, product: { ...product, stock: after },
};

/** What `message.ts` formats and `signMessage` signs. */
export const messageOperation: WebhookOperation = {
  id: 'webhookMessage',
  tag,
  summary: 'Message to a webhook',
  description: 'Sent to the URL of each webhook: up to '
    + `${WEBHOOK_MESSAGE_CHANGES_LIMIT} changes, in order and at least once; one change, if its `
    + '`delivery` is `single`; or a test. Signed '
    + 'according to Standard Webhooks 1.0.0: verify the signature over the raw body before you '
    + 'parse it.',
  headers: [
    {
      field: 'webhook-id', required: true, schema: text, example: 'msg_8e0397',
      description: 'Identifies the message. A retry has the same id.',
    },
    {
      field: 'webhook-timestamp', required: true, example: 1_795_171_740,
      schema: { type: 'integer', minimum: 0 },
      description: 'When this attempt started, in Unix seconds. Reject a message that is more than '
        + '5 minutes old.',
    },
    {
      field: 'webhook-signature', required: true, schema: text,
      example: `v1,${'A'.repeat(43)}=`,
      description: '`v1,` and the Base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` '
        + 'with the decoded secret. While a secret is rotated there are two signatures, separated '
        + 'by a space.',
    },
  ],
  request: {
    [JSON_TYPE]: {
      schema: refer('WebhookMessage'),
      examples: {
        changes: {
          value: {
            type: 'changes', timestamp,
            data: {
              webhook_id: webhook.id, first_position: position, last_position: position,
              changes: [stockChange],
            },
          },
        },
        single: { value: { type: 'stock.changed', timestamp: stockChange.at, data: stockEvent } },
        test: { value: { type: 'test', timestamp, data: { webhook_id: webhook.id } } },
      },
    },
  },
  responses: {
    '2XX': 'The message was received. The next one follows.',
    410: 'The webhook is disabled at once.',
    default: 'The message is sent again later. Redirects are not followed.',
  },
};
