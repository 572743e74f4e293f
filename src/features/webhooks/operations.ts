/** What the OpenAPI document says of webhooks. */
import { WEBHOOK_MESSAGE_CHANGES_LIMIT } from './limits.ts';
import { WEBHOOK_ATTEMPTS_KEPT } from '../../store/limits.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../domain/limits.ts';
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../../api/media-types.ts';
import type { Operation } from '../../api/description/operation.ts';
import { refer } from '../../api/description/schema.ts';

const webhook = {
  id: 'whk_1k7s94cm9001k7s94bi600',
  url: 'https://shop.example/changes', description: 'Cash desk', types: ['created', 'stock'],
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
  message_id: 'msg_8e0397', kind: 'changes', first_position: 11, last_position: 12,
  at: '2026-11-20T10:48:14.002Z', duration_ms: 48, status: 200, outcome: 'delivered',
};
const test = {
  ...delivery, message_id: 'msg_5d6f9a', kind: 'test', first_position: null, last_position: null,
};

const content = { [JSON_TYPE]: { schema: refer('Webhook'), example: webhook } };
const contentWithSecret = {
  [JSON_TYPE]: { schema: refer('WebhookWithSecret'), example: withSecret },
};

export const listWebhooksOperation: Operation = {
  id: 'listWebhooks',
  summary: 'List webhooks',
  description: 'In the order of creation.',
  answers: {
    200: {
      description: 'A page.',
      content: {
        [JSON_TYPE]: {
          schema: refer('WebhookPage'), example: { webhooks: [webhook], next_cursor: null },
        },
      },
    },
  },
  problems: [404],
};

export const createWebhookOperation: Operation = {
  id: 'createWebhook',
  summary: 'Create a webhook',
  description: `Up to ${WEBHOOKS_PER_SELLER_LIMIT}. Every change from now on is sent to the `
    + `address by POST, in order and at least once, up to ${WEBHOOK_MESSAGE_CHANGES_LIMIT} in one `
    + 'message. The answer has the secret that signs the messages: keep it, it is told this once.',
  requestHeaders: ['IdempotencyKey'],
  request: {
    [JSON_TYPE]: { schema: refer('NewWebhook'), example: { url, description, types } },
  },
  answers: {
    201: {
      description: 'The webhook was created.',
      headers: ['WebhookLocation', 'IdempotentReplay'],
      content: contentWithSecret,
    },
  },
  problems: [404, 409],
};

export const readWebhookOperation: Operation = {
  id: 'readWebhook',
  summary: 'Read a webhook',
  description: 'How far it has come, and since when it fails.',
  answers: { 200: { description: 'The webhook.', content } },
};

const patch = { schema: refer('WebhookPatch'), example: { types: null, status: 'active' } };

export const patchWebhookOperation: Operation = {
  id: 'patchWebhook',
  summary: 'Change a webhook',
  description: 'A merge patch (RFC 7396). With `"status":"active"` one that was disabled goes on '
    + 'where it stopped.',
  requestHeaders: ['IdempotencyKey'],
  request: { [MERGE_PATCH_TYPE]: patch, [JSON_TYPE]: patch },
  answers: {
    200: { description: 'The webhook as it is now.', headers: ['IdempotentReplay'], content },
  },
};

export const deleteWebhookOperation: Operation = {
  id: 'deleteWebhook',
  summary: 'Delete a webhook',
  description: 'What is under way to it may still arrive.',
  requestHeaders: ['IdempotencyKey'],
  answers: { 204: { description: 'The webhook is gone.', headers: ['IdempotentReplay'] } },
};

export const listDeliveriesOperation: Operation = {
  id: 'listWebhookDeliveries',
  summary: 'List the attempts to send to a webhook',
  description: `The newest ${WEBHOOK_ATTEMPTS_KEPT} are kept; the newest comes first.`,
  answers: {
    200: {
      description: 'A page.',
      content: {
        [JSON_TYPE]: {
          schema: refer('WebhookDeliveryPage'),
          example: { deliveries: [delivery], next_cursor: null },
        },
      },
    },
  },
};

export const testWebhookOperation: Operation = {
  id: 'testWebhook',
  summary: 'Send a test message',
  description: 'Sends a signed message of the type `test` now, also to a webhook that is disabled, '
    + 'and answers with what came of it.',
  answers: {
    200: {
      description: 'What came of it.',
      content: { [JSON_TYPE]: { schema: refer('WebhookDelivery'), example: test } },
    },
  },
};

export const replayWebhookOperation: Operation = {
  id: 'replayWebhook',
  summary: 'Send changes again',
  description: 'Everything after a position, in messages with new ids.',
  requestHeaders: ['IdempotencyKey'],
  request: { [JSON_TYPE]: { schema: refer('WebhookReplay'), example: { position: 0 } } },
  answers: {
    200: { description: 'The webhook as it is now.', headers: ['IdempotentReplay'], content },
  },
  problems: [410],
};

export const rotateSecretOperation: Operation = {
  id: 'rotateWebhookSecret',
  summary: 'Replace the secret',
  description: 'The answer has the new secret, this once. Until the overlap ends, messages have '
    + 'two signatures, by the new secret and by the old one. The body may be left out.',
  requestHeaders: ['IdempotencyKey'],
  request: { [JSON_TYPE]: { schema: refer('WebhookRotation'), example: { overlap: '24h' } } },
  isRequestOptional: true,
  answers: {
    200: {
      description: 'The webhook, with its new secret.',
      headers: ['IdempotentReplay'],
      content: contentWithSecret,
    },
  },
};
