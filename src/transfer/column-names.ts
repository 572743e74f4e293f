/**
 * The names that tills, ERPs and shops give the columns of products and stock: the only list of
 * them. Names are compared without regard to case, accents and punctuation: `On_Hand` is `on hand`.
 *
 * A name alone does not make a quantity. A name that asks, such as `In stock?`, never does, and
 * neither does `Stock %` or `Stock +/-`. One that only says whether there is stock does unless its
 * cells are flags. One that says an amount of anything does unless another column says that the
 * amounts are not pieces. A column of numbers has no names of products: the French Nombre is a
 * count, the Spanish one a name.
 */
import type { Issue } from '../domain/error.ts';

/** What a column has: a member of a product or stock change, units, or the place of a row. */
type NamedMember = 'sku' | 'name' | 'category' | 'price' | 'currency' | 'stock' | 'barcode'
  | 'adjust' | 'reason';
type ColumnKind = NamedMember | 'amount' | 'availability' | 'unit' | 'unitPrice' | 'priceUnit'
  | 'location';

/** Separated by commas. */
const NAMES: Readonly<Record<ColumnKind, string>> = {
  sku: `
    sku, sku code, sku number, sku no, product sku, variant sku, seller sku, merchant sku, item sku,
    custom label sku, custom label, item number, item no, item code, product number, product no,
    product code, article number, article no, article code, stock code, part number, part no,
    reference, ref, code, internal reference, product reference, Artikelnummer, Artikelnr,
    Artikel-Nr, Art-Nr, Artnr, Artikelcode, Produktnummer, UGS, Référence article,
    Référence produit, Réf article, Code article, Code produit, Referencia, Código,
    Código de artículo, Código artículo, Código de producto, Código producto, Codice,
    Codice articolo, Cod articolo, Codice prodotto, Riferimento, Productcode, Código do produto,
    Código do artigo, Kod produktu, Symbol, Indeks, Varenummer, Varenr, Tuotekoodi, Tuotenumero,
    Kód, Kód zboží, Kód tovaru, Cikkszám, Cod produs, Stok kodu, Ürün kodu, Артикул, Κωδικός, 商品コード,
    商品番号, 品番, 商品编码, 货号, 상품코드`,
  name: `
    name, title, product name, product title, item name, item title, article name, Bezeichnung,
    Artikelbezeichnung, Artikelname, Produktname, Produktbezeichnung, Produkttitel, Titel, Nom,
    Nom du produit, Nom produit, Nom article, Nom de l'article, Titre, Désignation,
    Désignation article, Libellé, Libellé article, Libellé produit, Nombre, Nombre del producto,
    Nombre producto, Nombre del artículo, Título, Título del producto, Denominación, Nome,
    Nome prodotto, Nome del prodotto, Nome articolo, Titolo, Denominazione, Nome do produto,
    Nome do artigo, Título do produto, Designação, Naam, Productnaam, Artikelnaam, Benaming,
    Artikelomschrijving, Nazwa, Nazwa produktu, Nazwa towaru, Namn, Produktnamn, Artikelnamn,
    Benämning, Navn, Varenavn, Produktnavn, Nimi, Tuotenimi, Název, Název produktu, Název zboží,
    Název položky, Názov, Názov produktu, Terméknév, Megnevezés, Denumire, Denumire produs,
    Ürün adı, Ürün ismi, Stok adı, Ad, Adı, Başlık, Название, Название товара, Наименование,
    Наименование товара, Имя, Назва, Назва товару, Όνομα, Ονομασία, 商品名, 製品名, 品名, 名前, 名称, 商品名称,
    产品名称, 标题, 商品名稱, 상품명, 제품명`,
  category: `
    category, category name, product category, main category, Kategorie, Warengruppe, Artikelgruppe,
    Produktkategorie, Hauptkategorie, Catégorie, Catégorie de produit, Categoría,
    Categoría del producto, Categoria prodotto, Productcategorie, Productgroep, Artikelgroep,
    Kategoria, Kategoria produktu, Kategori, Produktkategori, Varugrupp, Varegruppe, Tuoteryhmä,
    Kategorie produktu, Категория, Категория товара, Категорія, Κατηγορία, カテゴリ, カテゴリー, 商品カテゴリ, 分类,
    类别, 商品分类, 产品分类, 分類, 카테고리`,
  price: `
    price, selling price, sales price, retail price, regular price, product price,
    item price, current price, price excl tax, price tax excl, price tax excluded, price incl tax,
    price tax incl, price tax included, Preis, Verkaufspreis, Ladenpreis,
    Bruttopreis, Nettopreis, Preis brutto, Preis netto, Verkaufspreis brutto, Verkaufspreis netto,
    VK, VK-Preis, VKPreis, VK brutto, VK netto, Regulärer Preis, Prix, Prix de vente,
    Prix TTC, Prix HT, Prix de vente TTC, Prix de vente HT, Prix public, Tarif,
    Tarif régulier, Precio, Precio de venta, Precio normal, Precio final, PVP,
    Prezzo, Prezzo di vendita, Prezzo di listino, Prezzo al pubblico, Preço,
    Preço de venda, Preço normal, Prijs, Verkoopprijs, Normale prijs,
    Reguliere prijs, Cena, Cena sprzedaży, Cena detaliczna, Cena regularna,
    Cena brutto, Cena netto, Pris, Försäljningspris, Ordinarie pris, Utpris, Salgspris, Utsalgspris,
    Hinta, Myyntihinta, Prodejní cena, Cena s DPH, Cena bez DPH, Běžná cena, Predajná cena, Ár,
    Eladási ár, Preț, Fiyat, Fiyatı, Satış fiyatı, Normal fiyat, Цена, Цена продажи,
    Розничная цена, Цена розничная, Базовая цена, Ціна, Τιμή, 価格, 販売価格, 売価, 通常価格, 价格, 售价, 销售价,
    销售价格, 零售价, 價格, 售價, 가격, 판매가, 판매가격`,
  unitPrice: `
    unit price, Einzelpreis, Stückpreis, Prix unitaire, Precio unitario, Prezzo unitario,
    Preço unitário, Stukprijs, Cena jednostkowa, Birim fiyat`,
  currency: `
    currency, currency code, Währung, Devise, Monnaie, Moneda, Divisa, Valuta, Moeda, Waluta, Měna,
    Валюта, Para birimi, Döviz, 通貨, 币种, 货币, 貨幣, 통화`,
  barcode: `
    barcode, barcode number, gtin, ean, ean code, ean 13, ean13, upc, Strichcode, EAN-Nummer,
    Code-barres, Code EAN, Código de barras, Código EAN, Codice a barre, Codice EAN, Streepjescode,
    Kod kreskowy, Kod EAN, Streckkod, Strekkode, Stregkode, Viivakoodi, Čárový kód, Čiarový kód,
    EAN kód, Vonalkód, Cod de bare, Barkod, Штрихкод, Штрих-код, バーコード, JANコード, 条码, 条形码, 商品条码, 條碼,
    바코드`,
  stock: `
    stock, stock on hand, stock level, stock quantity, stock qty, current stock, available stock,
    on hand, on hand current, on hand new, available not editable, on hand quantity, on hand qty,
    quantity on hand, quantity available, current quantity, available quantity, qty on hand,
    qty available, available qty, inventory, inventory level, inventory quantity, inventory qty,
    variant inventory qty, count, counted, counted quantity, soh,
    Bestand, Lagerbestand, Istbestand, Ist-Bestand, Warenbestand, Aktueller Bestand,
    Verfügbarer Bestand, Verfügbare Menge, Lagermenge, Stückzahl, Quantité en stock,
    Qté en stock, Quantité disponible, Stock actuel, Stock réel, Stock disponible,
    Cantidad disponible, Existencias, Existencia, Stock actual, Inventario, Giacenza,
    Giacenze, Esistenza, Voorraad, Voorraadniveau, Estoque, Estoque atual, Stan magazynowy,
    Dostępna ilość, Liczba sztuk, Lagersaldo, Lagerbeholdning, Beholdning, Varastosaldo,
    Počet kusů, Zásoba, Zásoby, Készlet, Stoc, Stok, Stok adedi, Stok miktarı, Adet,
    Остаток, Запасы, Залишок, Απόθεμα, 在庫, 在庫数, 库存, 库存数量, 庫存, 재고, 재고수량`,
  amount: `
    quantity, qty, Menge, Anzahl, Aantal, Antal, Antall, Unidades, Quantité, Qté, Cantidad,
    Quantità, Q.tà, Qta, Hoeveelheid, Quantidade, Qtd, Qtde, Ilość, Määrä, Množství, Množstvo,
    Mennyiség, Cantitate, Miktar, Количество, Кількість, Ποσότητα, 数量, 수량`,
  availability: `
    in stock, available, Auf Lager, Vorrätig, Verfügbar, Verfuegbar, En stock, Disponible,
    En existencia, In magazzino, Disponibile, Disponibilità, Op voorraad, Beschikbaar, Em estoque,
    Em stock, Disponível, Stan, Dostępny, I lager, Tillgängligt, På lager, Skladem, Na skladě,
    Stokta, В наличии, В наявності, 在庫あり, 有库存, 有貨`,
  unit: `
    unit, uom, unit of measure, unit of measurement, measurement unit, quantity unit, Einheit,
    Mengeneinheit, Basismengeneinheit, Lagereinheit, Maßeinheit, ME, Unité, Unité de mesure, Unidad,
    Unidad de medida, Unità, Unità di misura, UM, U.M., Unidade, Unidade de medida, Eenheid,
    Meeteenheid, Jednostka, Jednostka miary, J.m., Enhet, Enhed, Yksikkö, MJ, Měrná jednotka,
    Jednotka, Mértékegység, Ед. изм., Единица измерения, Единица, Birim, Ölçü birimi, 単位, 单位, 單位,
    단위`,
  priceUnit: `
    price unit, Preiseinheit, Unité de prix, Unidad de precio, Unità di prezzo, Prijseenheid`,
  location: `
    warehouse, location, location name, store, branch, depot, site, bin, Lager, Lagerort,
    Lagerplatz, Standort, Filiale, Werk, Entrepôt, Emplacement, Magasin, Almacén, Ubicación, Tienda,
    Magazzino, Deposito, Ubicazione, Magazijn, Locatie, Vestiging, Armazém, Magazyn, Lokalizacja,
    Sklad, Склад, Depo, 倉庫, 仓库`,
  adjust: `
    adjust, adjustment, adjust by, delta, stock change, quantity change, stock adjustment,
    quantity adjustment, Bestandsänderung, Bestandskorrektur, Variation de stock, Ajustement,
    Ajuste, Variazione, Rettifica`,
  reason: 'reason, Grund, Motif, Motivo, Causale, Reden, Orsak, Powód',
};

