/**
 * The rows of a CSV file. Texts of our own and of unknown files are taken exactly as they are, but
 * for the apostrophe that makes a formula inert; those of a shop's export are trimmed, as shops do.
 * Blank cells count as blank members, never as a value of ours, but for the category of a shop's
 * product, which many leave open.
 */
import type { Currency } from '../domain/currency.ts';
import { AppError, type Issue } from '../domain/error.ts';
import type { Parsed } from '../domain/parsed.ts';
import { type ColumnMap, type Columns, findColumns, type Member } from './columns.ts';
import { CsvReader, type CsvRecord } from './csv-reader.ts';
import { type DecimalMarks, parseDecimal } from './decimal.ts';
import {
  findCurrencyIssue, type ImportRow, parseContent, type RowContent, type RowReader,
} from './import-row.ts';
import { restoreText } from './inert-text.ts';

const NO_CATEGORY = 'Uncategorized';
/** Products of shops that are sold only as one of their variants. */
const CONTAINERS: ReadonlySet<string> = new Set(['variable', 'grouped', 'configurable']);

export class CsvRows implements RowReader {
  readonly #currency: Currency;
  readonly #map: ColumnMap;
  readonly #reader = new CsvReader();
  #columns: Columns | undefined;
  #marks: DecimalMarks = 'point';
  /** What rows after the first of a group inherit. */
  #group = { key: '', name: '', category: '' };

  constructor(currency: Currency, map: ColumnMap) {
    this.#currency = currency;
    this.#map = map;
  }

  get ignoredColumns(): readonly string[] {
    return this.#columns?.ignored ?? [];
  }

  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportRow[], void, void> {
    for await (const records of this.#reader.read(chunks)) {
      const [header] = records;
      if (!header) continue;
      const isFirst = this.#columns === undefined;
      const columns = this.#columns ??= this.#open(header);
      const rows = isFirst ? records.slice(1) : records;
      yield rows.map((record) => this.#parse(record, columns));
    }
    if (!this.#columns) {
      throw new AppError('invalid_data', 'The file is empty. Send a line of column names first.');
    }
  }

  #open(header: CsvRecord): Columns {
    const columns = findColumns(header.cells, this.#map);
    if (columns.hasLocalDecimals) this.#marks = 'either';
    else if (this.#reader.delimiter !== ',') this.#marks = 'unclear';
    return columns;
  }

  #parse({ line, cells, text }: CsvRecord, columns: Columns): ImportRow {
    const sku = pickText(cells, columns, 'sku');
    const content = this.#parseContent(cells, columns, sku);
    return { line, sku: sku === '' ? null : sku, characters: text.length, content };
  }

  #parseContent(cells: readonly string[], columns: Columns, sku: string): RowContent {
    const name = pickText(cells, columns, 'name');
    const category = firstCategory(pickText(cells, columns, 'category'), columns);
    const titles = this.#inherit(cells, columns, { name, category });
    const price = pick(cells, columns, 'price');
    const stock = pick(cells, columns, 'stock');
    const hasNothing = isBlank(sku) && isBlank(price) && isBlank(stock);
    if (hasNothing && (columns.isShop || cells.every(isBlank))) return undefined;
    if (columns.isShop && isNoProduct(cells, columns)) return undefined;
    const issues: Issue[] = [];
    const members: Record<string, unknown> = { ...titles, sku };
    take(members, issues, 'price', parseDecimal(price, this.#marks));
    take(members, issues, 'stock', parseDecimal(stock, this.#marks));
    const currency = pick(cells, columns, 'currency').trim();
    const mismatch = currency === '' ? undefined : findCurrencyIssue(currency, this.#currency);
    if (mismatch) issues.push(mismatch);
    if (cells.length > columns.count && !cells.slice(columns.count).every(isBlank)) {
      const what = `The row has ${cells.length} cells, the header ${columns.count}`;
      const detail = `${what}. Put quotes around a cell that contains the delimiter.`;
      issues.push({ pointer: '', code: 'format', detail });
    }
    return parseContent(members, issues, this.#currency);
  }

  #inherit(
    cells: readonly string[], columns: Columns, own: { name: string; category: string },
  ): { name: string; category: string } {
    if (!columns.isShop) return own;
    let { name, category } = own;
    if (columns.group !== undefined) {
      const key = cells[columns.group] ?? '';
      if (key !== '' && key === this.#group.key) {
        name ||= this.#group.name;
        category ||= this.#group.category;
      }
      this.#group = { key, name, category };
    }
    return { name, category: category || NO_CATEGORY };
  }
}

/** The cell of a member: the first of its columns that is not blank. */
function pick(cells: readonly string[], { places }: Columns, member: Member): string {
  for (const place of places[member]) {
    const cell = cells[place];
    if (cell !== undefined && !isBlank(cell)) return cell;
  }
  return cells[places[member][0] ?? -1] ?? '';
}

function pickText(cells: readonly string[], columns: Columns, member: Member): string {
  const text = restoreText(pick(cells, columns, member));
  return columns.isShop ? text.trim() : text;
}

/** The first category of a list, whose own commas have backslashes before them. */
function firstCategory(categories: string, { hasCategoryLists }: Columns): string {
  if (!hasCategoryLists) return categories;
  const [category = ''] = /^(?:\\,|[^,])*/.exec(categories) ?? [];
  return category.replaceAll('\\,', ',').trim();
}

function isNoProduct(cells: readonly string[], { kind, storeView }: Columns): boolean {
  const isTranslation = storeView !== undefined && !isBlank(cells[storeView] ?? '');
  const [type = ''] = kind === undefined ? [] : (cells[kind] ?? '').toLowerCase().split(',');
  return isTranslation || CONTAINERS.has(type.trim());
}

function take(
  members: Record<string, unknown>, issues: Issue[], member: Member, parsed: Parsed<number>,
): void {
  if ('value' in parsed) members[member] = parsed.value;
  else issues.push({ pointer: `/${member}`, ...parsed.fault });
}

function isBlank(cell: string): boolean {
  return cell === '' || cell.trim() === '';
}
