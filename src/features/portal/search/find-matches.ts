/** What a search finds in a shop: products, keys, imports and what features add, by words. */
import { type ApiKey, maskApiKey } from '../../../domain/access/api-key.ts';
import type { ImportRecord } from '../../../domain/catalogue/import.ts';
import { findSku } from '../../../domain/catalogue/product.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { foldText, searchTermsOf } from '../../../domain/catalogue/product-query.ts';
import { AppError } from '../../../domain/error.ts';
import { parseImportId, parseKeyId, parseProductId, type SellerId } from '../../../domain/id.ts';
import { KEYS_SEARCHED_LIMIT } from '../limits.ts';
import type { Matches, PageRequest, Portal } from '../route.ts';

/** What an id or a SKU names. */
export interface Named {
  readonly product?: Product | undefined;
  readonly key?: ApiKey | undefined;
  readonly record?: ImportRecord | undefined;
}

/** What the whole text names: a product by its id or SKU, or something else by its id. */
export async function findNamed(
  request: PageRequest, portal: Portal, q: string,
): Promise<Named> {
  const { account: { sellerId } } = request;
  const { store } = portal;
  if (request.may('owner')) {
    const key = parseKeyId(q);
    if (key?.sellerId === sellerId) return { key: await store.findKey(key) };
  }
  const importId = parseImportId(sellerId, q);
  if (importId !== undefined) return { record: await store.findImport(sellerId, importId) };
  const id = parseProductId(sellerId, q);
  const sku = findSku(q);
  return {
    product: id !== undefined ? await store.findProduct(sellerId, { id })
      : sku === undefined ? undefined : await store.findProduct(sellerId, { sku }),
  };
}

/** Undefined until the search has caught up with the catalogue. */
export async function findProducts(
  { account: { sellerId }, position }: PageRequest, { store }: Portal, q: string, limit: number,
): Promise<Matches<Product> | undefined> {
  try {
    const { products: items, hasMore } = await store.searchProducts(sellerId, {
      filter: { q }, sort: { by: 'id', isDescending: false }, after: undefined, limit,
    }, position);
    return { items, hasMore };
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

/** For owners only. By name, by the last four characters, or by these after the prefix. */
export async function findKeys(
  { account: { sellerId }, may }: PageRequest, { store }: Portal, q: string, limit: number,
): Promise<Matches<ApiKey>> {
  if (!may('owner')) return { items: [], hasMore: false };
  const newest = await store.listKeys(
    sellerId, { after: undefined, limit: KEYS_SEARCHED_LIMIT }, true,
  );
  const [, end = ''] = /^spk_[.…*]*(\w{0,4})$/i.exec(q) ?? [undefined, q];
  const isMatch = matcherOf(q);
  return cut(newest.filter((key) => isMatch(key.name)
    || (end === '' ? maskApiKey(key).startsWith(q.toLowerCase())
      : key.lastFour.toLowerCase() === end.toLowerCase())), limit);
}

/** By file name and source, newest first. */
export async function findImports(
  { store }: Portal, sellerId: SellerId, q: string, limit: number,
): Promise<Matches<ImportRecord>> {
  return cut(await store.searchImports(sellerId, q, limit + 1), limit);
}

/** Whether a text contains every term. */
export function matcherOf(q: string): (text: string) => boolean {
  const terms = searchTermsOf(q);
  return (text) => {
    const folded = foldText(text);
    return terms.every((term) => folded.includes(term.text));
  };
}

export function cut<Item>(found: readonly Item[], limit: number): Matches<Item> {
  return { items: found.slice(0, limit), hasMore: found.length > limit };
}
