/** The types of changes as choices of a form: a filter of changes, or what a webhook receives. */
import { CHANGE_TYPES, type ChangeType } from '../../../domain/catalogue/change.ts';
import type { WebhookType } from '../../../domain/webhooks/webhook-type.ts';
import type { Choice } from './fields.ts';

const TYPE_LABELS: Readonly<Record<ChangeType, string>> = {
  created: 'Products created',
  updated: 'Products updated',
  deleted: 'Products deleted',
  stock: 'Stock changes only',
};

export const CHANGE_TYPE_CHOICES: readonly Choice[] =
  CHANGE_TYPES.map((type) => ({ value: type, label: TYPE_LABELS[type] }));

/** What webhooks can select. */
export const WEBHOOK_TYPE_CHOICES: readonly Choice[] = [
  ...CHANGE_TYPE_CHOICES,
  { value: 'stock.low' satisfies WebhookType, label: 'Stock falls to the low-stock threshold' },
];
