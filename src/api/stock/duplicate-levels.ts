/**
 * Finds the rows of a stock stream that give a level of a product to which an earlier row has given
 * one, as exports with a row for each warehouse do. Applying all of them would leave the last. A
 * row with `adjust`, `expect` or `sequence` is what it says, however many there are. Rows whose SKU
 * may be one of two are rejected before.
 */
import type { Issue } from '../../domain/error.ts';
import { parseProductId, type SellerId } from '../../domain/id.ts';
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import type { ProductReference, SentChange } from '../../domain/catalogue/stock-change.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../../domain/limits.ts';
import { copyText } from '../../domain/text.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { CatalogueStore } from '../../store/catalogue-store.ts';
import { findOwners, groupOwners, listGtins } from '../../store/rules/barcode-owners.ts';
import { SkuLines } from '../../store/temporary/sku-lines.ts';
import { SEND_WHOLE_FILE } from '../../transfer/import-row.ts';
import { IMPORT_DUPLICATES_LISTED_LIMIT } from '../../transfer/limits.ts';
import type { StockRow } from '../../transfer/stock-rows.ts';
import { rejectMarkedSkus } from '../marked-skus.ts';

/**
 * Whether such a row is rejected, added to the earlier ones, or replaces them. The file is read
 * twice for `reject_all`, which also rejects the earlier ones, and for `sum_all`, which rejects all
 * rows of a product if one of them is rejected.
 */
export const DUPLICATE_LEVELS = ['reject', 'reject_all', 'sum', 'sum_all', 'last'] as const;
export type DuplicateChoice = (typeof DUPLICATE_LEVELS)[number];

interface DuplicateLevel {
  readonly line: number;
  readonly sku: string;
  /** The line of the file's previous row for this product; of the first row, the last one. */
  readonly previous_line: number;
}

type Products = Pick<CatalogueStore, 'findProduct' | 'findProducts' | 'listBarcodeOwners'>;
/** The SKUs of the products that an id or a barcode may mean. */
export type FindNamed = (reference: ProductReference) => readonly Sku[];

const NO_REFERENCE: ProductReference = {};

/** Lines by SKU. */
interface Lines {
  /** Rows with a level; to reject all rows of a product, rejected ones, too. */
  readonly levels: SkuLines;
  /** Rejected rows, for a sum. */
  readonly rejected: SkuLines;
  /** Rows of a product that has an earlier one, if all of them are rejected. */
  readonly repeated: SkuLines;
}

export class DuplicateLevels {
  readonly #store: Products;
  readonly #sellerId: SellerId;
  readonly #choice: Exclude<DuplicateChoice, 'sum_all'>;
  /** Whether a rejected row concerns the other rows of its product. */
  readonly #needsAll: boolean;
  readonly #first: DuplicateLevel[] = [];
  #count = 0;
  /** The first rejected line that may be of any product, for a sum. */
  #unknownLine: number | undefined;

  constructor(store: Products, sellerId: SellerId, choice: DuplicateChoice) {
    this.#store = store;
    this.#sellerId = sellerId;
    this.#choice = choice === 'sum_all' ? 'sum' : choice;
    this.#needsAll = this.#choice === 'sum' || choice === 'reject_all';
  }

  /** How many rows were found, and the first of them; undefined if none was. */
  get summary(): { readonly count: number; readonly first: readonly DuplicateLevel[] } | undefined {
    return this.#count > 0 ? { count: this.#count, first: this.#first } : undefined;
  }

