/**
 * Finds the CSV columns of product members, in any case and order: of our own export, of shop
 * exports, or as named by `map`. In Shopify's exports each variant has a row, and only the first
 * has Title and Type; rows that only add an image have neither SKU nor price. WooCommerce writes
 * prices with the shop's decimal mark, escapes a comma in a category with a backslash, and has
 * `variable` and `grouped` rows for products with variants. Magento 2 has `configurable` and
 * `grouped` rows, and rows that translate a product for a store view.
 */
import {
  PRODUCT_FIELD_NAMES, SENT_FIELDS, type SentFieldName, type ShopSystem,
} from '../domain/catalogue/product-fields.ts';
import { explainUntrusted, findUntrusted, hasSkuLists, recognizeColumns } from './column-names.ts';
import { countColumns } from './csv-cells.ts';
import {
  ambiguousColumns, assertUnique, assertUnmerged, countFound, findNamedColumns, listIgnored,
  missingColumns, normalizeName, parseMap, parsePairs,
} from './header.ts';
import { DEFAULTABLE, SAFE_DEFAULTS } from './import-row.ts';
import type { DecimalMark } from './numbers.ts';
import { matchStockColumns, type StockColumns } from './stock-columns.ts';

export const MEMBERS: readonly Member[] = [...SENT_FIELDS.map(({ name }) => name), 'currency'];
export type Member = SentFieldName | 'currency';

/** Members that a column with their own name does not decide: another one may have the numbers. */
const SEVERAL: ReadonlySet<Member> = new Set(['barcode', 'price', 'stock']);
/** Before the name of a pair of metadata, in the name of its column. */
const PAIR_PREFIX = 'metadata.';

/** The column of our own export whose values must be those of the products. */
const ID_COLUMN = 'id';
/** Columns of our own export that an import ignores without reporting them. */
const EXPORT_ONLY_COLUMNS: ReadonlySet<string> =
  new Set<string>(PRODUCT_FIELD_NAMES).difference(new Set<string>(MEMBERS));

/** The column that the client names for each member. */
export type ColumnMap = ReadonlyMap<Member, string>;

/** Values for blank cells and missing columns of new products. */
export type Defaults = ReadonlyMap<Member, string>;

/**
 * Columns that relate rows: the key shared by rows of one product (`group`), the kind of a row, its
 * id, the parent it inherits from, and the store view it translates for.
 */
const STRUCTURE = ['group', 'kind', 'id', 'parent', 'storeView'] as const;
type Structure<Value> = Readonly<Record<(typeof STRUCTURE)[number], Value>>;

/** How to recognize and read a shop's export. Names are in lower case. */
interface Layout extends Partial<Structure<string>> {
  /** A file with all of these columns has this layout. */
  readonly identifying: readonly string[];
  /** The shop whose column names apply; without one, columns are named like fields. */
  readonly shop?: ShopSystem;
  /** Its columns, if they differ from the shop's. */
  readonly columns?: Readonly<Partial<Record<Member, readonly string[]>>>;
  readonly hasCategoryLists?: boolean;
  /** What separates decimals in a file as the shop writes it; undefined if that depends. */
  readonly decimal?: DecimalMark;
}

const WOOCOMMERCE = { shop: 'wooCommerce', hasCategoryLists: true } as const;
/** The names in other languages: id, type, SKU, name, text, stock, price, categories, parent. */
const WOOCOMMERCE_TRANSLATIONS = [
  'ID/Type/UGS/Nom/Description/Stock/Tarif régulier/Catégories/Parent',
  'ID/Typ/Artikelnummer/Name/Beschreibung/Bestand|Lager/Regulärer Preis/Kategorien/'
    + 'Übergeordnetes Produkt',
  'ID/Tipo/SKU/Nombre/Descripción/Inventario/Precio normal/Categorías/Superior',
  'ID/Тип/Артикул/Имя/Описание/Запасы/Базовая цена/Категории/Родительский',
  'ID/Type/Artikelnummer/Naam/Beschrijving/Voorraad/Reguliere prijs/Categorieën/Hoofd',
  'ID/Typ/SKU/Nazwa/Opis/Stan magazynowy/Cena/Kategorie/Element nadrzędny',
  'Kimlik/Tür/Stok kodu (SKU)/İsim/Açıklama/Stok/Normal fiyat/Kategoriler/Ebeveyn',
  'ID/タイプ/SKU/名前/説明/在庫/標準価格/カテゴリー/親',
];
const WOOCOMMERCE_BARCODES =
  ['ou', 'oder', 'o', 'или', 'of', 'lub', 'veya'].map((or) => `gtin, upc, ean ${or} isbn`);

