/**
 * Finds the rows of a file that have the SKU of an earlier row. If their price and stock agree, or
 * as chosen, they override it: they are counted, and the first of them are kept. Otherwise they are
 * rejected, or their stock is added to that of the earlier rows.
 */
import { rejectMarkedSkus } from '../../api/marked-skus.ts';
import { explainFaulty } from '../../api/stock/duplicate-levels.ts';
import { findSku, type ProductRow } from '../../domain/catalogue/product.ts';
import { AppError, type Issue } from '../../domain/error.ts';
import { parseProductId, type SellerId } from '../../domain/id.ts';
import { STOCK_LIMIT } from '../../domain/limits.ts';
import { copyText } from '../../domain/text.ts';
import type { CatalogueStore } from '../../store/catalogue-store.ts';
import { SkuLines } from '../../store/temporary/sku-lines.ts';
import { findLocation } from '../../transfer/column-names.ts';
import { isErrorColumn, SEND_WHOLE_FILE } from '../../transfer/header.ts';
import type { ImportRow, RowReader } from '../../transfer/import-row.ts';
import { IMPORT_DUPLICATES_LISTED_LIMIT } from '../../transfer/limits.ts';
import { NO_SUM } from '../../transfer/stock-rows.ts';
import type { RowOutcome } from './import-target.ts';

/** Whether a row whose price or stock differ is rejected, added up, or used. */
export const DUPLICATE_ROWS = ['reject', 'sum', 'last'] as const;
export type DuplicateRowChoice = (typeof DUPLICATE_ROWS)[number];

interface DuplicateRow {
  readonly line: number;
  readonly sku: string;
  /** The line of the file's previous row with this SKU. */
  readonly overrides: number;
}

type Products = Pick<CatalogueStore, 'findProduct' | 'findProducts'>;

/** Two prices with the same remainder differ by more than 40 million. */
const PRICE_MODULUS = 4_294_967_291;
const ENTRIES_LIMIT = 4_194_304;
const CHUNK_ENTRIES = 65_536;

export class DuplicateRows {
  readonly #store: Products;
  readonly #sellerId: SellerId;
  readonly #choice: DuplicateRowChoice;
  readonly #first: DuplicateRow[] = [];
  #count = 0;
  /** Whether rows may have the stock at different locations. */
  #hasLocations = false;
  /** The first rejected line that may have any SKU, for a sum. */
  #unknownLine: number | undefined;

  constructor(store: Products, sellerId: SellerId, choice: DuplicateRowChoice) {
    this.#store = store;
    this.#sellerId = sellerId;
    this.#choice = choice;
  }

  get count(): number {
    return this.#count;
  }

  get first(): readonly DuplicateRow[] {
    return this.#first;
  }

  /**
   * Yields rows with their `previousLine`, and rejects those whose SKU may be one of two. While one
   * batch is written, the next one is read.
   * @throws AppError `invalid_data` for the sum of a file of rejected rows
   */
  async *find(
    reader: Pick<RowReader, 'read' | 'ignoredColumns'>, chunks: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<readonly ImportRow[], void, void> {
    using entries = new Entries();
    using rejected = new SkuLines();
    const isSum = this.#choice === 'sum';
    const checked = rejectMarkedSkus(
      reader.read(chunks), this.#store, this.#sellerId, rejectRow,
    );
    for await (const rows of checked) {
      this.#hasLocations ||= findLocation(reader.ignoredColumns) !== undefined;
      if (!isSum) {
        yield rows.map((row) => this.#check(row, entries));
        continue;
      }
      if (isErrorColumn(reader.ignoredColumns[0])) throw new AppError('invalid_data', NO_SUM);
      const owners = await this.#findOwners(rows);
      yield rows.map((row) => {
        const faulty = this.#checkFault(row, rejected, owners);
        return faulty ?? this.#check(row, entries, rejected);
      });
    }
  }

  #check(row: ImportRow, entries: Entries, rejected?: SkuLines): ImportRow {
    const { content } = row;
    if (!content?.product) return row;
    const { product } = content;
    const { sku, stock = -1, priceMinor = -1 } = product;
    const level = stock + 1;
    const price = priceMinor < 0 ? 0 : priceMinor % PRICE_MODULUS + 1;
    const earlier = entries.add(sku, row.line, level, price);
    if (!earlier) return row;
    const { line: previousLine } = earlier;
    const isSum = this.#choice === 'sum';
    const total = isSum && level > 0 && earlier.level > 0 ? earlier.level + level - 1
      : level || earlier.level;
    const issue = this.#choice === 'last' ? undefined
      : this.#findIssue(earlier, { level, price, total });
    if (issue) {
      rejected?.note(sku, row.line);
      return rejectRow(row, issue);
    }
    earlier.replace(row.line, total, price || earlier.price);
    if (!isSum || level === 0) return { ...row, previousLine };
    const summed = { ...product, stock: total - 1 };
    return { ...row, previousLine, content: { ...content, product: summed } };
  }

  #findIssue(
    earlier: Entry, { level, price, total }: Readonly<Record<'level' | 'price' | 'total', number>>,
  ): Issue | undefined {
    const { line, isUnknown } = earlier;
    if (isUnknown) return notCompared(line);
    if (price > 0 && earlier.price > 0 && price !== earlier.price) return otherPrice(line);
    if (this.#choice === 'sum') return total - 1 > STOCK_LIMIT ? tooLarge(line) : undefined;
    const isOther = this.#hasLocations || level !== earlier.level;
    return level > 0 && earlier.level > 0 && isOther ? otherStock(line) : undefined;
  }

  /** The row if it is rejected, or must be, since a sum would lack a row that was rejected. */
  #checkFault(
    row: ImportRow, rejected: SkuLines, owners: Owners,
  ): ImportRow | undefined {
    const { line, content } = row;
    if (!content) return row;
    const { product } = content;
    const owner = product && this.#findOwner(product, owners);
    if (!product || owner !== undefined) {
      const skus = [row.sku, row.markedSku].flatMap((sku) => findSku(sku ?? '') ?? []);
      if (skus.length === 0) this.#unknownLine ??= line;
      for (const sku of [...skus, owner ?? []].flat()) rejected.note(sku, line);
      return row;
    }
    const faultyLine = rejected.find(product.sku) ?? this.#unknownLine;
    return faultyLine === undefined ? undefined : rejectRow(row, explainFaulty(faultyLine));
  }

