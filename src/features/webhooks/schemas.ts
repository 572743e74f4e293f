/** The JSON Schemas of webhooks: what is sent and answered about them, and what they send. */
import { CHANGE_TYPES } from '../../domain/catalogue/change.ts';
import {
  WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS, WEBHOOK_OVERLAP_DEFAULT, WEBHOOK_URL_LIMIT_CHARACTERS,
} from '../../domain/limits.ts';
import {
  enumOf, objectOf, pageOf, refer, type Schema, time,
} from '../../api/description/schema.ts';

const optionalTime = { type: ['string', 'null'], format: 'date-time' };
const position = { type: 'integer', minimum: 0 };
const optionalPosition = { type: ['integer', 'null'], minimum: 1 };

const sent = {
  url: {
    type: 'string', minLength: 1, maxLength: WEBHOOK_URL_LIMIT_CHARACTERS,
    description: 'Where messages are sent: https, on the public Internet, at port 443 or 8443, '
      + 'unless the server allows more. No password, no fragment.',
  },
  description: { type: 'string', maxLength: WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS },
  types: {
    type: ['array', 'null'], minItems: 1, items: { type: 'string', enum: CHANGE_TYPES },
    description: 'The types of changes that are sent; null for all.',
  },
};

const status = {
  type: 'string', ...enumOf({ active: 'it is sent to', disabled: 'it is not, until it is active' }),
};

const webhook = {
  id: { type: 'string', pattern: '^whk_[0-9a-z]{1,36}$', description: 'Opaque.' },
  ...sent,
  status,
  disabled_reason: { type: ['string', 'null'], description: 'Null while it is active.' },
  position: {
    ...position, description: 'All changes up to here have arrived, or are not asked for.',
  },
  failing_since: { ...optionalTime, description: 'Null while attempts succeed.' },
  next_attempt_at: { ...optionalTime, description: 'Of the attempt that follows a failed one.' },
  created_at: time,
  updated_at: time,
};

const secret = {
  type: 'string', pattern: '^whsec_[A-Za-z0-9+/]+=*$',
  description: 'Signs the messages (Standard Webhooks 1.0.0). Told here and never again.',
};

const attempt = objectOf({
  message_id: { type: 'string', description: 'The `webhook-id` of the message.' },
  kind: { type: 'string', enum: ['changes', 'test'] },
  first_position: optionalPosition,
  last_position: optionalPosition,
  at: time,
  duration_ms: { type: 'integer', minimum: 0 },
  status: { type: ['integer', 'null'], description: 'Of the answer; null where there was none.' },
  outcome: { type: 'string', description: '`delivered`, or why it was not.' },
});

export const webhookSchemas = {
  Webhook: objectOf(webhook),
  WebhookWithSecret: objectOf({ ...webhook, secret }),
  NewWebhook: { ...objectOf(sent, ['url']), additionalProperties: false },
  WebhookPatch: {
    ...objectOf({ ...sent, status }, []), additionalProperties: false,
    description: 'Another `url`, and `active`, are tried at once.',
  },
  WebhookPage: pageOf('webhooks', refer('Webhook')),
  WebhookReplay: {
    ...objectOf({
      position: { ...position, description: 'Everything after it is sent again.' },
    }),
    additionalProperties: false,
  },
  WebhookRotation: {
    ...objectOf({
      overlap: {
        type: 'string', pattern: '^\\d{1,9}[smhd]$', default: WEBHOOK_OVERLAP_DEFAULT,
        description: 'How long the old secret signs, too: a number and s, m, h or d.',
      },
    }, []),
    additionalProperties: false,
  },
  WebhookDelivery: { ...attempt, description: 'An attempt to send a message.' },
  WebhookDeliveryPage: pageOf('deliveries', refer('WebhookDelivery')),
} as const satisfies Readonly<Record<string, Schema>>;
