/** What a search finds in a shop by words and by ids: products, keys and imports. */
import { type ApiKey, maskApiKey } from '../../../domain/access/api-key.ts';
import type { ImportRecord } from '../../../domain/catalogue/import.ts';
import { findSku } from '../../../domain/catalogue/product.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { foldText, searchTermsOf } from '../../../domain/catalogue/product-query.ts';
import { undefinedIf } from '../../../domain/error.ts';
import { parseImportId, parseKeyId, parseProductId } from '../../../domain/id.ts';
import { html } from '../html/html.ts';
import { pathOf as keyPathOf } from '../keys/key-facts.ts';
import { KEYS_SEARCHED_LIMIT } from '../limits.ts';
import { pathOf as productPathOf } from '../products/product-path.ts';
import { archivedTag } from '../products/product-view.ts';
import { nameOf as importNameOf, pathOf as importPathOf } from '../records/import-record.ts';
import type { Finder, Matches, PageRequest, SearchResult } from '../route.ts';

/** Also by SKU. */
export const productFinder: Finder = {
  id: 'products',
  title: 'Products',
  listPath: '/products',
  async find(request, { store }, q, limit) {
    const { account: { sellerId }, position } = request;
    const page = await undefinedIf('unavailable', store.searchProducts(sellerId, {
      filter: { q }, sort: { by: 'id', isDescending: false }, after: undefined, limit,
    }, position));
    if (!page) {
      const note = 'Products are being indexed after a large change. Search again in a moment.';
      return { items: [], hasMore: false, note };
    }
    const { products, hasMore } = page;
    return { items: products.map((product) => toProduct(request, product)), hasMore };
  },
  async findNamed(request, { store }, q) {
    const { account: { sellerId } } = request;
    const id = parseProductId(sellerId, q);
    const sku = findSku(q);
    const product = id !== undefined ? await store.findProduct(sellerId, { id })
      : sku === undefined ? undefined : await store.findProduct(sellerId, { sku });
    return product && toProduct(request, product);
  },
};

/** For owners only. By name, by the last four characters, or by these after the prefix. */
export const keyFinder: Finder = {
  id: 'keys',
  title: 'API keys',
  async find({ account: { sellerId }, may }, { store }, q, limit) {
    if (!may('owner')) return cut([], limit);
    const newest = await store.listKeys(
      sellerId, { after: undefined, limit: KEYS_SEARCHED_LIMIT }, true,
    );
    const [, end = ''] = /^spk_[.…*]*(\w{0,4})$/i.exec(q) ?? [undefined, q];
    const isMatch = matcherOf(q);
    return cut(newest.filter((key) => isMatch(key.name)
      || (end === '' ? maskApiKey(key).startsWith(q.toLowerCase())
        : key.lastFour.toLowerCase() === end.toLowerCase())).map(toKey), limit);
  },
  async findNamed({ account: { sellerId }, may }, { store }, q) {
    const reference = may('owner') ? parseKeyId(q) : undefined;
    const key = reference?.sellerId === sellerId ? await store.findKey(reference) : undefined;
    return key && toKey(key);
  },
};

/** By file name and source, newest first. */
export const importFinder: Finder = {
  id: 'imports',
  title: 'Imports',
  async find(request, { store }, q, limit) {
    const records = await store.searchImports(request.account.sellerId, q, limit + 1);
    return cut(records.map((record) => toImport(request, record)), limit);
  },
  async findNamed(request, { store }, q) {
    const { account: { sellerId } } = request;
    const id = parseImportId(sellerId, q);
    const record = id === undefined ? undefined : await store.findImport(sellerId, id);
    return record && toImport(request, record);
  },
};

function toProduct({ format }: PageRequest, product: Product): SearchResult {
  const { name, sku, stock, priceMinor, archived } = product;
  return [productPathOf(product), name, html`<code>${sku}</code> · ${format.number(stock)} in stock
    · ${format.money(priceMinor)}${archived === true && html` ${archivedTag(product)}`}`];
}

function toKey(key: ApiKey): SearchResult {
  return [keyPathOf(key), key.name, html`<code>${maskApiKey(key)}</code>${
    key.revokedAt !== undefined && ' · revoked'}`];
}

function toImport({ format }: PageRequest, record: ImportRecord): SearchResult {
  return [importPathOf(record), importNameOf(record), format.timeElement(record.startedAt)];
}

/** Whether a text contains every term. */
export function matcherOf(q: string): (text: string) => boolean {
  const terms = searchTermsOf(q);
  return (text) => {
    const folded = foldText(text);
    return terms.every((term) => folded.includes(term.text));
  };
}

export function cut<Item>(items: readonly Item[], limit: number): Matches<Item> {
  return { items: items.slice(0, limit), hasMore: items.length > limit };
}