  async #findOwners(rows: readonly ImportRow[]): Promise<Owners> {
    const ids = rows.flatMap(({ content }) =>
      parseProductId(this.#sellerId, content?.product?.id ?? '') ?? []);
    return ids.length > 0 ? await this.#store.findProducts(this.#sellerId, ids) : new Map();
  }

  /** The SKU of another product that has the id of this row. */
  #findOwner({ sku, id = '' }: ProductRow, owners: Owners): string | undefined {
    const productId = parseProductId(this.#sellerId, id);
    const owner = productId && owners.get(productId)?.sku;
    return owner === sku ? undefined : owner;
  }

  /** Counts a row if it was imported, and returns the line that it overrides. */
  add({ line, sku, status, previousLine }: RowOutcome): number | undefined {
    if (previousLine === undefined || status === 'failed') return undefined;
    this.#count += 1;
    if (this.#first.length < IMPORT_DUPLICATES_LISTED_LIMIT) {
      this.#first.push({ line, sku: copyText(sku ?? ''), overrides: previousLine });
    }
    return previousLine;
  }
}

/** What the rows so far say of a SKU. */
interface Entry {
  readonly line: number;
  /** The stock plus 1; 0 is none. */
  readonly level: number;
  /** From 1; 0 is none. */
  readonly price: number;
  /** Whether only the line is known. */
  readonly isUnknown: boolean;
  replace(line: number, level: number, price: number): void;
}

/** The entries of SKUs in the order of the file: 12 bytes each, for the first 4,194,304. */
class Entries implements Disposable {
  /** For each SKU, the number of its entry from 1, or its line above that. */
  readonly #numbers = new SkuLines();
  readonly #chunks: Uint32Array[] = [];
  #count = 0;

  /** Adds the entry of a new SKU, or returns that of another one. */
  add(sku: string, line: number, level: number, price: number): Entry | undefined {
    const isFull = this.#count === ENTRIES_LIMIT;
    const number = isFull ? ENTRIES_LIMIT + line : this.#count + 1;
    const earlier = this.#numbers.note(sku, number);
    if (earlier === undefined) {
      if (!isFull) this.#set(this.#count++, line, level, price);
      return undefined;
    }
    if (earlier > ENTRIES_LIMIT) {
      const replace = (last: number): void => void this.#numbers.note(sku, ENTRIES_LIMIT + last);
      return { line: earlier - ENTRIES_LIMIT, level: 0, price: 0, isUnknown: true, replace };
    }
    this.#numbers.note(sku, earlier);
    const index = earlier - 1;
    const at = 3 * (index % CHUNK_ENTRIES);
    const [first = 0, second = 0, third = 0] =
      this.#chunks[Math.floor(index / CHUNK_ENTRIES)]?.subarray(at) ?? [];
    return {
      line: first, level: second, price: third, isUnknown: false,
      replace: (...values) => this.#set(index, ...values),
    };
  }

  #set(index: number, line: number, level: number, price: number): void {
    const chunk = this.#chunks[Math.floor(index / CHUNK_ENTRIES)] ??=
      new Uint32Array(3 * CHUNK_ENTRIES);
    const at = 3 * (index % CHUNK_ENTRIES);
    chunk[at] = line;
    chunk[at + 1] = level;
    chunk[at + 2] = price;
  }

  [Symbol.dispose](): void {
    this.#numbers[Symbol.dispose]();
  }
}

type Owners = Awaited<ReturnType<Products['findProducts']>>;

function rejectRow(row: ImportRow, issue: Issue): ImportRow {
  return { ...row, content: { issues: [issue] } };
}

const LAST = `duplicates=last to use the last row, and ${SEND_WHOLE_FILE}.`;

function otherStock(line: number): Issue {
  const fault = `Line ${line} has a stock of this product, too.`;
  const detail = `${fault} Set duplicates=sum to add up the rows of a product, or ${LAST}`;
  return { pointer: '/stock', code: 'duplicate', detail };
}

function otherPrice(line: number): Issue {
  const fault = `Line ${line} has another price for this product.`;
  return {
    pointer: '/price', code: 'duplicate', detail: `${fault} Correct the file, or set ${LAST}`,
  };
}

function notCompared(line: number): Issue {
  const fault = `Line ${line} has this SKU, too, and the file is too long to compare them.`;
  const detail = `${fault} Remove one of them, or set ${LAST}`;
  return { pointer: '/sku', code: 'duplicate', detail };
}

function tooLarge(line: number): Issue {
  const detail = `With line ${line}, the sum is above ${STOCK_LIMIT}. Correct the file, or set `
    + LAST;
  return { pointer: '/stock', code: 'duplicate', detail };
}
