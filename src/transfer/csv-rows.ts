/**
 * The rows of a CSV file. Texts are read exactly, except for the apostrophe that escapes a formula.
 * A blank cell or missing column leaves its member out: an existing product keeps its value, a new
 * one gets the client's default. The category of a shop's product has a built-in default, since
 * shops often leave it blank; and optional columns of a shop that are not valid here are left out,
 * such as descriptions in HTML.
 */
import type { SkipReason } from '../domain/catalogue/import.ts';
import type { Currency } from '../domain/catalogue/currency.ts';
import { AppError, type Issue } from '../domain/error.ts';
import { isChangedNumber } from '../domain/catalogue/spreadsheet-sku.ts';
import { parseProductPatch, type ProductPatch } from '../domain/catalogue/product.ts';
import { invalid, type ParseResult } from '../domain/validation.ts';
import {
  type ColumnMap, type Columns, countMembers, type Defaults, findColumns, type Member,
  recognizeContent,
} from './columns.ts';
import {
  isBlank, parseTextMark, unescapeFormula, validateCellCount, validateTextCell,
} from './csv-cells.ts';
import { createUnitCheck, findSkuListIssue, PRICE } from './column-names.ts';
import { countCharacters, type CsvRecord } from './csv-reader.ts';
import type { FileOptions } from './file-options.ts';
import { isErrorColumn, shortenName } from './header.ts';
import {
  DEFAULTABLE_FIELDS, findCurrencyIssue, type ImportRow, type LeftOut, missingMember,
  parseContent, ROW_FIELDS, type RowConditions, type RowContent, type RowField, type RowReader,
} from './import-row.ts';
import { type DecimalMark, parseLevel, parseNumber } from './numbers.ts';
import { firstCategory, Inheritance, isContainer, StoreViews } from './shop-rows.ts';
import { createSkuSource, NO_SKU } from './sku-source.ts';
import {
  addMarks, checkTypes, pickColumn, readTable, TableReader, type UsedColumns,
} from './table-reader.ts';

