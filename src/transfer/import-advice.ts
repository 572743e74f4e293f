/**
 * Advice for the rejected rows of an import if most of them have one cause: one remedy, in the
 * words of the interface that shows it. Never suggests a name or a price, which cannot be guessed.
 */
import type { Issue } from '../domain/error.ts';
import { formatCount, joinNames } from '../domain/wording.ts';
import { DEFAULTABLE, type RowReader, SAFE_DEFAULTS } from './import-row.ts';

/** The sentences with which an interface says what to do. */
export interface AdviceWords {
  /** Give new products these values, such as `stock:0`. */
  giveDefaults(values: readonly string[]): string;
  /** Say which columns have these members. */
  nameColumns(members: readonly string[]): string;
  /** Change the existing products, in the mode that does. */
  readonly change: string;
  /** Create the new products, in the mode that does. */
  readonly create: string;
  /** Change the SKU of a product. */
  readonly rename: string;
}

/** What is known about the file. */
type AdvisedFile = Pick<RowReader, 'format' | 'ignoredColumns'>;

/** Limits on counted causes; a file with more causes has no common one. */
const CAUSES_LIMIT = 50;
const CAUSE_LIMIT_CHARACTERS = 200;

/** An error of a rejected row; a client can also read it from a report. */
export type RowError = Pick<Issue, 'pointer' | 'detail'> & { readonly code: string };

/** What most of the rejected rows have in common. */
export interface CommonCause {
  readonly errors: readonly RowError[];
  /** Rejected rows with these errors. */
  readonly rows: number;
}

/** Counts the causes of rejected rows. */
export class RejectionCauses {
  readonly #causes = new Map<string, { readonly errors: readonly RowError[]; rows: number }>();
  #rows = 0;

  add(errors: readonly RowError[]): void {
    this.#rows += 1;
    const key = errors.map(({ pointer, code }) => `${pointer} ${code}`).join();
    const cause = this.#causes.get(key);
    const isKept = this.#causes.size < CAUSES_LIMIT && key.length <= CAUSE_LIMIT_CHARACTERS;
    if (cause) cause.rows += 1;
    else if (isKept) this.#causes.set(key, { errors, rows: 1 });
  }

  /** Undefined if no cause has more than half of the rejected rows. */
  findCommon(): CommonCause | undefined {
    return [...this.#causes.values()].find(({ rows }) => rows * 2 > this.#rows);
  }

  /** The most common cause and its remedy; undefined if there is nothing to add. */
  advise(words: AdviceWords, file: AdvisedFile): string | undefined {
    const common = this.findCommon();
    return common && adviseOn(common, words, file);
  }
}

/** A cause and its remedy; undefined if there is nothing to add. */
export function adviseOn(
  { errors, rows }: CommonCause, words: AdviceWords, file: AdvisedFile,
): string | undefined {
  const lacking = DEFAULTABLE.filter((member) => errors.some(({ pointer, code }) =>
    pointer === `/${member}` && (code === 'blank' || code === 'required')));
  if (lacking.length === errors.length) {
    const newProducts = count(rows, 'is a new product', 'are new products');
    return `${newProducts} without a value for ${joinNames(lacking)}. `
      + adviseLack(lacking, errors, words, file);
  }
  if (errors.some(({ code }) => code === 'taken')) {
    return `${count(rows, 'has', 'have')} the SKU of a product that exists. ${words.change}`;
  }
  if (errors.some(({ pointer, code }) => pointer === '/sku' && code === 'unknown')) {
    return `${count(rows, 'has', 'have')} a SKU that no product has. ${words.create}`;
  }
  if (errors.some(({ pointer, code }) => pointer === '/id' && code === 'mismatch')) {
    return `${count(rows, 'has', 'have')} the id of another product: a spreadsheet may have changed`
      + ` SKUs, such as 0123 to 123. ${words.rename}`;
  }
  const [{ pointer, code, detail = '' } = {}] = errors;
  const isBlankSku = pointer === '/sku' && code === 'blank' && detail.endsWith('blank.');
  const isUnused = file.format === 'csv' && file.ignoredColumns.length > 0;
  if (isUnused && errors.length === 1 && isBlankSku) { // of Shopify, the error has a remedy
    return `${count(rows, 'has', 'have')} no SKU. ${words.nameColumns(['sku'])}`;
  }
  if (errors.every((error) =>
    error.pointer === '/barcode' && /^(?:format|length)$/.test(error.code))) { // digits differ
    return `${count(rows, 'has', 'have')} a barcode that is no GTIN. Correct these barcodes, or `
      + 'remove them from the file to import the products without.';
  }
  if (errors.some(({ code }) => code === 'duplicate')) return undefined; // lines differ
  if (rows === 1) return undefined; // its own error says the same
  const details = errors.map((error) =>
    error.pointer ? `${error.pointer.slice(1)}: ${error.detail}` : error.detail);
  return `${count(rows, 'has', 'have')} the same error: ${details.join(' ')}`;
}

/** The remedy for new products without these members. */
function adviseLack(
  lacking: typeof DEFAULTABLE, errors: readonly RowError[], words: AdviceWords,
  { format, ignoredColumns }: AdvisedFile,
): string {
  const isCsv = format === 'csv';
  const absent = lacking.filter((member) =>
    errors.some(({ pointer, code }) => pointer === `/${member}` && code === 'required'));
  const name = isCsv && absent.length > 0 && ignoredColumns.length > 0
    ? words.nameColumns(absent) : undefined;
  if (isCsv && lacking.every((member) => SAFE_DEFAULTS.has(member))) {
    const give = words.giveDefaults(lacking.flatMap((member) => SAFE_DEFAULTS.get(member) ?? []));
    return name === undefined ? give : `${name} If the file has none: ${give}`;
  }
  if (name !== undefined) return name;
  const remedy = isCsv && absent.length === 0 ? 'fill in the blank cells'
    : `add ${joinNames(lacking)}`;
  return `If the SKUs are right, ${remedy} in the file to create these products.`;
}

/** A number of rejected rows with its verb. */
function count(rows: number, singular: string, plural: string): string {
  const noun = rows === 1 ? `rejected row ${singular}` : `rejected rows ${plural}`;
  return `${formatCount(rows)} ${noun}`;
}