const LAYOUTS: readonly Layout[] = [
  {
    shop: 'shopify', identifying: ['handle', 'title', 'variant price'], group: 'handle',
    decimal: 'point',
  },
  {
    shop: 'shopifyUrlHandle', identifying: ['url handle', 'title', 'price'], group: 'url handle',
    decimal: 'point',
  },
  ...['type', 'categories'].map((name): Layout => ({
    ...WOOCOMMERCE, identifying: ['name', 'regular price', name],
    kind: 'type', id: 'id', parent: 'parent',
  })),
  ...WOOCOMMERCE_TRANSLATIONS.map((names): Layout => {
    const [id = '', kind = '', sku = '', name = '', description = '', stock = '', price = '',
      category = '', parent = ''] = names.split('/').map(normalizeName);
    return {
      ...WOOCOMMERCE, identifying: [id, kind, name, price, category], id, kind, parent,
      columns: {
        sku: [...new Set([sku, 'sku'])], name: [name], description: [description],
        stock: stock.split('|'), price: [price], category: [category],
        barcode: [...WOOCOMMERCE_BARCODES, 'gtin, upc, ean, or isbn'],
      },
    };
  }),
  {
    shop: 'magento', identifying: ['sku', 'categories', 'qty'],
    kind: 'product_type', storeView: 'store_view_code', hasCategoryLists: true, decimal: 'point',
  },
  { identifying: ['id', 'sku', 'price', 'currency', 'position'], decimal: 'point' }, // our export
];

/** The columns of a file, by their index from 0. */
export interface Columns extends Structure<number | undefined>,
  Pick<StockColumns, 'count' | 'hasSkuLists' | 'ignored'> {
  /** The columns of each member; the first one with a non-blank cell is read. */
  readonly indexes: Readonly<Record<Member, readonly number[]>>;
  /** The names of pairs of metadata, by column. */
  readonly pairs: ReadonlyMap<number, string>;
  /** All columns that are read. */
  readonly used: ReadonlySet<number>;
  /** The ids of our own export. */
  readonly productId: number | undefined;
  /** Whether blank categories are filled in. */
  readonly isShop: boolean;
  /** Whether a cell lists several categories, separated by commas. */
  readonly hasCategoryLists: boolean;
  /** What separates decimals in a file as its shop writes it; undefined if that depends. */
  readonly decimal: DecimalMark | undefined;
  /** Members whose column the client named. */
  readonly mappedMembers: ReadonlySet<Member>;
  /** Members without a column or default, which a new product needs. */
  readonly missing: readonly Member[];
  /** Members with several columns, of which one must be chosen. */
  readonly ambiguous: readonly Member[];
  /** Whether rows can be imported, even if members are missing. */
  readonly isUsable: boolean;
}

/**
 * Parses `name:Title,sku:Code`. A comma ends a column name only before a lower-case word and a
 * colon, so names may contain commas.
 * @throws AppError `invalid_query`
 */
export function parseColumnMap(text: string): ColumnMap {
  return parseMap(text, MEMBERS, 'name:Title,sku:Code');
}

/**
 * Parses `stock:0,category:Misc`, in the syntax of a column map.
 * @throws AppError `invalid_query`
 */
export function parseDefaults(text: string): Defaults {
  return parsePairs(text, DEFAULTABLE, {
    parameter: 'default', instruction: 'Give one text', example: 'stock:0,category:Misc',
  });
}

/**
 * With `isPartial`, columns may be missing: only new products need all members.
 * @throws AppError `invalid_data` for a duplicate column or a file from which nothing could be
 *   imported, `invalid_query` for `map`
 */
export function findColumns(
  header: readonly string[], map: ColumnMap, defaults: Defaults = new Map(), isPartial = false,
  sample: readonly (readonly string[])[] = [],
): Columns {
  const untrusted = findUntrusted(header, sample);
  const columns = matchColumns(header, map, defaults, isPartial, untrusted);
  const { used, missing, ambiguous, indexes, isUsable } = columns;
  assertUnique(header, used);
  for (const member of ambiguous) throw ambiguousColumns(header, member, indexes[member]);
  if (!isUsable) {
    const explanations = explainUntrusted(header, untrusted, missing);
    const isSafe = missing.every((member) => SAFE_DEFAULTS.has(member));
    const safe = isSafe ? missing.flatMap((member) => SAFE_DEFAULTS.get(member) ?? []) : [];
    throw missingColumns(header, missing.join(', '), missing, explanations, safe);
  }
  assertUnmerged(header, indexes, map, sample);
  return columns;
}

/**
 * Matches a header to members, even if an import would need more columns.
 * @throws AppError `invalid_query` if `map` names a missing column
 */