/** How columns of units say that a quantity counts pieces. */
const PIECES = toSet(`
  piece, pieces, pc, pcs, pce, each, ea, unit, units, item, items, c62, h87, Stück, Stueck, Stk,
  Stck, St, Unité, Unités, U, Pieza, Piezas, Pza, Unidad, Unidades, Ud, Uds, Pezzo, Pezzi, Pz, Nr,
  Peça, Peças, Unidade, Un, Und, Stuk, Stuks, Sztuka, Sztuki, Szt, Styck, Kappale, Kpl, Kus, Kusy,
  Ks, Darab, Db, Bucată, Buc, Adet, Ad, Шт, Штука, Штук, 個, 点, 个, 件, 개`);

const KIND_OF_NAME: ReadonlyMap<string, ColumnKind> = new Map(
  // The cast: these are the keys of the table.
  (Object.keys(NAMES) as ColumnKind[]).flatMap((kind) =>
    [...toSet(NAMES[kind])].map((name) => [name, kind] as const)));

/** The members of kinds that are named otherwise, and kinds that have none. */
const MEMBERS: Readonly<Partial<Record<ColumnKind, NamedMember>>> =
  { amount: 'stock', availability: 'stock', unitPrice: 'price' };
const NO_MEMBERS: ReadonlySet<ColumnKind> = new Set(['unit', 'priceUnit', 'location']);
/** The name of a column that may have prices, and of one that has those of a purchase. */
export const PRICE =
  /price|prei[sz]|prix|precio|prezzo|preço|prijs|pris|cena|fiyat|цена|价|価|^vk\b/i;
