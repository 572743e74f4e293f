/**
 * Finds the rows of a file that have the SKU of an earlier row. If their price and stock agree, or
 * as chosen, they override it: they are counted, and the first of them are kept. Otherwise they are
 * rejected, or their stock is added to that of the earlier rows.
 */
import { rejectMarkedSkus } from '../../api/marked-skus.ts';
import { explainFaulty, type FindNamed, readNamed } from '../../api/stock/duplicate-levels.ts';
import { toGtin } from '../../domain/catalogue/barcode.ts';
import { findSku, type ProductRow } from '../../domain/catalogue/product.ts';
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import type { ProductReference } from '../../domain/catalogue/stock-change.ts';
import { AppError, type Issue } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import { STOCK_LIMIT } from '../../domain/limits.ts';
import { copyText } from '../../domain/text.ts';
import type { CatalogueStore, ImportMode } from '../../store/catalogue-store.ts';
import { type SkuEntry, SkuLines } from '../../store/temporary/sku-lines.ts';
import { findLocation } from '../../transfer/column-names.ts';
import { isErrorColumn } from '../../transfer/header.ts';
import { type ImportRow, type RowReader, SEND_WHOLE_FILE } from '../../transfer/import-row.ts';
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

type Products = Pick<CatalogueStore, 'findProduct' | 'findProducts' | 'listBarcodeOwners'>;

export class DuplicateRows {
  readonly #store: Products;
  readonly #sellerId: SellerId;
  readonly #choice: DuplicateRowChoice;
  /** How many rows override another one, and the first of them. */
  count = 0;
  readonly first: DuplicateRow[] = [];
  /** Whether rows may have the stock at different locations. */
  #hasLocations = false;
  /** The first rejected line that may have any SKU, for a sum. */
  #unknownLine: number | undefined;

  /** With the mode `create`, the store itself rejects later rows. */
  constructor(
    store: Products, sellerId: SellerId, choice: DuplicateRowChoice, mode: ImportMode,
  ) {
    this.#store = store;
    this.#sellerId = sellerId;
    this.#choice = mode === 'create' ? 'last' : choice;
  }

  /**
   * Yields rows with their `previousLine`, and rejects those whose SKU may be one of two. While one
   * batch is written, the next one is read.
   * @throws AppError `invalid_data` for the sum of a file of rejected rows
   */
  async *find(
    reader: Pick<RowReader, 'read' | 'ignoredColumns'>, chunks: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<readonly ImportRow[], void, void> {
    using entries = new SkuLines({ hasValues: true });
    using rejected = new SkuLines();
    using owners = new SkuLines();
    const isSum = this.#choice === 'sum';
    const checked = rejectMarkedSkus(
      reader.read(chunks), this.#store, this.#sellerId, rejectRow,
    );
    for await (const rows of checked) {
      this.#hasLocations ||= findLocation(reader.ignoredColumns) !== undefined;
      if (isSum && isErrorColumn(reader.ignoredColumns[0])) {
        throw new AppError('invalid_data', NO_SUM);
      }
      const references = rows.flatMap(({ content }) => content?.product ?? [])
        .map((product) => (isSum ? idOf(product) : barcodeOf(product)));
      const findNamed = await readNamed(this.#store, this.#sellerId, references);
      yield rows.map((row) => {
        if (!isSum) {
          const unclear = checkBarcode(row, owners, findNamed);
          return unclear ?? this.#check(row, entries, (product) => findOwn(product, findNamed));
        }
        const named = requireSku(row);
        const faulty = this.#checkFault(named, rejected, (product) => findNamed(idOf(product))[0]);
        return faulty ?? this.#check(named, entries, ({ sku }) => sku, rejected);
      });
    }
  }

  #check(
    row: ImportRow, entries: SkuLines, skuOf: (product: ProductRow) => Sku | undefined,
    rejected?: SkuLines,
  ): ImportRow {
    const { line, content } = row;
    const sku = content?.product && skuOf(content.product);
    if (!content?.product || sku === undefined) return row;
    const { product } = content;
    const { stock = -1, priceMinor = -1 } = product;
    // From 1, since 0 is none.
    const level = stock + 1;
    const price = priceMinor + 1;
    const earlier = entries.note(sku, line, level, price);
    if (!earlier) return row;
    const issue = this.#choice === 'last' ? undefined : this.#findIssue(earlier, level, price);
    if (issue) {
      entries.note(sku, earlier.line, earlier.level, earlier.price);
      rejected?.note(sku, line);
      return rejectRow(row, issue);
    }
    const isAdded = this.#choice === 'sum' && level > 0 && earlier.level > 0;
    const total = isAdded ? earlier.level + level - 1 : level || earlier.level;
    entries.note(sku, line, total, price || earlier.price);
    const previousLine = earlier.line;
    if (!isAdded) return { ...row, previousLine };
    const summed = { ...product, stock: total - 1 };
    return { ...row, previousLine, content: { ...content, product: summed } };
  }

  #findIssue(earlier: SkuEntry, level: number, price: number): Issue | undefined {
    const { line } = earlier;
    if (price > 0 && earlier.price > 0 && price !== earlier.price) return otherPrice(line);
    if (level === 0 || earlier.level === 0) return undefined;
    if (this.#choice === 'sum') {
      return earlier.level + level - 2 > STOCK_LIMIT ? tooLarge(line) : undefined;
    }
    return this.#hasLocations || level !== earlier.level ? otherStock(line) : undefined;
  }

