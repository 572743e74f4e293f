/**
 * Finds the CSV columns of stock changes: by the names that tills and ERPs give them, the only list
 * of which is here, or as named by `map`. Never chooses between two columns for the same member,
 * such as Quantity and Available: a wrong guess would change the stock of the whole file.
 */
import { AppError } from '../domain/error.ts';
import type { StockChange } from '../domain/catalogue/stock-change.ts';
import { PRODUCT_FIELD_NAMES } from '../domain/catalogue/product-fields.ts';
import { matchColumns } from './columns.ts';
import { countColumns } from './csv-cells.ts';
import {
  findNamedColumns, listIgnored, missingColumns, normalizeName, parsePairs, shortenName,
} from './header.ts';

export type StockMember = keyof StockChange;

/**
 * The names of each member's column, separated by commas, without regard to case, accents and
 * punctuation: `On_Hand` is `on hand`. A column that has the name of its member wins over others.
 */
const NAMES: Readonly<Record<StockMember, string>> = {
  sku: `
    sku, sku code, sku number, sku no, product sku, variant sku, seller sku, merchant sku, item sku,
    item number, item no, item code, product number, product no, product code, article number,
    article no, article code, stock code, part number, part no, reference, ref, code,
    internal reference, product reference, Artikelnummer, Artikelnr, Artikel-Nr, Art-Nr, Artnr,
    Artikelcode, Produktnummer, Référence, Réf, Référence article, Référence produit, Réf article,
    Code article, Code produit, Referencia, Código, Código de artículo, Código artículo,
    Código de producto, Código producto, Codice, Codice articolo, Cod articolo, Codice prodotto,
    Riferimento, Productcode, Referência, Código do produto, Código do artigo, Kod produktu, Symbol,
    Indeks, Varenummer, Varenr, Tuotekoodi, Tuotenumero, Kód, Kód produktu, Kód zboží, Kód tovaru,
    Cikkszám, Cod produs, Stok kodu, Ürün kodu, Артикул, Κωδικός, 商品コード, 商品番号, 品番,
    商品编码, 货号, 상품코드`,
  id: 'id',
  set: `
    set, stock, in stock, stock on hand, stock level, stock quantity, stock qty, current stock,
    available stock, on hand, on hand quantity, on hand qty, quantity, quantity on hand,
    quantity available, current quantity, available quantity, qty, qty on hand, qty available,
    available qty, available, inventory, inventory level, inventory quantity, inventory qty,
    variant inventory qty, count, counted, counted quantity, soh, Bestand, Lagerbestand,
    Istbestand, Ist-Bestand, Warenbestand, Aktueller Bestand, Verfügbarer Bestand, Verfügbar,
    Verfuegbar, Verfügbare Menge, Menge, Lagermenge, Stückzahl, Anzahl, Auf Lager, Quantité, Qté,
    Quantité en stock, Qté en stock, Quantité disponible, En stock, Stock actuel, Stock réel,
    Stock disponible, Disponible, Cantidad, Cantidad disponible, Existencias, Existencia,
    En existencia, Stock actual, Inventario, Unidades, Quantità, Q.tà, Qta, Giacenza, Giacenze,
    Disponibilità, Disponibile, Esistenza, In magazzino, Voorraad, Voorraadniveau, Op voorraad,
    Aantal, Hoeveelheid, Beschikbaar, Quantidade, Qtd, Qtde, Estoque, Estoque atual, Em estoque,
    Em stock, Existências, Disponível, Ilość, Stan, Stan magazynowy, Dostępna ilość, Liczba sztuk,
    Antal, Lagersaldo, I lager, Tillgängligt, Lagerbeholdning, Beholdning, På lager, Antall,
    Määrä, Varastosaldo, Množství, Množstvo, Skladem, Počet kusů, Zásoba, Zásoby, Mennyiség,
    Készlet, Cantitate, Stoc, Miktar, Stok, Stok adedi, Stok miktarı, Adet, Количество, Остаток,
    В наличии, Кількість, Залишок, Ποσότητα, Απόθεμα, 在庫, 在庫数, 数量, 库存, 库存数量, 庫存, 재고,
    재고수량, 수량`,
  adjust: `
    adjust, adjustment, adjust by, delta, stock change, quantity change, stock adjustment,
    quantity adjustment, Bestandsänderung, Bestandskorrektur, Variation de stock, Ajustement,
    Ajuste, Variazione, Rettifica`,
  expect: 'expect',
  sequence: 'sequence',
  reason: 'reason, Grund, Motif, Motivo, Causale, Reden, Orsak, Powód',
};

/** The members in the order in which errors name them. */
export const STOCK_MEMBERS: readonly StockMember[] =
  ['sku', 'id', 'set', 'adjust', 'expect', 'sequence', 'reason'];

const MEMBER_OF_NAME: ReadonlyMap<string, StockMember> = new Map(STOCK_MEMBERS.flatMap((member) =>
  NAMES[member].split(',').map((name) => [foldName(name), member] as const)));

/** Of each pair, a row has one; `map` naming one leaves the other out. */
const PAIRS = [['sku', 'id'], ['set', 'adjust']] as const;
/** Columns of our own export that are ignored without reporting them. */
const EXPORT_ONLY_COLUMNS: ReadonlySet<string> =
  new Set<string>(PRODUCT_FIELD_NAMES).difference(new Set(['name', 'category', 'price']));

export type StockColumnMap = ReadonlyMap<StockMember, string>;

