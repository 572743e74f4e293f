/**
 * The hook `beforeWrite`: the store as the shop uses it, which lets the hook review every change of
 * a product before it is written. The hook cannot alter a change. If it fails, nothing is written.
 */
import type { Product } from '../client/product.ts';
import type { ChangeType } from '../domain/catalogue/change.ts';
import { createProductFormatter, formatProduct } from '../domain/catalogue/product.ts';
import { PRODUCT_FIELDS, SENT_FIELDS } from '../domain/catalogue/product-fields.ts';
import { AppError } from '../domain/error.ts';
import { formatKeyId, formatSellerId } from '../domain/id.ts';
import { MUTATIONS } from '../store/rules/mutations/registry.ts';
import { makeReview } from '../store/rules/working-set/reviewed-mutations.ts';
import type { Store } from '../store/store.ts';
import type { Actor, Review } from '../store/write.ts';
import { BEFORE_WRITE_LIMIT_MS, WRITE_REASON_LIMIT_CHARACTERS } from './limits.ts';

/** A change of one product that is about to be written. */
export interface ProposedChange {
  /** The id of the seller: `sel_...`. */
  readonly seller: string;
  /** What happens to the product; `stock`: only its stock changes. */
  readonly type: ChangeType;
  /** The SKU of the product; if it changes, the earlier one. */
  readonly sku: string;
  /** The key that changes it: `key_...`, or a reserved one of the portal or of this program. */
  readonly keyId: string;
  /** Who changes it without a key, if a name was given. */
  readonly actor?: string;
  /** Of a change of stock, if one was given. */
  readonly reason?: string;
  /** The system that a stock number came from, if it was given. */
  readonly source?: string;
  /** Whether the write is a dry run, which writes nothing. */
  readonly isDryRun: boolean;
}

/** A product without the members that are known only once it is written. */
export type ProposedProduct =
  Omit<Product, 'id' | 'currency' | 'position' | 'created_at' | 'updated_at'>;

/** A product before and after a change, as in the API. */
export interface ProposedStates {
  /** Undefined if the change creates it. */
  readonly before: Product | undefined;
  /** Undefined if the change deletes it. */
  readonly after: ProposedProduct | undefined;
}

/**
 * Returns nothing to allow the change, or the reason why it is rejected, for the seller: 1 to 1,000
 * characters. It is synchronous, has 250 ms, and its arguments are frozen.
 * @example
 * ```ts
 * import { createShop } from 'seller-product-api';
 *
 * const strictShop = await createShop({ temporary: true }, {
 *   beforeWrite(change, { before, after }) {
 *     if (before && after && after.price < before.price * 0.8) return 'No cut above 20 %.';
 *   },
 * });
 * const { id } = await strictShop.sellers.create({ name: 'My shop' });
 * const { products } = strictShop.as(id);
 * await products.create({ name: 'Cup', category: 'Kitchen', sku: 'C-1', price: 8, stock: 5 });
 * await products.patch({ sku: 'C-1' }, { price: 6 }).catch((error) => {
 *   console.log(error.code); // write_rejected
 * });
 * await strictShop.close();
 * ```
 */
export type BeforeWrite =
  (change: ProposedChange, states: ProposedStates) => string | undefined | void;

const formatSent = createProductFormatter(
  PRODUCT_FIELDS.filter((field) => SENT_FIELDS.some(({ name }) => name === field.name)));

/** @param now Milliseconds of a monotonic clock. */
export function hookStore(store: Store, beforeWrite: BeforeWrite, now: () => number): Store {
  const review = makeReview(askHook(beforeWrite, now));
  const hooked = listReviewedMethods().map((name) => {
    // The cast: the first argument of each of these methods is its actor.
    const method = store[name] as (actor: Actor, ...args: unknown[]) => unknown;
    return [name, (actor: Actor, ...args: unknown[]) => method({ ...actor, review }, ...args)];
  });
  return { ...store, ...Object.fromEntries(hooked) as Partial<Store> };
}

/** The methods of the store that change products, or try it. */
function listReviewedMethods(): readonly (keyof Store)[] {
  const names = Object.entries(MUTATIONS).flatMap(([name, definition]) => {
    const family = 'family' in definition ? definition.family : undefined;
    return family === 'products' || family === 'stock' ? name : [];
  });
  // The cast: each of these mutations has a method, which `startRevert` is for reverts.
  return [
    ...names.filter((name) => name !== 'revertProducts'),
    'startRevert', 'dryRunImport', 'dryRunStock',
  ] as (keyof Store)[];
}

function askHook(beforeWrite: BeforeWrite, now: () => number): Review['ask'] {
  return ({ type, actor, before, after, reason, source, isDryRun }) => {
    const { sellerId, keyId, actorName } = actor;
    const change = {
      seller: formatSellerId(sellerId), type, sku: (before ?? after).sku,
      keyId: formatKeyId({ keyId, sellerId }), isDryRun,
      ...(actorName !== undefined && { actor: actorName }),
      ...(reason !== undefined && { reason }), ...(source !== undefined && { source }),
    };
    const states = {
      before: before && parseFrozen<Product>(formatProduct(before)),
      after: type === 'deleted' ? undefined : parseFrozen<ProposedProduct>(formatSent(after)),
    };
    const startedAt = now();
    let answer: unknown;
    try {
      answer = beforeWrite(Object.freeze(change), Object.freeze(states));
    } catch (cause) {
      throw failed('has thrown an error', cause);
    }
    const tookMs = now() - startedAt;
    if (tookMs > BEFORE_WRITE_LIMIT_MS) {
      throw failed(`took ${Math.round(tookMs)} ms; the limit is ${BEFORE_WRITE_LIMIT_MS} ms`);
    }
    if (answer === undefined) return undefined;
    if (typeof answer === 'string' && answer !== ''
      && answer.length <= WRITE_REASON_LIMIT_CHARACTERS) return answer;
    if (answer instanceof Promise) answer.catch(() => {}); // nobody else handles its error
    throw failed('must return undefined, or a reason of 1 to '
      + `${WRITE_REASON_LIMIT_CHARACTERS} characters, and no promise`);
  };
}

function parseFrozen<Value>(json: string): Value {
  // The cast: the formatter writes the members of this type.
  const value = JSON.parse(json) as Value & { readonly metadata?: object };
  if (value.metadata) Object.freeze(value.metadata);
  return Object.freeze(value);
}

function failed(what: string, cause?: unknown): AppError {
  return new AppError('internal', `The hook beforeWrite ${what}. Nothing was changed.`, { cause });
}
