/** The OpenAPI operations of webhooks, and the messages that webhooks receive. */
import { WEBHOOK_MESSAGE_CHANGES_LIMIT } from '../limits.ts';
import { WEBHOOK_ATTEMPTS_KEPT } from '../../../store/limits.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../../../api/media-types.ts';
import {
  groupOperations, type Tag, type WebhookOperation,
} from '../../../api/description/operation.ts';
import { jsonOf, refer, respondJson } from '../../../api/description/schema.ts';
import { pageParameters } from '../../../api/list.ts';
import { product, stockChange } from '../../../api/description/examples.ts';

const webhook = {
  id: 'whk_1k7s94cm9001k7s94bi600',
  url: 'https://shop.example/changes', description: 'Cash desk', types: ['created', 'stock'],
  delivery: 'batch',
  status: 'active',
  disabled_reason: null,
  position: 12,
  failing_since: null,
  next_attempt_at: null,
  created_at: '2026-11-20T10:48:13.257Z',
  updated_at: '2026-11-20T10:48:13.257Z',
};
const { url, description, types } = webhook;
const withSecret = { ...webhook, secret: `whsec_${'A'.repeat(43)}=` };
const delivery = {
  n: 7, message_id: 'msg_8e0397', kind: 'changes', first_position: 11,
  last_position: 12,
  at: '2026-11-20T10:48:14.002Z', duration_ms: 48, status: 200, outcome: 'delivered',
};
const detail = {
  ...delivery, status: 503, outcome: 'responded with 503', url: webhook.url,
  request: {
    headers: [{ name: 'content-type', value: JSON_TYPE }],
    body: '{"type":"changes",...', body_bytes: 31_207,
  },
  response: { headers: [{ name: 'retry-after', value: '60' }], body: 'Down for maintenance' },
};
const test = {
  ...delivery, n: 8, message_id: 'msg_5d6f9a', kind: 'test', first_position: null,
  last_position: null,
};

const tag: Tag = {
  name: 'Webhooks', description: 'Have every change to your catalogue sent to your own server.',
};

const patch = jsonOf('WebhookPatch', { types: null, status: 'active' });

/** Shared by the operations that change a webhook. */
const change = {
  requestHeaders: ['IdempotencyKey'],
  responses: { 200: respondJson('The webhook after the change.', 'Webhook', webhook) },
} as const;

export const webhookOperations = groupOperations(tag, {
  list: {
    id: 'listWebhooks',
    summary: 'List webhooks',
    description: 'In creation order.',
    query: pageParameters,
    responses: {
      200: respondJson('A page.', 'WebhookPage', { webhooks: [webhook], next_cursor: null }),
    },
    problems: [404],
  },
  create: {
    ...change,
    id: 'createWebhook',
    summary: 'Create a webhook',
    description: `You can have up to ${WEBHOOKS_PER_SELLER_LIMIT}. Every change from now on is `
      + 'sent to the URL by POST, in order and at least once, up to '
      + `${WEBHOOK_MESSAGE_CHANGES_LIMIT} per message, or one if \`delivery\` is \`single\`. The `
      + 'response contains the secret that signs the messages. Store it: it is shown only once.',
    request: jsonOf('NewWebhook', { url, description, types }),
    responses: {
      201: {
        ...respondJson('The webhook was created.', 'WebhookWithSecret', withSecret),
        headers: ['Location'],
      },
    },
    problems: [404, 409],
  },
  read: {
    id: 'readWebhook',
    summary: 'Read a webhook',
    description: 'Includes the position it has reached, and since when it has been failing.',
    responses: { 200: respondJson('The webhook.', 'Webhook', webhook) },
  },
  patch: {
    ...change,
    id: 'patchWebhook',
    summary: 'Change a webhook',
    description: 'A merge patch (RFC 7396). `"status":"active"` resumes a disabled webhook where '
      + 'it stopped.',
    request: { [MERGE_PATCH_TYPE]: patch[JSON_TYPE], ...patch },
  },
  delete: {
    ...change,
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'A message in flight may still arrive.',
    responses: { 204: { description: 'The webhook was deleted.' } },
  },
  listDeliveries: {
    id: 'listWebhookDeliveries',
    summary: 'List the delivery attempts of a webhook',
    description: `The last ${WEBHOOK_ATTEMPTS_KEPT} attempts, newest first.`,
    query: pageParameters,
    responses: {
      200: respondJson('A page.', 'WebhookDeliveryPage', {
        deliveries: [delivery], next_cursor: null,
      }),
    },
  },
  readDelivery: {
    id: 'readWebhookDelivery',
    summary: 'Read a delivery attempt of a webhook',
    description: 'Includes the beginning of the request and of the response. The values of '
      + 'response headers that may contain credentials, such as `set-cookie`, are not stored.',
    responses: { 200: respondJson('The attempt.', 'WebhookDeliveryDetail', detail) },
  },
  resend: {
    id: 'resendWebhookDelivery',
    summary: 'Send the message of an attempt again',
    description: 'Sends it immediately, even to a disabled webhook, and returns the result. The '
      + '`webhook-id` and the body are the same, so a receiver that has processed the message '
      + 'skips it. Does not change what the webhook sends next.',
    responses: {
      200: respondJson('The result of the new attempt.', 'WebhookDelivery', { ...delivery, n: 8 }),
    },
    problems: [410],
  },
  retry: {
    ...change,
    id: 'retryWebhook',
    summary: 'Retry now',
    description: 'Makes the next attempt of a failing webhook due immediately. A disabled webhook '
      + 'becomes active, and its five days start again.',
  },
  test: {
    id: 'testWebhook',
    summary: 'Send a test message',
    description: 'Sends a signed message of type `test` immediately, even to a disabled webhook, '
      + 'and returns the result.',
    responses: { 200: respondJson('The result of the attempt.', 'WebhookDelivery', test) },
  },
  replay: {
    ...change,
    id: 'replayWebhook',
    summary: 'Replay changes',
    description: 'Sends all changes after a position again, in messages with new ids.',
    request: jsonOf('WebhookReplay', { position: 0 }),
    problems: [410],
  },
  rotateSecret: {
    ...change,
    id: 'rotateWebhookSecret',
    summary: 'Rotate the secret',
    description: 'The response contains the new secret, which is shown only once. Until the '
      + 'overlap ends, both the new and the old secret sign each message. The body is optional.',
    request: jsonOf('WebhookRotation', { overlap: '24h' }),
    isRequestOptional: true,
    responses: {
      200: respondJson('The webhook, with its new secret.', 'WebhookWithSecret', withSecret),
    },
  },
});

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
    + 'parse it. In a catalogue that was restored from a backup, `data` has its `generation`.',
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
