/**
 * The history of a catalogue: one change at each position. The feed, its live stream, webhooks and
 * the ledger of stock all tell of these.
 */
import { formatKeyId, formatProductId, type KeyId, type ProductId, type SellerId } from '../id.ts';
import type { Sku } from './product-fields.ts';
import { formatTime } from '../time.ts';

/** `stock` is a change that moved the stock of a product and nothing else of it. */
export const CHANGE_TYPES = ['created', 'updated', 'deleted', 'stock'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** How the stock of a product moved, and why: before its creation and once deleted it is 0. */
interface StockMovement {
  readonly before: number;
  readonly after: number;
  /** 1..200 code points, where one was given. */
  readonly reason: string | undefined;
  /** The system that the number came from, 1..64 code points, where one was given. */
  readonly source: string | undefined;
  /** The source's own count of its updates, where one was given. */
  readonly sequence: number | undefined;
}

export interface Change {
  readonly sellerId: SellerId;
  /** From 1, without a gap. */
  readonly position: number;
  readonly type: ChangeType;
  readonly productId: ProductId;
  /** After the change; of a deleted product, its last one. */
  readonly sku: Sku;
  /** The key by which it was made. */
  readonly keyId: KeyId;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly movement: StockMovement;
  /** The product's JSON at this position (`formatProduct`); undefined where only stock moved. */
  readonly product: string | undefined;
}

/** The JSON text of a change: its `data` is the product, or the movement of its stock. */
export function formatChange(change: Change): string {
  const { position, type, product, movement } = change;
  return `{"position":${position},"type":"${type}",${formatOrigin(change)}`
    + `,"data":${product ?? `{${formatMembers(movement)}}`}}`;
}

/** The JSON text of a change as an entry of the ledger of stock. */
export function formatMovement(change: Change): string {
  const { position, type, movement } = change;
  return `{"position":${position},"type":"${type}",${formatOrigin(change)}`
    + `,${formatMembers(movement)}}`;
}

/** What was changed, when and by whom. */
function formatOrigin({ sellerId, productId, sku, at, keyId }: Change): string {
  return `"product_id":"${formatProductId(sellerId, productId)}","sku":${JSON.stringify(sku)}`
    + `,"at":"${formatTime(at)}","key_id":"${formatKeyId({ sellerId, keyId })}"`;
}

function formatMembers({ before, after, reason, source, sequence }: StockMovement): string {
  return `"before":${before},"after":${after},"delta":${after - before}`
    + `,"reason":${JSON.stringify(reason ?? null)},"source":${JSON.stringify(source ?? null)}`
    + `,"sequence":${sequence ?? null}`;
}