export function matchColumns(
  header: readonly string[], map: ColumnMap = new Map(), defaults: Defaults = new Map(),
  isPartial = false, untrusted: readonly number[] = [],
): Columns {
  const names = header.map(normalizeName);
  const layout: Partial<Layout> = LAYOUTS.find(({ identifying }) =>
    identifying.every((name) => names.includes(name))) ?? {};
  const { shop, columns, hasCategoryLists = false, decimal } = layout;
  const find = (name: string): number[] =>
    names.flatMap((other, index) => other === name ? [index] : []);
  const recognized = shop ? undefined : recognizeColumns(header, untrusted);
  const mapped = new Map([...map].map(([member, name]) =>
    [member, findNamedColumns(header, name)] as const));
  const mappedIndexes = new Set([...mapped.values()].flat());
  const findMember = (member: Member): readonly number[] => {
    const field = shop && SENT_FIELDS.find(({ name }) => name === member);
    const ownNames = field ? (columns ? columns[member] : field.shopColumns[shop]) : [member];
    const own = (ownNames ?? []).flatMap(find);
    if (own.length > 0 && (shop || !SEVERAL.has(member))) return own;
    const named = recognized?.get(member)?.filter((index) => !mappedIndexes.has(index)) ?? [];
    return [...new Set([...own, ...named])];
  };
  // The casts: each member and each column of the structure has its entry.
  const indexes = Object.fromEntries(MEMBERS.map((member) =>
    [member, mapped.get(member) ?? findMember(member)])) as Record<Member, readonly number[]>;
  const structure = Object.fromEntries(STRUCTURE.map((role) => {
    const name = layout[role];
    return [role, name && find(name)[0]];
  })) as Structure<number | undefined>;
  const pairs = findPairs(header);
  const members = Object.values(indexes).flat();
  const ids = shop === undefined ? find(ID_COLUMN).filter((index) => !members.includes(index)) : [];
  const used = new Set([
    ...members, ...Object.values(structure), ...ids, ...pairs.keys(),
  ].filter((index) => index !== undefined));
  const ignored = listIgnored(header, (index) =>
    !used.has(index) && (shop !== undefined || !EXPORT_ONLY_COLUMNS.has(names[index] ?? '')));
  const available = SENT_FIELDS.filter(({ name }) =>
    indexes[name].length > 0 || defaults.has(name));
  const missing = SENT_FIELDS.filter((field) => field.isRequired && !available.includes(field))
    .map(({ name }) => name);
  // A barcode may have several names; the first that is not blank is read.
  const ambiguous = recognized ? MEMBERS.filter((member) => member !== 'barcode'
    && new Set(indexes[member].map((index) => names[index])).size > 1) : [];
  const isNamed = !missing.includes('sku') || indexes.barcode.length > 0;
  const isComplete = isPartial ? isNamed && available.length + pairs.size > 1
    : missing.length === 0;
  return {
    ...structure, productId: ids[0], count: countColumns(header), indexes, pairs, used,
    isShop: shop !== undefined,
    hasCategoryLists: hasCategoryLists && !map.has('category'), decimal,
    hasSkuLists: hasSkuLists(header) && !map.has('sku'),
    mappedMembers: new Set(map.keys()), ignored, missing,
    // To change an existing product, its SKU or barcode and one more column or default are enough.
    ambiguous, isUsable: isComplete && ambiguous.length === 0,
  };
}

/**
 * What a file with this header has: products, or stock alone. It is unclear if the file has names
 * or prices, too, but not all that new products need: an export of products, or a list of stock.
 */
export function recognizeContent(
  header: readonly string[], untrusted: readonly number[] = [],
): 'products' | 'stock' | 'unclear' {
  if (matchStockColumns(header, undefined, untrusted).missing.length > 0) return 'products';
  const { indexes: { name, category, price }, missing, isShop } =
    matchColumns(header, undefined, undefined, undefined, untrusted);
  if (name.length + category.length + price.length === 0) return 'stock';
  return isShop || missing.length === 0 ? 'products' : 'unclear';
}

/** How many members have columns of these names; 0 if `map` names one that is not there. */
export function countMembers(names: readonly string[], map: ColumnMap): number {
  return countFound(() => {
    const { indexes, pairs } = matchColumns(names, map);
    return [...Object.values(indexes), ...[...pairs.keys()].map((index) => [index])];
  });
}

/** Columns such as `metadata.erp_id`; names of pairs keep their case. */
function findPairs(header: readonly string[]): ReadonlyMap<number, string> {
  return new Map(header.flatMap((name, index) => {
    const text = name.trim();
    const isPair = text.toLowerCase().startsWith(PAIR_PREFIX);
    return isPair ? [[index, text.slice(PAIR_PREFIX.length)] as const] : [];
  }));
}
