/**
 * The history of a catalogue: one change event per position. The change feed, its live stream,
 * webhooks and the stock ledger consist of these events.
 */
import {
  formatImportId, formatKeyId, formatProductId, type ImportId, type KeyId, type ProductId,
  type SellerId,
} from '../id.ts';
import type { Sku } from './product-fields.ts';
import { formatTime } from '../time.ts';

/** `stock`: only the stock of the product changed. */
export const CHANGE_TYPES = ['created', 'updated', 'deleted', 'stock'] as const;
/** What happened to a product; `stock`: only its stock changed. */
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** A change of a product's stock. Before creation and after deletion, the stock is 0. */
interface StockMovement {
  readonly before: number;
  readonly after: number;
  /** 1..200 code points, if given. */
  readonly reason: string | undefined;
  /** The system that the number came from: 1..64 code points, if given. */
  readonly source: string | undefined;
  /** The source's sequence number for its updates, if given. */
  readonly sequence: number | undefined;
}

export interface Change {
  readonly sellerId: SellerId;
  /** From 1, without gaps. */
  readonly position: number;
  readonly type: ChangeType;
  readonly productId: ProductId;
  /** After the change; for a deleted product, the last one. */
  readonly sku: Sku;
  /** The key that made the change. */
  readonly keyId: KeyId;
  /** Who made it without a key, if a name was given. */
  readonly actor: string | undefined;
  /** The import that made the change, if one did. */
  readonly importId: ImportId | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly movement: StockMovement;
  /** The product's JSON at this position (`formatProduct`); undefined if only stock moved. */
  readonly product: string | undefined;
}

/** The JSON text of a change; its `data` is the product, or the stock movement. */
export function formatChange(change: Change): string {
  const { position, type, product, movement } = change;
  return `{"position":${position},"type":"${type}",${formatOrigin(change)}`
    + `,"data":${product ?? `{${formatMembers(movement)}}`}}`;
}

/** The JSON text of a change as an entry of the stock ledger. */
export function formatMovement(change: Change): string {
  const { position, type, movement } = change;
  return `{"position":${position},"type":"${type}",${formatOrigin(change)}`
    + `,${formatMembers(movement)}}`;
}

/** The product, time, key, actor and import of a change: members of a JSON object. */
export function formatOrigin(change: Change): string {
  const { sellerId, productId, sku, at, keyId, actor, importId } = change;
  return `"product_id":"${formatProductId(sellerId, productId)}","sku":${JSON.stringify(sku)}`
    + `,"at":"${formatTime(at)}","key_id":"${formatKeyId({ sellerId, keyId })}"`
    + (actor === undefined ? '' : `,"actor":${JSON.stringify(actor)}`)
    + (importId === undefined ? '' : `,"import":"${formatImportId(sellerId, importId)}"`);
}

function formatMembers({ before, after, reason, source, sequence }: StockMovement): string {
  return `"before":${before},"after":${after},"delta":${after - before}`
    + `,"reason":${JSON.stringify(reason ?? null)},"source":${JSON.stringify(source ?? null)}`
    + `,"sequence":${sequence ?? null}`;
}
