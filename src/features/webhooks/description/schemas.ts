/** The JSON Schemas of webhooks and their delivery log. */
import { overlapField, webhookFields } from '../../../domain/webhooks/webhook-input.ts';
import { CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import { EVENT_NAMES } from '../../../domain/webhooks/webhook-type.ts';
import {
  changeSchemas, describeChange, movementSchemas,
} from '../../../api/description/schemas.ts';
import {
  closedObjectOf, count, describeMembers, nullable, objectOf, pageOf, refer, time, unionOf,
} from '../../../api/description/schema.ts';
import { positionSchema } from '../../../api/stock/stock-operations.ts';
import { revisionSchema } from '../../../domain/revision.ts';
import type { Schema } from '../../../domain/validation.ts';

const optionalTime = nullable(time);
const optionalPosition = nullable(positionSchema);

const fields = describeMembers(webhookFields);
const { status: _, ...newFields } = fields;

const webhook = {
  id: { type: 'string', pattern: '^whk_[0-9a-z]{1,36}$', description: 'Opaque.' },
  ...fields,
  disabled_reason: { type: ['string', 'null'], description: 'Null while the webhook is active.' },
  position: {
    ...count, description: 'All changes up to here were delivered, or have other types.',
  },
  failing_since: { ...optionalTime, description: 'Null while attempts succeed.' },
  next_attempt_at: { ...optionalTime, description: 'When a failed message is retried.' },
  created_at: time,
  updated_at: time,
};

const secret = {
  type: 'string', pattern: '^whsec_[A-Za-z0-9+/]+=*$',
  description: 'Signs the messages (Standard Webhooks 1.0.0). Shown only in this response.',
};

const headers = {
  type: 'array', items: objectOf({ name: { type: 'string' }, value: { type: 'string' } }),
};

const attempt = {
  n: { ...positionSchema, description: 'Counts the attempts of the webhook.' },
  message_id: { type: 'string', description: 'The `webhook-id` of the message.' },
  kind: { type: 'string', enum: ['changes', 'test'] },
  first_position: optionalPosition,
  last_position: optionalPosition,
  at: time,
  duration_ms: count,
  status: { type: ['integer', 'null'], description: 'Status of the response; null without one.' },
  outcome: { type: 'string', description: '`delivered`, or the reason why not.' },
};

const exchange = {
  url: { type: ['string', 'null'], description: 'Where the message was sent.' },
  request: {
    ...nullable(objectOf({
      headers, body: { type: 'string', description: 'Its beginning.' },
      body_bytes: { ...count, description: 'Size of the whole body.' },
    })),
    description: 'Null if nothing could be sent, or if the changes were removed from the history.',
  },
  response: {
    ...nullable(objectOf({
      headers, body: { type: 'string', description: 'Its beginning, decoded as UTF-8.' },
    })),
    description: 'Null without a response.',
  },
};

function messageOf(type: string, data: Readonly<Record<string, Schema>>): Schema {
  return objectOf({
    type: { type: 'string', const: type }, timestamp: time,
    data: objectOf({ webhook_id: webhook.id, ...data }),
  });
}

const eventNames = Object.values(EVENT_NAMES);

// The cast: `objectOf` describes the members of a change.
const { type: _type, before, after, delta, ...changed } = describeChange(
  CHANGE_TYPES, movementSchemas)['properties'] as Readonly<Record<string, Schema>>;

/** A change without nested members, except its product. */
const event = {
  webhook_id: webhook.id,
  ...changed,
  stock_before: { ...before, description: '0 before the product was created.' },
  stock_after: { ...after, description: '0 after the product was deleted.' },
  stock_delta: { ...delta },
  low_stock: { ...count, description: 'The threshold. Absent unless `type` is `stock.low`.' },
  product: {
    ...refer('Product'), description: 'After the change; for a deleted product, its last state.',
  },
};

export const webhookSchemas = {
  Webhook: objectOf(webhook),
  WebhookWithSecret: objectOf({ ...webhook, secret }),
  NewWebhook: closedObjectOf(newFields, ['url']),
  WebhookPatch: {
    ...closedObjectOf(fields, []),
    description: 'A new `url`, or status `active`, is tried immediately.',
  },
  WebhookPage: pageOf('webhooks', refer('Webhook')),
  WebhookReplay: closedObjectOf({
    position: { ...revisionSchema, description: 'All changes after it are sent again.' },
  }),
  WebhookRotation: closedObjectOf(describeMembers({ overlap: overlapField }), []),
  WebhookDelivery: { ...objectOf(attempt), description: 'An attempt to send a message.' },
  WebhookDeliveryDetail: objectOf({ ...attempt, ...exchange }),
  WebhookDeliveryPage: pageOf('deliveries', refer('WebhookDelivery')),
  ...changeSchemas,
  WebhookMessage: unionOf({
    changes: 'WebhookChangesMessage',
    ...Object.fromEntries(eventNames.map((name) => [name, 'WebhookEventMessage'])),
    test: 'WebhookTestMessage',
  }),
  WebhookChangesMessage: messageOf('changes', {
    first_position: positionSchema, last_position: positionSchema,
    changes: { type: 'array', minItems: 1, items: refer('Change') },
  }),
  WebhookEventMessage: {
    ...objectOf({
      type: { type: 'string', enum: eventNames },
      timestamp: { ...time, description: 'When the change was made.' },
      data: refer('WebhookEvent'),
    }),
    description: 'A message of a webhook whose `delivery` is `single`.',
  },
  WebhookEvent: objectOf(event, Object.keys(event)
    .filter((name) => !['actor', 'import', 'low_stock'].includes(name))),
  WebhookTestMessage: messageOf('test', {}),
} as const satisfies Readonly<Record<string, Schema>>;