const DIFFERENCES = 'Write the stock that there is, or send differences in a stock file.';
const NO_CATEGORY = 'Uncategorized';
const NUMBERS: ReadonlySet<RowField['kind']> = new Set(['price', 'quantity']);
const TEXTS = ['sku', 'name', 'category'] as const;
/** A tag, a comment or a character reference: HTML, which a description is not. */
const MARKUP = /<[a-z!/]|&(?:#\w+|[a-z]\w*);/i;

/** How to read the cells of a file. */
interface CsvSettings extends FileOptions {
  readonly map: ColumnMap;
  readonly defaults: Defaults;
  /** Whether rows may leave members out, because they may change existing products. */
  readonly isPartial: boolean;
}

const UNCLEAR_VIEW: Issue = {
  pointer: '', code: 'mismatch',
  detail: 'May translate a row that comes long before it, or is not in this file. Sort the whole '
    + 'file by SKU, and send all of it.',
};
/** As WooCommerce writes it. */
const STOCK_OF_PARENT: Issue = {
  pointer: '/stock', code: 'format',
  detail: 'Its parent has the stock of all variations. Write a stock for each of them, or leave '
    + 'the cell blank to keep it.',
};

/** A default value for new products, or its errors. */
type ParsedDefault = { readonly patch: ProductPatch } | { readonly issues: readonly Issue[] };

/** Reads the products of one CSV file. */
export class CsvRows implements RowReader {
  readonly format = 'csv';
  readonly #currency: Currency;
  readonly #settings: CsvSettings;
  readonly #defaults = new Map<RowField['name'], ParsedDefault>();
  readonly #reader: TableReader;
  #columns: Columns | undefined;
  #makeSku: ReturnType<typeof createSkuSource> = () => '';
  #texts: readonly { readonly member: Member; readonly index: number }[] = [];
  #checkUnits: ReturnType<typeof createUnitCheck> = () => undefined;
  #marks: ReadonlyMap<string, DecimalMark | undefined> = new Map();
  readonly #inheritance = new Inheritance();
  #storeViews = new StoreViews();

  constructor(currency: Currency, settings: CsvSettings) {
    this.#currency = currency;
    this.#settings = settings;
    this.#reader = new TableReader({
      ...settings, countMembers: (names) => countMembers(names, settings.map),
    });
  }

  get ignoredColumns(): readonly string[] {
    return this.#columns?.ignored ?? [];
  }

  get notes(): readonly string[] {
    const hasPrice = this.#columns?.indexes.price.length !== 0;
    const other = hasPrice ? undefined : this.ignoredColumns.find((name) => PRICE.test(name));
    if (other === undefined) return this.#reader.notes;
    const fault = `No prices were read, and the column "${shortenName(other)}" was ignored.`;
    return [...this.#reader.notes, `${fault} If it has them, name it as the column of price.`];
  }

  read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportRow[], void, void> {
    return readTable(this.#reader, chunks, (header, sample) => this.#open(header, sample));
  }

  /** Returns what parses the records after the header. */
  #open(header: CsvRecord, sample: readonly CsvRecord[]): (record: CsvRecord) => ImportRow {
    const { map, defaults, isPartial, skuFrom } = this.#settings;
    this.#makeSku = createSkuSource(header.cells, skuFrom);
    const columns = this.#columns = explainStockFile(header.cells, () =>
      findColumns(header.cells, map, defaults, isPartial, sample.map(({ cells }) => cells)));
    this.#texts = TEXTS.flatMap((member) =>
      columns.indexes[member].map((index) => ({ member, index })));
    this.#openNumbers(header.cells, columns);
    const used = addMarks(this.#listUsed(columns), header.cells, sample);
    this.#marks = new Map(used.map(({ member, mark }) => [member, mark]));
    // A file of rejected rows may lack the row from which a variation inherits its category.
    const isWhole = !isErrorColumn(header.cells[0]);
    this.#storeViews = new StoreViews(isWhole);
    const hasCategories = columns.isShop && (isWhole || columns.parent === undefined);
    for (const field of DEFAULTABLE_FIELDS) {
      const text = defaults.get(field.name)
        ?? (field.name === 'category' && hasCategories ? NO_CATEGORY : undefined);
      if (text !== undefined) this.#defaults.set(field.name, this.#parseDefault(field, text));
    }
    return (record) => this.#parse(checkTypes(record, used), columns);
  }

  #openNumbers(header: readonly string[], { indexes, mappedMembers }: Columns): void {
    const { stock: [amount], price: [price] } = indexes;
    if (!mappedMembers.has('price')) assertCurrency(header[price ?? -1], this.#currency);
    this.#checkUnits = createUnitCheck(header, {
      amount: mappedMembers.has('stock') ? undefined : amount, price,
    });
  }

  /** With the decimal marks that are known already. Their uses are for workbooks with types. */
  #listUsed({ indexes, pairs, decimal, productId = -1 }: Columns): readonly UsedColumns[] {
    // Shops write three decimals only where the currency has them.
    const isWrittenByShop = decimal !== undefined && this.#reader.csv.delimiter === ','
      && this.#currency.decimals === 3;
    const fields = ROW_FIELDS.map(({ name, kind }): UsedColumns => ({
      member: name, indexes: indexes[name],
      use: NUMBERS.has(kind) ? 'number' : name === 'barcode' ? 'identifier' : 'text',
      mark: this.#settings.decimal
        ?? (kind === 'price' && isWrittenByShop ? decimal : undefined),
    }));
    return [
      { member: 'sku', indexes: indexes.sku, use: 'identifier' },
      { member: 'id', indexes: [productId], use: 'identifier' },
      ...fields,
      ...pairs.keys().map((index): UsedColumns =>
        ({ member: 'metadata', indexes: [index], use: 'text' })),
    ];
  }

  /** A default is read like a cell. */
  #parseDefault(field: RowField, text: string): ParsedDefault {
    const parsed = this.#parseCell(field, unescapeFormula(text));
    if ('error' in parsed) return { issues: [{ pointer: `/${field.name}`, ...parsed.error }] };
    try {
      return { patch: parseProductPatch({ [field.name]: parsed.value }, this.#currency) };
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
      return { issues: error.issues };
    }
  }

  #parse(record: CsvRecord, columns: Columns): ImportRow {
    const { line, cells, issue } = record;
    const skuCell = pick(cells, columns, 'sku');
    const digits = parseTextMark(skuCell);
    const sku = (digits ?? unescapeFormula(skuCell)) || this.#makeSku(cells);
    const characters = countCharacters(record);
    const role = columns.storeView === undefined ? 'product'
      : this.#storeViews.findRole(cells[columns.storeView], sku);
    if (issue) return { line, sku: sku || null, characters, content: { issues: [issue] } };
    const inherited = this.#inheritance.apply(cells, columns, {
      sku,
      name: pickText(cells, columns, 'name'),
      category: firstCategory(pickText(cells, columns, 'category'), columns),
    });
    const skipReason = findSkipReason(cells, columns, sku, role === 'translation');
    const content = skipReason ? undefined
      : role === 'unclear' ? { issues: [UNCLEAR_VIEW] }
      : this.#parseContent(cells, columns, sku, inherited);
    const markedSku = digits === undefined ? undefined : skuCell;
    return { line, sku: sku || null, markedSku, characters, content, skipReason };
  }

  #parseContent(
    cells: readonly string[], columns: Columns, sku: string,
    inherited: Partial<Record<Member, string>>,
  ): RowContent {
    const issues: Issue[] = [];
    const members: Record<string, unknown> = { sku };
    const absent: RowField['name'][] = [];
    for (const { member, index } of this.#texts) {
      const fault = validateTextCell(cells[index] ?? '');
      if (fault) issues.push({ pointer: `/${member}`, ...fault });
    }
    for (const field of ROW_FIELDS) {
      const { name, kind, isRequired } = field;
      const cell = inherited[name]
        ?? (NUMBERS.has(kind) ? pick(cells, columns, name) : pickText(cells, columns, name));
      if (!isBlank(cell)) this.#readMember(members, issues, field, cell, columns);
      // Fingerprints of imports without a later, optional field must not change.
      else if (isRequired || this.#defaults.has(name)) absent.push(name);
    }
    addPairs(members, cells, columns);
    if (isBlank(sku)) this.#nameByBarcode(members, columns);
    this.#addRowIssues(issues, cells, columns, sku);
    const leftOut = absent.length > 0 ? this.#fill(absent, columns) : undefined;
    const conditions = readConditions(cells, columns, sku);
    return parseContent(members, issues, this.#currency, leftOut, conditions);
  }

  /** The barcode names an existing product; variants of Shopify are named by their handles. */
  #nameByBarcode(members: Record<string, unknown>, { group }: Columns): void {
    const canName = this.#settings.isPartial && group === undefined;
    if (canName && members['barcode'] !== undefined) delete members['sku'];
  }

  #addRowIssues(issues: Issue[], cells: readonly string[], columns: Columns, sku: string): void {
    const currency = pick(cells, columns, 'currency').trim();
    const mismatch = currency === '' ? undefined : findCurrencyIssue(currency, this.#currency);
    if (mismatch) issues.push(mismatch);
    const mismatched = validateCellCount(cells, columns.count, this.#settings.shortRows);
    if (mismatched) issues.push(mismatched);
    const unitIssue = this.#checkUnits(cells);
    if (unitIssue) issues.push(unitIssue);
    const list = findSkuListIssue(columns.hasSkuLists, sku);
    if (list) issues.push(list);
    if (columns.group !== undefined && isBlank(sku)) issues.push(NO_SKU);
  }

  /** What a shop has in an optional column, such as HTML, need not be a value of ours. */
  #readMember(
    members: Record<string, unknown>, issues: Issue[], field: RowField, cell: string,
    { isShop, mappedMembers }: Columns,
  ): void {
    const { name, isRequired } = field;
    const isOptional = isShop && !isRequired && !mappedMembers.has(name);
    const parsed = this.#parseCell(field, isOptional ? cell.replace(/^'/, '') : cell);
    if (isShop && name === 'stock' && cell === 'parent') issues.push(STOCK_OF_PARENT);
    else if ('value' in parsed) {
      const isLeftOut = isOptional && ((name === 'description' && MARKUP.test(cell))
        || 'error' in field.parse(parsed.value, this.#currency));
      if (!isLeftOut) members[name] = parsed.value;
    } else if (!isOptional) issues.push({ pointer: `/${name}`, ...parsed.error });
  }

  #parseCell({ name, kind }: RowField, text: string): ParseResult<unknown> {
    return kind === 'flag' ? parseFlag(text) : kind === 'pairs' ? parsePairs(text)
      : kind === 'price' ? parseNumber(text, { mark: this.#marks.get(name), isWhole: false })
      : kind === 'quantity' ? parseLevel(text, this.#marks.get(name), DIFFERENCES)
      : { value: text };
  }

  /** The values of new products for members that a row leaves out. */
  #fill(absent: readonly RowField['name'][], { indexes }: Columns): LeftOut {
    const missing: Issue[] = [];
    let defaults: ProductPatch = {};
    for (const member of absent) {
      const value = this.#defaults.get(member);
      if (!value) {
        missing.push(missingMember(member, indexes[member].length > 0 ? 'blank' : 'required'));
      } else if ('issues' in value) missing.push(...value.issues);
      else defaults = { ...defaults, ...value.patch };
    }
    return { defaults, missing };
  }
}

/** Why the row is no product of its own, if its cells say so. */
function findSkipReason(
  cells: readonly string[], columns: Columns, sku: string, isTranslation: boolean,
): SkipReason | undefined {
  const hasNothing = isBlank(sku) && isBlank(pick(cells, columns, 'price'))
    && isBlank(pick(cells, columns, 'stock'));
  if (hasNothing && cells.every(isBlank)) return 'blank';
  if (!columns.isShop) return undefined;
  if (isTranslation) return 'translation';
  if (isContainer(cells, columns)) return 'container';
  return hasNothing ? 'image' : undefined;
}

/** Undefined for nearly all rows of files without ids. */
function readConditions(
  cells: readonly string[], { productId }: Columns, sku: string,
): RowConditions | undefined {
  const id = productId === undefined ? '' : (cells[productId] ?? '').trim();
  const isChanged = isChangedNumber(sku);
  if (id === '' && !isChanged) return undefined;
  return { ...(id !== '' && { id }), ...(isChanged && { createsNone: true }) };
}

/** Spreadsheets write the names of truth values in capitals. */
function parseFlag(text: string): ParseResult<boolean> {
  const value = new Map([['true', true], ['false', false]]).get(text.trim().toLowerCase());
  return value === undefined ? invalid('format', 'Write true or false.') : { value };
}

function parsePairs(text: string): ParseResult<unknown> {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return invalid('format', 'Write a JSON object, such as {"erp_id":"10473"}.');
  }
}

/** Adds the pairs of metadata that have a column each to those of the JSON column. */
function addPairs(
  members: Record<string, unknown>, cells: readonly string[], { pairs }: Columns,
): void {
  if (pairs.size === 0) return;
  const pairCells = [...pairs].map(([index, name]) => [name, unescapeFormula(cells[index] ?? '')]);
  const filled = pairCells.filter(([, text = '']) => !isBlank(text));
  if (filled.length === 0) return;
  const { metadata } = members;
  const jsonPairs = typeof metadata === 'object' ? metadata : {};
  members['metadata'] = { ...jsonPairs, ...Object.fromEntries(filled) as object };
}

/** Rejects a column such as `Price ($)` of a seller with another currency. */
function assertCurrency(name = '', { code }: Currency): void {
  const [sign] = /\p{Sc}/u.exec(name) ?? [];
  const format = { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' } as const;
  if (sign === undefined || new Intl.NumberFormat('en', format).format(0).includes(sign)) return;
  const detail = `"${shortenName(name)}" has prices in ${sign}, and your currency is ${code}`;
  throw new AppError('invalid_data', `${detail}. If they are right, set map=price:${name.trim()}.`);
}

/** Says so if a file that has no products is a stock file. */
function explainStockFile<Result>(header: readonly string[], find: () => Result): Result {
  try {
    return find();
  } catch (error) {
    const isInvalid = error instanceof AppError && error.code === 'invalid_data';
    if (!isInvalid || recognizeContent(header) !== 'stock') throw error;
    const hint = 'It looks like a stock file: send it to POST /api/v1/stock, not as an import.';
    throw new AppError(error.code, `${error.publicDetail} ${hint}`, { issues: error.issues });
  }
}

/** The cell of a member: the first non-blank cell of its columns. */
function pick(cells: readonly string[], columns: Columns, member: Member): string {
  return cells[pickColumn(cells, columns.indexes[member])] ?? '';
}

function pickText(cells: readonly string[], columns: Columns, member: Member): string {
  const cell = pick(cells, columns, member);
  return (member === 'barcode' ? parseTextMark(cell) : undefined) ?? unescapeFormula(cell);
}
