/** A model of search: an array that is filtered, sorted and sliced. */
import {
  foldText, type KeysetAnchor, type ProductFilter, type ProductQuery, type ProductSort, SORT_KEYS,
} from '../../../../src/domain/catalogue/product-query.ts';
import type { NewProduct, Product } from '../../../../src/domain/catalogue/product-fields.ts';
import type { Random } from '../../../domain/random.ts';
import { makeNewProduct } from '../../contract/fixture.ts';

export const BY_ID: ProductSort = { by: 'id', isDescending: false };
export const ALL_SORTS: readonly ProductSort[] = SORT_KEYS.flatMap((by) =>
  [false, true].map((isDescending) => ({ by, isDescending })));

const WORDS = [
  'Mug', 'mug', 'MUG', 'Tasse', 'Straße', 'Café', 'cafe\u0301', 'Ünder', 'Ｍｕｇ', 'ΣΟΦΟΣ', 'сок',
  '茶碗', 'كوب', '🫖', '👩‍🍳', '100%', 'a_b', '"quoted"', "it's", 'NEAR', 'AND', '*', '-', 'x', 'é',
];
const BARCODES = ['4006381333931', '96385074', '04006381333931', '14006381333938'];
const CATEGORIES = ['Kitchen', 'kitchen', 'Küche', 'Bar & Café', '茶', 'Z'];
const QUERIES = [
  ...WORDS, ...CATEGORIES, 'm', 'u', 'mu', '茶', '🫖', '%', '_', '"', '""', "'", '*', 'ug m', 'ss',
  'strasse', 'mug 1', 'sku', 'U-1', 'near mug', 'NEAR(mug)', 'mug OR cafe', 'kitchen sku', ' ',
  '\\', '\u0301', 'g\u0301', 'nothing like this', 'mug*', '^mug', '{folded}:mug', 'σοφος', 'É',
];

/** A product with few different values, so that many are equal. */
export function makeRandomProduct(random: Random, sku: string): NewProduct {
  const words = Array.from({ length: 1 + random.below(3) }, () => random.pick(WORDS));
  return makeNewProduct({
    name: random.below(3) === 0 ? words.join(' ') : `${words.join(' ')} ${random.below(20)}`,
    category: random.pick(CATEGORIES), sku, price: random.below(12) / 4, stock: random.below(10),
    ...(random.below(4) === 0 && { archived: true }),
    ...(random.below(4) === 0 && { low_stock: random.below(10) }),
    ...(random.below(6) === 0 && { barcode: random.pick(BARCODES) }),
  });
}

/** Conditions that often have matches, sometimes several, and sometimes none. */
export function makeRandomFilter(random: Random, products: readonly Product[]): ProductFilter {
  const some = (): Product => random.pick(products);
  const chance = (): boolean => random.below(5) === 0;
  return {
    archived: random.pick([undefined, undefined, true, 'any'] as const),
    barcode: random.below(12) === 0 ? random.pick(BARCODES) : undefined,
    lowStock: chance() ? random.below(10) : undefined,
    q: random.below(3) === 0 ? random.pick([...QUERIES, some().name, some().sku]) : undefined,
    category: chance() ? some().category : undefined,
    sku: random.below(12) === 0 ? some().sku : undefined,
    priceMin: chance() ? some().priceMinor : undefined,
    priceMax: chance() ? some().priceMinor : undefined,
    stockMin: chance() ? some().stock : undefined,
    stockMax: chance() ? some().stock : undefined,
    updatedSince: chance() ? some().updatedAt : undefined,
    changedSince: chance() ? some().position : undefined,
  };
}

export function makeRandomSort(random: Random): ProductSort {
  return random.pick(ALL_SORTS);
}

/** The products that a query finds among these. */
export function findInModel(products: readonly Product[], query: ProductQuery): Product[] {
  const { filter, sort, after, limit } = query;
  return sortModel(products.filter((product) => isMatch(product, filter)), sort)
    .filter((product) => !after || compareAnchors(anchorOf(product, sort), after, sort) > 0)
    .slice(0, limit);
}

export function anchorOf(product: Product, { by }: ProductSort): KeysetAnchor {
  const { id, name, sku, priceMinor: price, stock, updatedAt } = product;
  const keys = { id, name: foldText(name), sku, price, stock, updated_at: updatedAt };
  return { key: keys[by], id };
}

function sortModel(products: readonly Product[], sort: ProductSort): Product[] {
  return products.toSorted((one, other) =>
    compareAnchors(anchorOf(one, sort), anchorOf(other, sort), sort));
}

function isMatch(product: Product, filter: ProductFilter): boolean {
  const { q, category, sku, priceMin, priceMax, stockMin, stockMax } = filter;
  const { updatedSince, changedSince, archived, barcode, lowStock } = filter;
  const texts = [product.name, product.sku, product.category, product.barcode ?? ''].map(foldText);
  const isPart = (word: string): boolean => texts.some((text) => text.includes(word))
    || (bare(word) !== '' && bare(foldText(product.sku)).includes(bare(word)));
  return (archived === 'any' || (archived ?? false) === (product.archived ?? false))
    && (barcode === undefined || Number(product.barcode) === Number(barcode))
    && (lowStock === undefined || product.stock <= (product.lowStock ?? lowStock))
    && (q === undefined || foldText(q).split(/\s+/).every(isPart))
    && (category === undefined || product.category === category)
    && (sku === undefined || product.sku === sku)
    && product.priceMinor >= (priceMin ?? 0) && product.priceMinor <= (priceMax ?? Infinity)
    && product.stock >= (stockMin ?? 0) && product.stock <= (stockMax ?? Infinity)
    && product.updatedAt >= (updatedSince ?? 0) && product.position > (changedSince ?? 0);
}

/** Without punctuation. */
function bare(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}]/gu, '');
}

function compareAnchors(
  one: KeysetAnchor, other: KeysetAnchor, { isDescending }: ProductSort,
): number {
  const ascending = compareKeys(one.key, other.key) || one.id - other.id;
  return isDescending ? -ascending : ascending;
}

/** Texts by their code points, which is not how JavaScript compares them. */
function compareKeys(one: string | number, other: string | number): number {
  if (typeof one === 'number' || typeof other === 'number') return Number(one) - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