  /** The row if it is rejected, or must be, since a sum would lack a row that was rejected. */
  #checkFault(
    row: ImportRow, rejected: SkuLines, findOwner: (product: ProductRow) => Sku | undefined,
  ): ImportRow | undefined {
    const { line, content } = row;
    if (!content) return row;
    const { product } = content;
    const owner = product && findOwner(product);
    if (product?.sku === undefined || (owner !== undefined && owner !== product.sku)) {
      const skus = [row.sku, row.markedSku].flatMap((sku) => findSku(sku ?? '') ?? []);
      if (skus.length === 0) this.#unknownLine ??= line;
      for (const sku of [...skus, owner ?? []].flat()) rejected.note(sku, line);
      return row;
    }
    const faulty = explainFaulty(rejected.find(product.sku), this.#unknownLine);
    return faulty && rejectRow(row, faulty);
  }

  /** Counts a row if it was imported, and returns the line that it overrides. */
  add({ line, sku, status, previousLine }: RowOutcome): number | undefined {
    if (previousLine === undefined || status === 'failed') return undefined;
    this.count += 1;
    if (this.first.length < IMPORT_DUPLICATES_LISTED_LIMIT) {
      this.first.push({ line, sku: copyText(sku ?? ''), overrides: previousLine });
    }
    return previousLine;
  }
}

/**
 * Rejects a row that names its product by a barcode, if an earlier row may have changed which
 * product has it: the catalogue shows only what earlier batches have written, and a dry run
 * nothing.
 * @param owners The lines of the barcodes of rows with a SKU, and of these SKUs
 */
function checkBarcode(
  row: ImportRow, owners: SkuLines, findNamed: FindNamed,
): ImportRow | undefined {
  const { line, content } = row;
  if (!content?.product) return undefined;
  const { sku, barcode } = content.product;
  if (barcode === undefined) return undefined;
  const ofBarcode = barcode === null ? [] : [`barcode ${toGtin(barcode)}`];
  if (sku !== undefined) {
    for (const key of [...ofBarcode, `sku ${sku}`]) owners.note(key, line);
    return undefined;
  }
  const named = findNamed(barcodeOf(content.product)).map((owner) => `sku ${owner}`);
  const lines = [...ofBarcode, ...named].map((key) => owners.find(key));
  const earlier = lines.find((one) => one !== undefined);
  return earlier === undefined ? undefined : rejectRow(row, unclearBarcode(earlier));
}

/** The SKU of a row's product, if there is exactly one. */
function findOwn(product: ProductRow, findNamed: FindNamed): Sku | undefined {
  const named = product.sku === undefined ? findNamed(barcodeOf(product)) : [product.sku];
  return named.length === 1 ? named[0] : undefined;
}

function idOf({ id }: ProductRow): ProductReference {
  return id === undefined ? {} : { id };
}

/** For a row without a SKU. */
function barcodeOf({ sku, barcode }: ProductRow): ProductReference {
  return sku !== undefined || !barcode ? {} : { barcode };
}

/** Rejects a row without a SKU: an earlier row may give its barcode to another product. */
function requireSku(row: ImportRow): ImportRow {
  if (!row.content?.product || row.content.product.sku !== undefined) return row;
  const detail = 'Rows are added up by SKU, so each of them needs a SKU.';
  return rejectRow(row, { pointer: '/sku', code: 'required', detail });
}

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

function unclearBarcode(line: number): Issue {
  const detail = `Line ${line} may change which product has this barcode. Give the SKU of the `
    + `product, or leave this line out and import it afterwards, and ${SEND_WHOLE_FILE}.`;
  return { pointer: '/barcode', code: 'mismatch', detail };
}

function tooLarge(line: number): Issue {
  const detail = `With line ${line}, the sum is above ${STOCK_LIMIT}. Correct the file, or set `
    + LAST;
  return { pointer: '/stock', code: 'duplicate', detail };
}
