/**
 * What webhooks select: types of changes, and `stock.low`, which follows from a change. Messages
 * with one change name them with dots. Requests may use either name; the first one is stored.
 */
import { type Change, CHANGE_TYPES, type ChangeType } from '../catalogue/change.ts';

const LOW = 'stock.low';
/** What a webhook can select, in the order of the documentation. */
export const WEBHOOK_TYPES = [...CHANGE_TYPES, LOW] as const;
/** What a webhook can select. */
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** The `type` of a message with one change. */
export const EVENT_NAMES: Readonly<Record<WebhookType, WebhookEventName>> = {
  created: 'product.created',
  updated: 'product.updated',
  deleted: 'product.deleted',
  stock: 'stock.changed',
  [LOW]: LOW,
};

/** The `type` of a message with one change. */
export type WebhookEventName =
  'product.created' | 'product.updated' | 'product.deleted' | 'stock.changed' | 'stock.low';

/** A stock can fall to its threshold by these. */
const LOWERING: readonly ChangeType[] = ['updated', 'stock'];

/** All names that requests may use. */
export const WEBHOOK_TYPE_NAMES: readonly string[] =
  [...new Set([...WEBHOOK_TYPES, ...Object.values(EVENT_NAMES)])];

/** The type with this name, or this name with a dot. */
export function findWebhookType(name: unknown): WebhookType | undefined {
  return WEBHOOK_TYPES.find((type) => type === name || EVENT_NAMES[type] === name);
}

export function selectsLowStock(types: readonly WebhookType[] | null): boolean {
  return types?.includes(LOW) ?? false;
}

/** The types of changes that may be sent; undefined for all. */
export function findChangeTypes(
  types: readonly WebhookType[] | null,
): readonly ChangeType[] | undefined {
  if (types === null) return undefined;
  const lowering = selectsLowStock(types) ? LOWERING : [];
  return CHANGE_TYPES.filter((type) => types.includes(type) || lowering.includes(type));
}

/** What a webhook sends of a change, in this order; undefined `lowStock` if it is not selected. */
export function listEvents(
  change: Change, types: readonly WebhookType[] | null, lowStock: number | undefined,
): readonly WebhookType[] {
  return [
    ...types === null || types.includes(change.type) ? [change.type] : [],
    ...lowStock !== undefined && isLowered(change, lowStock) ? [LOW] as const : [],
  ];
}

/** Whether the change took the stock from above a threshold to it, or below. */
function isLowered({ type, movement: { before, after } }: Change, threshold: number): boolean {
  return LOWERING.includes(type) && before > threshold && after <= threshold;
}
