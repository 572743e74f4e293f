/**
 * Product queries: filter, sort and keyset anchor. The order is total: ties are sorted by id.
 */
import type { ProductId } from '../id.ts';
import { SEARCH_TERMS_LIMIT } from '../limits.ts';
import { barcodeValidator } from './barcode.ts';
import type { Sku, StoredProduct } from './product-fields.ts';

/** Sort keys; `id` is the creation order. */
export const SORT_KEYS = ['id', 'name', 'sku', 'price', 'stock', 'updated_at'] as const;
/** What lists of products can be sorted by; `id` is the creation order. */
export type SortKey = (typeof SORT_KEYS)[number];

/** A product must meet all defined conditions. Bounds are inclusive. */
export interface ProductFilter {
  /** Parts of the name, SKU, category or barcode (`searchTermsOf`): 1..200 code points. */
  readonly q?: string | undefined;
  /** Only archived products, or also these. Default: products that are not archived. */
  readonly archived?: true | 'any' | undefined;
  readonly barcode?: string | undefined;
  /** Stock at or below the product's threshold; this is the one of products without their own. */
  readonly lowStock?: number | undefined;
  /** Pairs that its metadata has. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly category?: string | undefined;
  readonly id?: ProductId | undefined;
  readonly sku?: Sku | undefined;
  /** Prices are in minor units. */
  readonly priceMin?: number | undefined;
  readonly priceMax?: number | undefined;
  readonly stockMin?: number | undefined;
  readonly stockMax?: number | undefined;
  /** Changed at or after this time, milliseconds since 1970. */
  readonly updatedSince?: number | undefined;
  /** Changed after this position. */
  readonly changedSince?: number | undefined;
}

export interface ProductSort {
  readonly by: SortKey;
  readonly isDescending: boolean;
}

/** The order of creation. */
export const BY_ID: ProductSort = { by: 'id', isDescending: false };

/** The last product of a page: the value of its sort key, and its id. */
export interface KeysetAnchor {
  /** The folded name, the SKU, or the number; the id if the list is sorted by id. */
  readonly key: string | number;
  readonly id: ProductId;
}

export interface ProductQuery {
  readonly filter: ProductFilter;
  readonly sort: ProductSort;
  /** Where the previous page ended; undefined for the first page. */
  readonly after: KeysetAnchor | undefined;
  readonly limit: number;
}

/** The anchor of the page after this product. */
export function anchorOf(
  { id, name, sku, priceMinor: price, stock, updatedAt }: StoredProduct, { by }: ProductSort,
): KeysetAnchor {
  const keys = { id, name: foldText(name), sku, price, stock, updated_at: updatedAt };
  return { key: keys[by], id };
}

const MARKS = /[\u0300-\u036f]/g;
const ASCII = /^[\0-\x7f]*$/;
/** Leading zeros, before enough digits for an index of trigrams. */
const PADDING = /^0+(?=\d{3})/;
/** Marks belong to the letters of many scripts. */
const NOT_IN_WORD = /[^\p{L}\p{M}\p{N}]/gu;

/**
 * Folds text for searching and name sorting: removes case, accents and compatibility forms
 * (full-width letters, ligatures). Idempotent. Converts case back and forth, since some letters
 * become equal in one direction only: both kinds of the German sharp s, the Turkish dotless i, the
 * final sigma.
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return removeMarks(removeMarks(text).toLowerCase().toUpperCase().toLowerCase())
    .replaceAll('ς', 'σ').normalize('NFC');
}

/**
 * What a product is sorted by name by; and the lines that terms are searched in: the SKU without
 * punctuation, name and category, the SKU if it has punctuation, and the barcode.
 */
export function searchTextsOf(
  { name, sku, category, barcode }: Pick<StoredProduct, 'name' | 'sku' | 'category' | 'barcode'>,
): readonly [nameKey: string, text: string] {
  const [nameKey, whole] = [foldText(name), foldText(sku)];
  const bare = removePunctuation(whole);
  const lines = [bare, nameKey, foldText(category), ...whole === bare ? [] : [whole],
    ...barcode ? [barcode] : []];
  return [nameKey, lines.join('\n')];
}

/** A part of a search; a product matches if it matches all. */
export interface SearchTerm {
  /** The product's lines (`searchTextsOf`) contain it, ... */
  readonly text: string;
  /** ... or the first line contains this: the text without punctuation, if it has some. */
  readonly bareSku: string | undefined;
}

/**
 * The words of `q`, folded; barcodes without their leading zeros, which products may lack. Words
 * beyond the limit are one term, with their spaces.
 */
export function searchTermsOf(q: string): readonly SearchTerm[] {
  const words = foldText(q).split(/\s+/).filter((word) => word !== '');
  const terms = words.slice(0, SEARCH_TERMS_LIMIT - 1);
  if (words.length > terms.length) terms.push(words.slice(terms.length).join(' '));
  return terms.map((word) => {
    const text = 'value' in barcodeValidator.parse(word) ? word.replace(PADDING, '') : word;
    const bare = removePunctuation(text);
    return { text, bareSku: bare === text || bare === '' ? undefined : bare };
  });
}

function removePunctuation(folded: string): string {
  return folded.replace(NOT_IN_WORD, '');
}

/** Decomposes letters and removes the accents of Latin, Greek and Cyrillic ones. */
function removeMarks(text: string): string {
  return text.normalize('NFKD').replace(MARKS, '');
}