/** The columns of a stock file, by their index from 0. */
export interface StockColumns {
  /** Cells that each row must have. */
  readonly count: number;
  readonly indexes: Readonly<Record<StockMember, number | undefined>>;
  /** The first ignored columns. */
  readonly ignored: readonly string[];
}

/**
 * Parses `sku:Code,set:On hand`; `stock`, as imports of products name it, is the same as `set`.
 * @throws AppError `invalid_query`
 */
export function parseStockColumnMap(text: string): StockColumnMap {
  return parsePairs(text.replace(/(^|,)stock:/g, '$1set:'), STOCK_MEMBERS, {
    parameter: 'map', instruction: 'Name one column', example: 'sku:Code,set:Quantity',
  });
}

/** The columns that each member might have, by their index from 0. */
export interface MatchedStockColumns {
  readonly indexes: Readonly<Record<StockMember, readonly number[]>>;
  /** Members with several columns, of which one must be chosen. */
  readonly ambiguous: readonly StockMember[];
  /** Pairs of members of which neither has a column, and one needs it. */
  readonly missing: readonly (readonly StockMember[])[];
  /** Whether the rows can be read. */
  readonly isUsable: boolean;
}

/**
 * @throws AppError `invalid_data` if a member has several columns, or the file lacks a product or a
 *   quantity; `invalid_query` if `map` names a missing column
 */
export function findStockColumns(
  header: readonly string[], map: StockColumnMap = new Map(),
): StockColumns {
  const matched = matchStockColumns(header, map);
  for (const member of matched.ambiguous) throw ambiguous(header, member, matched.indexes[member]);
  if (matched.missing.length > 0) {
    const names = matched.missing.map((pair) => pair.join(' or ')).join(', and none for ');
    const needed = matched.missing.flatMap(([member]) => member ?? []);
    throw missingColumns(header, names, needed);
  }
  // The cast: each member has its entry.
  const indexes = Object.fromEntries(STOCK_MEMBERS.map((member) =>
    [member, matched.indexes[member][0]])) as Record<StockMember, number | undefined>;
  const used = new Set(Object.values(indexes));
  const ignored = listIgnored(header, (index) =>
    !used.has(index) && !EXPORT_ONLY_COLUMNS.has(normalizeName(header[index] ?? '')));
  return { count: countColumns(header), indexes, ignored };
}

/**
 * Whether this is the header of a stock file: it has a product and a quantity, and nothing else of
 * a product, such as a name or price.
 */
export function isStockHeader(header: readonly string[]): boolean {
  const { missing } = matchStockColumns(header);
  const { name, category, price } = matchColumns(header).indexes;
  return missing.length === 0 && name.length + category.length + price.length === 0;
}

/**
 * Matches a header to members, even if rows could not be read.
 * @throws AppError `invalid_query` if `map` names a missing column
 */
export function matchStockColumns(
  header: readonly string[], map: StockColumnMap = new Map(),
): MatchedStockColumns {
  const mapped = new Map([...map].map(([member, name]) =>
    [member, findNamedColumns(header, name)] as const));
  const mappedIndexes = new Set([...mapped.values()].flat());
  const indexesByMember = Map.groupBy(header.keys(), (index) =>
    MEMBER_OF_NAME.get(foldName(header[index])));
  const listOwn = (member: StockMember): readonly number[] => {
    const partner = PAIRS.find((pair) => pair.some((name) => name === member))
      ?.find((other) => other !== member);
    if (partner && map.has(partner)) return [];
    const own = (indexesByMember.get(member) ?? []).filter((index) => !mappedIndexes.has(index));
    const exact = own.filter((index) => normalizeName(header[index] ?? '') === member);
    return exact.length > 0 ? exact : own;
  };
  // The cast: each member has its entry.
  const indexes = Object.fromEntries(STOCK_MEMBERS.map((member) =>
    [member, mapped.get(member) ?? listOwn(member)])) as MatchedStockColumns['indexes'];
  const several = STOCK_MEMBERS.filter((member) => indexes[member].length > 1);
  const missing = PAIRS.filter((pair) => pair.every((member) => indexes[member].length === 0));
  return {
    indexes, ambiguous: several, missing, isUsable: several.length === 0 && missing.length === 0,
  };
}

/** How many members these names stand for; 0 if `map` names a column that is not among them. */
export function countStockMembers(names: readonly string[], map: StockColumnMap): number {
  try {
    return Object.values(matchStockColumns(names, map).indexes)
      .filter(({ length }) => length > 0).length;
  } catch {
    return 0;
  }
}

function ambiguous(
  header: readonly string[], member: StockMember, [first = 0, second = 0]: readonly number[],
): AppError {
  const [firstName, secondName] = [header[first] ?? '', header[second] ?? ''];
  const fault = `The file has two columns for ${member}: "${shortenName(firstName)}" and `
    + `"${shortenName(secondName)}" (columns ${first + 1} and ${second + 1})`;
  if (normalizeName(firstName) === normalizeName(secondName)) {
    return new AppError('invalid_data', `${fault}. Rename or remove one of them.`);
  }
  const example = `map=${member}:${shortenName(firstName)}`;
  const detail = `Name the column to read, such as ${example}.`;
  return new AppError('invalid_data', `${fault}. Say which one to read, with ${example}.`, {
    issues: [{ parameter: 'map', code: 'required', detail }],
  });
}

/** Without case, accents and punctuation. */
function foldName(name = ''): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}
