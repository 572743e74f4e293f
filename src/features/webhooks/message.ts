/**
 * Webhook messages: selects the changes of the next message, and formats its JSON. A message is
 * stored before it is sent, as a range of positions with what else it depends on, and read again
 * for each attempt, so every attempt sends the same body.
 */
import { randomUUID } from 'node:crypto';
import { WEBHOOK_MESSAGE_CHANGES_LIMIT, WEBHOOK_MESSAGE_LIMIT_CHARACTERS } from './limits.ts';
import { type Change, formatChange, formatOrigin } from '../../domain/catalogue/change.ts';
import { formatProduct } from '../../domain/catalogue/product.ts';
import { undefinedIf } from '../../domain/error.ts';
import { formatWebhookId, type ProductId, type WebhookReference } from '../../domain/id.ts';
import { formatTime } from '../../domain/time.ts';
import type { Webhook, WebhookMessage } from '../../domain/webhooks/webhook.ts';
import {
  EVENT_NAMES, findChangeTypes, listEvents, selectsLowStock, type WebhookType,
} from '../../domain/webhooks/webhook-type.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { ChangePage, ChangeQuery } from '../../store/history-store.ts';
import { HISTORY_SCAN_LIMIT } from '../../store/limits.ts';
import type { Store } from '../../store/store.ts';

interface NextMessage {
  /** All changes up to here were delivered, or have types that the webhook does not send. */
  readonly position: number;
  /** Undefined if none of the changes read has an event. */
  readonly message: WebhookMessage | undefined;
}

type Selection = Pick<WebhookMessage, 'types' | 'lowStock'>;

/** What is read to find the next message of a webhook. */
interface Scan extends Pick<Webhook, 'types'>, Pick<ChangeQuery, 'after' | 'limit'> {
  readonly selection: Selection;
  /** Whether a message has one event. */
  readonly isSingle: boolean;
  /** The message that was sent, if its change may also have the event of low stock. */
  readonly resumed: WebhookMessage | undefined;
}

interface SelectedEvent {
  readonly position: number;
  readonly event: WebhookType;
}

/**
 * The message that follows one, or the webhook's position; undefined if the history there is
 * pruned. Reads up to 5,000 changes that have no event.
 */
export async function findNextMessage(
  store: Store, webhook: Webhook, at: number, previous?: WebhookMessage,
): Promise<NextMessage | undefined> {
  const scan = await planScan(store, webhook, previous);
  const products = new Map<ProductId, string>();
  let page = await listChanges(store, webhook.sellerId, scan);
  for (;;) {
    if (!page) return undefined;
    const events = await selectEvents(store, page, scan, products);
    const [first] = events;
    if (first) {
      return { position: first.position - 1, message: makeMessage(first, events, scan, at) };
    }
    if (page.next >= Math.min(page.position, scan.after + HISTORY_SCAN_LIMIT)) {
      return { position: page.next, message: undefined };
    }
    await yieldToEventLoop();
    page = await listChanges(store, webhook.sellerId, { ...scan, after: page.next });
  }
}

async function planScan(
  store: Store, { sellerId, types, delivery, position }: Webhook,
  previous: WebhookMessage | undefined,
): Promise<Scan> {
  const isSingle = delivery === 'single';
  if (!selectsLowStock(types)) {
    const limit = isSingle ? 1 : WEBHOOK_MESSAGE_CHANGES_LIMIT;
    const after = previous?.last ?? position;
    return { selection: { types }, isSingle, resumed: undefined, types, after, limit };
  }
  const selection = { types, lowStock: await store.findLowStock(sellerId) };
  const isResumed = previous?.event !== undefined && previous.event !== 'stock.low';
  const resumed = isResumed ? previous : undefined;
  return {
    selection, isSingle, resumed,
    // Deletions, because a revert may restore the product with another threshold.
    types: [...types ?? [], 'deleted'],
    after: resumed ? resumed.last - 1 : previous?.last ?? position,
    limit: WEBHOOK_MESSAGE_CHANGES_LIMIT,
  };
}

/** The events of a page for one message. `products` has the JSON of those read so far. */
async function selectEvents(
  store: Store, { changes }: ChangePage, { selection, isSingle, resumed }: Scan,
  products: Map<ProductId, string>,
): Promise<readonly SelectedEvent[]> {
  const selected: SelectedEvent[] = [];
  let characters = 0;
  for (const change of changes) {
    const { position } = change;
    const completed = selection.lowStock === undefined ? change
      : await addProduct(store, change, products);
    const unsent = (await listSelected(store, completed, selection))
      .filter((event) => position !== resumed?.last || event === 'stock.low');
    selected.push(...unsent.map((event) => ({ position, event })));
    if (unsent.length > 0) characters += change.product?.length ?? 0;
    if (selected.length > 0 && (isSingle || characters > WEBHOOK_MESSAGE_LIMIT_CHARACTERS)) break;
  }
  return selected;
}

function makeMessage(
  first: SelectedEvent, events: readonly SelectedEvent[], { selection, isSingle }: Scan, at: number,
): WebhookMessage {
  const last = isSingle ? first : events.at(-1) ?? first;
  return {
    id: makeMessageId(), first: first.position, last: last.position, at, ...selection,
    ...(isSingle && { event: first.event }),
  };
}