  /** Yields the rows as chosen. @param wholeFile the same rows, read first, if it is read twice */
  async *find(
    slices: AsyncIterable<readonly StockRow[]>, wholeFile?: AsyncIterable<readonly StockRow[]>,
  ): AsyncGenerator<readonly StockRow[], void, void> {
    using repeated = new SkuLines();
    using rejected = new SkuLines();
    if (wholeFile) {
      // A large chunk must not block other requests.
      for await (const _ of this.#decide(wholeFile, repeated, rejected)) await yieldToEventLoop();
      this.#count = 0;
      this.#first.length = 0;
    }
    yield* this.#decide(slices, repeated, rejected);
  }

  async *#decide(
    slices: AsyncIterable<readonly StockRow[]>, repeated: SkuLines, rejected: SkuLines,
  ): AsyncGenerator<readonly StockRow[], void, void> {
    using levels = new SkuLines();
    const checked = rejectMarkedSkus(slices, this.#store, this.#sellerId, (row, issue): StockRow =>
      ({ ...row, entry: { issues: [issue] } })); // it may mean either product
    for await (const rows of checked) {
      const references = rows.map(({ entry }) => this.#withoutSku(referenceOf(entry)));
      const findNamed = await readNamed(this.#store, this.#sellerId, references);
      yield rows.map((row) => this.#decideRow(row, { levels, rejected, repeated }, findNamed));
    }
  }

  #decideRow(row: StockRow, lines: Lines, findNamed: FindNamed): StockRow {
    const { line, entry } = row;
    const reference = referenceOf(entry);
    const named = findNamed(this.#withoutSku(reference));
    const [owner] = named;
    const { sku = owner } = reference;
    if ('issues' in entry || named.length > 1 || (owner !== undefined && owner !== sku)) {
      const skus = named.length > BARCODE_PRODUCTS_NAMED_LIMIT ? [] : [sku ?? [], ...named].flat();
      if (this.#needsAll) this.#noteRejected(lines, line, new Set(skus));
      return lines.repeated.find(sku ?? '') === undefined ? row : addOtherRows(row);
    }
    if (sku === undefined || !isLevel(entry)) return row;
    return this.#decideLevel(this.#choice === 'sum' ? nameBySku(row, sku) : row, sku, lines);
  }

  /** Notes a row whose level these products lack, or any product if there are none. */
  #noteRejected({ levels, rejected, repeated }: Lines, line: number, skus: Set<string>): void {
    if (skus.size === 0) this.#unknownLine ??= line;
    const noted = this.#choice === 'sum' ? rejected : levels;
    for (const sku of skus) {
      if ((noted.note(sku, line)?.line ?? line) !== line) repeated.note(sku, line);
    }
  }

  #decideLevel(row: StockRow, sku: Sku, { levels, rejected, repeated }: Lines): StockRow {
    const { line, entry } = row;
    const faulty = this.#choice === 'sum' && explainFaulty(rejected.find(sku), this.#unknownLine);
    if (faulty) return reject(row, faulty, sku);
    const isAll = this.#choice === 'reject_all';
    const previousLine = levels.note(sku, line)?.line ?? (isAll ? repeated.find(sku) : undefined);
    if (previousLine === undefined || !('change' in entry)) return row;
    if (isAll) repeated.note(sku, line);
    this.#count += 1;
    if (this.#first.length < IMPORT_DUPLICATES_LISTED_LIMIT) {
      this.#first.push({ line, sku: copyText(sku), previous_line: previousLine });
    }
    const { set = 0, ...others } = entry.change;
    return this.#choice === 'last' ? row
      : this.#choice === 'sum' ? { ...row, entry: { ...entry, change: { ...others, adjust: set } } }
      : reject(row, explainDuplicate(previousLine), sku);
  }

  /** What names a product other than the SKU: with a SKU, only sums of all rows need it. */
  #withoutSku(reference: ProductReference): ProductReference {
    const { sku, ...others } = reference;
    return sku === undefined ? reference : this.#needsAll ? others : NO_REFERENCE;
  }
}

/** Reads the products of ids and barcodes, and returns how to find those of one reference. */
export async function readNamed(
  store: Products, sellerId: SellerId, references: readonly ProductReference[],
): Promise<FindNamed> {
  const ids = references.flatMap(({ id }) => parseProductId(sellerId, id) ?? []);
  const gtins = listGtins(references);
  const products = ids.length > 0 ? await store.findProducts(sellerId, ids) : undefined;
  const owners = groupOwners(gtins.length === 0 ? []
    : await store.listBarcodeOwners(sellerId, gtins));
  if (!products && owners.size === 0) return () => [];
  return (reference) => {
    const id = parseProductId(sellerId, reference.id);
    const product = id && products?.get(id);
    return [product ?? [], ...findOwners(reference, owners)].flat().map(({ sku }) => sku);
  };
}

/** The level is added to those of this product, even if its barcode becomes that of another one. */
function nameBySku(row: StockRow, sku: Sku): StockRow {
  if (!('change' in row.entry) || row.entry.change.barcode === undefined) return row;
  const { barcode, ...change } = row.entry.change;
  return { ...row, entry: { change: { ...change, sku }, reference: { barcode } } };
}

function referenceOf(entry: SentChange): ProductReference {
  return 'change' in entry ? entry.change : entry.reference ?? {};
}

function isLevel(entry: SentChange): boolean {
  return 'change' in entry && entry.change.set !== undefined
    && (entry.change.expect ?? entry.change.sequence) === undefined;
}

/** Whether a row was rejected because of another one. */
export function isDuplicate({ entry }: StockRow): boolean {
  return 'issues' in entry && entry.issues.some(({ code }) => code === 'duplicate');
}

function reject({ entry, ...row }: StockRow, issue: Issue, sku: Sku): StockRow {
  const reference = { ...entry.reference ?? referenceOf(entry), sku };
  return { ...row, entry: { issues: [issue], reference } };
}

/** For a rejected row of a product whose other rows are rejected with it. */
function addOtherRows(row: StockRow): StockRow {
  const { entry } = row;
  if ('change' in entry) return row;
  return { ...row, entry: { ...entry, issues: [...entry.issues, OTHER_ROWS] } };
}

const OTHER_ROWS: Issue = {
  pointer: '', code: 'mismatch',
  detail: `Other rows have a stock of this product, too. Correct the file, and ${SEND_WHOLE_FILE}.`,
};

function explainDuplicate(previousLine: number): Issue {
  const remedy = 'Set duplicates=sum to add up the rows of a product, or duplicates=last to use '
    + `the last one, and ${SEND_WHOLE_FILE}.`;
  const detail = `Line ${previousLine} has a stock of this product, too. ${remedy}`;
  return { pointer: '', code: 'duplicate', detail };
}

/**
 * Why the sum of a product is unknown, if it is.
 * @param line a rejected line of the product
 * @param unknownLine a rejected line that may be of any product
 */
export function explainFaulty(
  line: number | undefined, unknownLine: number | undefined,
): Issue | undefined {
  if ((line ?? unknownLine) === undefined) return undefined;
  const fault = line === undefined ? `Line ${unknownLine} may be of any product`
    : `Line ${line} was rejected and may be of this product`;
  const detail = `${fault}, so the sum is unknown. Correct it and ${SEND_WHOLE_FILE}.`;
  return { pointer: '', code: 'mismatch', detail };
}