const PURCHASE = /cost|purchas|compar|einkauf|achat|compra|acquist|inkoop|zakup/i;
/** A question, in any writing, a share or a difference: no value of a member. */
const NO_VALUE = /[?？¿؟%‰±]|\+ *\/ *[-–−]/;
/** What a column of levels is not: `Stock #` is a number of an article. */
const NO_LEVEL = /[#№]/;
/** A price for one piece, as a column of price units says it. */
const ONE = /^(?:1(?:[.,]0{1,2})?(?!\d|[.,]\d)|\D)/;
const NUMBER = /^[-+]?\d[\d.,\s]*$/;
/** A number other than 0 and 1, which may be flags. */
const COUNT = /^[-+]?(?!0*[01](?:[.,]0*)?$)\d[\d.,\s]*$/;

/** The error of a row of Etsy, which has the lowest price and the total stock of its variants. */
const SKU_LIST: Issue = {
  pointer: '/sku', code: 'format',
  detail: 'Lists the SKUs of several variants: write a row for each of them, with its own stock.',
};

/** Whether a file has Etsy's listings, whose cells of SKUs list those of all variants. */
export function hasSkuLists(header: readonly string[]): boolean {
  const names = header.map(foldName);
  return names.includes('currency code') && names.includes('sku');
}

/** The error of a cell that lists several SKUs, in a file whose cells may. */
export function findSkuListIssue(hasLists: boolean, sku: string): Issue | undefined {
  return hasLists && sku.includes(',') ? SKU_LIST : undefined;
}

/**
 * The columns that are not what their names say, by their index from 0.
 * @param rows the first rows of the file
 */
export function findUntrusted(
  header: readonly string[], rows: readonly (readonly string[])[],
): readonly number[] {
  const kinds = header.map(kindOf);
  const listCells = (index: number): string[] =>
    rows.map((row) => row[index]?.trim() ?? '').filter((cell) => cell !== '');
  const hasOtherUnits = kinds.some((kind, index) =>
    kind === 'unit' && listCells(index).some((unit) => !PIECES.has(foldName(unit))));
  return [...kinds.entries()].flatMap(([index, kind]) => {
    const isUntrusted = (kind === 'amount' && hasOtherUnits)
      || (kind === 'unitPrice' && header.some(isUnknownPrice))
      || (kind === 'availability' && rows.length > 0
        && !listCells(index).some((cell) => COUNT.test(cell)))
      || (kind === 'name' && rows.length > 0
        && listCells(index).every((cell) => NUMBER.test(cell)));
    return isUntrusted ? [index] : [];
  });
}

/** The columns of each member. Among those of SKUs, one that says SKU wins. */
export function recognizeColumns(
  header: readonly string[], untrusted: readonly number[],
): ReadonlyMap<string, readonly number[]> {
  const columns: Map<string, readonly number[]> = new Map();
  for (const [index, name] of header.entries()) {
    const kind = NO_VALUE.test(name) ? undefined : kindOf(name);
    if (!kind || NO_MEMBERS.has(kind) || untrusted.includes(index)) continue;
    const member = MEMBERS[kind] ?? kind;
    if (member === 'stock' && NO_LEVEL.test(name)) continue;
    columns.set(member, [...columns.get(member) ?? [], index]);
  }
  const skus = columns.get('sku')?.filter((index) => /sku/i.test(header[index] ?? '')) ?? [];
  return skus.length > 0 ? columns.set('sku', skus) : columns;
}

/**
 * Returns the check of rows by their units: an amount must be in pieces, a price for one of them.
 * @param columns of the amount, unless `map` names it, and of the price
 */
export function createUnitCheck(
  header: readonly string[],
  columns: { readonly amount?: number | undefined; readonly price?: number | undefined },
): (cells: readonly string[]) => Issue | undefined {
  const kinds = header.map(kindOf);
  const unit = kinds[columns.amount ?? -1] === 'amount' ? kinds.indexOf('unit') : -1;
  const priceUnit = columns.price === undefined ? -1 : kinds.indexOf('priceUnit');
  if (unit < 0 && priceUnit < 0) return () => undefined;
  let lastUnit = '';
  return (cells) => {
    const unitCell = cells[unit] ?? '';
    const price = cells[priceUnit] ?? '';
    if (unitCell !== lastUnit && unitCell !== '') {
      if (!PIECES.has(foldName(unitCell))) return explainUnit(header[unit], unitCell);
      lastUnit = unitCell;
    }
    return price === '' || ONE.test(price) ? undefined : explainUnit(header[priceUnit], price);
  };
}

function explainUnit(name = '', unit: string): Issue {
  const detail = `By "${name.trim()}", the row is for ${unit}. Convert its amount or price to one `
    + 'piece, and leave the unit blank.';
  return { pointer: '', code: 'mismatch', detail };
}

/** The column that a file has if it has a row for each place of a product. */
export function findLocation(header: readonly string[]): string | undefined {
  return header.find((name) => kindOf(name) === 'location');
}

/** Why columns with the names of these members are not read, for a message. */
export function explainUntrusted(
  header: readonly string[], untrusted: readonly number[], members: readonly string[],
): readonly string[] {
  const unit = header.find((name) => kindOf(name) === 'unit')?.trim();
  return untrusted.flatMap((index) => {
    const kind = kindOf(header[index]);
    if (!kind || !members.includes(MEMBERS[kind] ?? kind)) return [];
    const other = header.find(isUnknownPrice)?.trim();
    const reason = kind === 'name' ? 'a name: it has only numbers.'
      : kind === 'unitPrice' ? `a price: it may be for a unit such as 1 kg, beside "${other}".`
      : kind === 'amount' ? `a quantity: by "${unit}", it is not in pieces.`
        : 'a quantity: it has no number above 1, so it may only say whether there is stock.';
    return [`"${header[index]?.trim()}" is not read as ${reason}`];
  });
}

/** Whether a column may have prices for pieces, although its name is not in the list. */
function isUnknownPrice(name: string): boolean {
  return kindOf(name) === undefined && PRICE.test(name) && !PURCHASE.test(name);
}

function kindOf(name: string | undefined): ColumnKind | undefined {
  return KIND_OF_NAME.get(foldName(name));
}

/** Without case, accents and punctuation. */
export function foldName(name = ''): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ı', 'i')
    .replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

function toSet(names: string): ReadonlySet<string> {
  return new Set(names.split(',').map(foldName));
}