/** The JSON text of a message, the same each time; undefined if its changes are pruned. */
export async function readMessage(
  store: Store, webhook: WebhookReference, message: WebhookMessage,
): Promise<string | undefined> {
  const { sellerId } = webhook;
  const { first, last, types, event } = message;
  const changes: Change[] = [];
  for (let after = first - 1; after < last;) {
    const limit = Math.min(last - after, WEBHOOK_MESSAGE_CHANGES_LIMIT);
    const page = await listChanges(store, sellerId, { types, after, limit });
    if (!page) return undefined;
    for (const change of page.changes.filter(({ position }) => position <= last)) {
      if ((await listSelected(store, change, message)).length > 0) changes.push(change);
    }
    after = page.next;
  }
  const data = beginData(store, webhook);
  const [change] = changes;
  if (event === undefined || !change) return formatBatch(data, message, changes);
  const product = change.product ?? await readProduct(store, change);
  return product && formatEvent(data, change, product, { ...message, event });
}

/** Whether the history has the changes that are to be sent next; false if they are pruned. */
export async function hasNextChanges(store: Store, webhook: Webhook): Promise<boolean> {
  const { sellerId, position, message } = webhook;
  const next = message ? await readMessage(store, webhook, message)
    : await listChanges(store, sellerId, { types: null, after: position, limit: 1 });
  return next !== undefined;
}

/** A unique id without a full stop, which a signed id must not contain. */
export function makeMessageId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}

export function formatTestMessage(webhook: WebhookReference, at: number): string {
  return `{"type":"test","timestamp":"${formatTime(at)}"`
    + `,"data":{"webhook_id":"${formatWebhookId(webhook)}"}}`;
}

/**
 * The change with its product, if its stock falls. A scan reads each product once: after that, it
 * knows the product from its changes, up to the stock.
 */
async function addProduct(
  store: Store, change: Change, products: Map<ProductId, string>,
): Promise<Change> {
  const { type, productId, movement: { before, after } } = change;
  if (type === 'deleted') products.delete(productId);
  if (type === 'deleted' || (after >= before && change.product === undefined)) return change;
  const product = change.product ?? products.get(productId) ?? await readProduct(store, change);
  if (product !== undefined) products.set(productId, product);
  return { ...change, product };
}

/**
 * What is sent of a change. The threshold is the product's at the change, or else the shop's; an
 * archived product has none, since lists of low stock leave it out.
 */
async function listSelected(
  store: Store, change: Change, { types, lowStock }: Selection,
): Promise<readonly WebhookType[]> {
  const { before, after } = change.movement;
  if (lowStock === undefined || after >= before) return listEvents(change, types, undefined);
  const product = change.product ?? await readProduct(store, change);
  return listEvents(change, types, product ? findThreshold(product, lowStock) : lowStock);
}

/** The threshold by the JSON of a product, or else the shop's; undefined if it is archived. */
function findThreshold(product: string, ofShop: number | undefined): number | undefined {
  // The cast: `formatProduct` wrote it.
  const { low_stock: own, archived } = JSON.parse(product) as {
    readonly low_stock?: number | null; readonly archived?: boolean | null;
  };
  return archived ? undefined : own ?? ofShop;
}

/** Receivers remember positions, so in a restored catalogue they get the generation, too. */
function beginData({ generation }: Store, webhook: WebhookReference): string {
  return `"data":{"webhook_id":"${formatWebhookId(webhook)}"`
    + (generation === undefined ? '' : `,"generation":"${generation}"`);
}

function formatBatch(
  data: string, { first, last, at }: WebhookMessage, changes: readonly Change[],
): string {
  return `{"type":"changes","timestamp":"${formatTime(at)}"`
    + `,${data},"first_position":${first},"last_position":${last}`
    + `,"changes":[${changes.map(formatChange).join(',')}]}}`;
}

/** A message with one change: the same members for each type, so that services can map them. */
function formatEvent(
  data: string, change: Change, product: string,
  { event, lowStock }: Pick<WebhookMessage, 'lowStock'> & { readonly event: WebhookType },
): string {
  const { before, after, reason, source, sequence } = change.movement;
  return `{"type":"${EVENT_NAMES[event]}","timestamp":"${formatTime(change.at)}"`
    + `,${data},"position":${change.position}`
    + `,${formatOrigin(change)}`
    + `,"stock_before":${before},"stock_after":${after},"stock_delta":${after - before}`
    + `,"reason":${JSON.stringify(reason ?? null)},"source":${JSON.stringify(source ?? null)}`
    + `,"sequence":${sequence ?? null}`
    + (event === 'stock.low' ? `,"low_stock":${findThreshold(product, lowStock)}` : '')
    + `,"product":${product}}}`;
}

/** The product after a stock movement; undefined if the history is pruned. */
async function readProduct(
  store: Store, { sellerId, productId, position }: Change,
): Promise<string | undefined> {
  const product = await undefinedIf(
    'history_pruned', store.findProductAt(sellerId, { id: productId }, position),
  );
  return product && formatProduct(product);
}

function listChanges(
  store: Store, sellerId: Webhook['sellerId'],
  { types, after, limit }: Pick<Webhook, 'types'> & Pick<ChangeQuery, 'after' | 'limit'>,
): Promise<ChangePage | undefined> {
  const query = { after, limit, types: findChangeTypes(types) };
  return undefinedIf('history_pruned', store.listChanges(sellerId, query));
}
