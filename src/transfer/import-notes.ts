/**
 * What the counts of an import leave open: why rows were skipped, which ids were ignored, and which
 * SKUs a spreadsheet may have changed; in numbers for programs, and in sentences for people.
 */
import type { ImportNotes, SkipReason } from '../domain/catalogue/import.ts';
import { looksLikeDate } from '../domain/catalogue/spreadsheet-sku.ts';
import { copyText } from '../domain/text.ts';
import { formatCount } from '../domain/wording.ts';
import type { ImportRow, RowReader } from './import-row.ts';

/** The words follow a number of rows. */
export const SKIP_REASONS: readonly (readonly [reason: SkipReason, words: string])[] = [
  ['blank', 'without any text'],
  ['image', 'without SKU, price and stock, such as images'],
  ['container', 'of products that are sold as variants'],
  ['translation', 'for a store view'],
];

/** Collects the notes of one import. */
export class RowNotes {
  readonly #isCsv: boolean;
  readonly #skipReasons: Partial<Record<SkipReason, number>> = {};
  #unknownIds = 0;
  #dateSkus = 0;
  #firstDateSku: string | undefined;

  constructor({ format }: Pick<RowReader, 'format'>) {
    this.#isCsv = format === 'csv';
  }

  add({ skipReason, sku, status }: ImportRow & { readonly status: string }): void {
    if (skipReason) this.#skipReasons[skipReason] = (this.#skipReasons[skipReason] ?? 0) + 1;
    if (!this.#isCsv || status !== 'created' || sku === null || !looksLikeDate(sku)) return;
    this.#dateSkus += 1;
    this.#firstDateSku ??= copyText(sku);
  }

  addUnknownIds(count = 0): void {
    this.#unknownIds += count;
  }

  get members(): ImportNotes {
    return {
      ...(Object.keys(this.#skipReasons).length > 0 && { skip_reasons: { ...this.#skipReasons } }),
      ...(this.#unknownIds > 0 && { unknown_ids: this.#unknownIds }),
      ...(this.#firstDateSku !== undefined && {
        date_skus: this.#dateSkus, first_date_sku: this.#firstDateSku,
      }),
    };
  }
}

/** Counts of rows by outcome, of an import or a stock file. */
type Counts = Readonly<Record<string, number>>;

/** Outcomes of rows and products that the file names correctly. */
const SUCCESSES = ['created', 'updated', 'applied', 'unchanged', 'zeroed'];

/** Why a file had no effect, unless there was nothing left to do. */
export function explainNothing(counts: Counts): string | undefined {
  const { failed = 0, skipped = 0 } = counts;
  if (SUCCESSES.some((name) => (counts[name] ?? 0) > 0)) return undefined;
  const outcome = skipped === 0 ? 'rejected' : failed === 0 ? 'skipped' : 'skipped or rejected';
  const fault = failed + skipped === 0 ? 'the file has no rows' : `every row was ${outcome}`;
  return `Nothing to ${'applied' in counts ? 'apply' : 'import'}: ${fault}.`;
}

/** All that a summary says to people: why nothing was imported, and the notes. */
export function listNotes(
  counts: Counts, notes: ImportNotes, fileNotes: readonly string[],
): readonly string[] | undefined {
  const sentences = [explainNothing(counts) ?? [], describeNotes(counts, notes, fileNotes)].flat();
  return sentences.length > 0 ? sentences : undefined;
}

/** The notes in sentences, and those of the file itself. */
export function describeNotes(
  counts: Counts, notes: ImportNotes, fileNotes: readonly string[],
): readonly string[] {
  const { skip_reasons: reasons = {}, unknown_ids: unknown = 0, date_skus: dates = 0 } = notes;
  const skipped = SKIP_REASONS.flatMap(([reason, words]) =>
    (reasons[reason] ? `${formatCount(reasons[reason])} ${words}` : []));
  const remedy = reasons.translation && explainNothing(counts) !== undefined
    ? ' To import the rows of a store view as products, remove the column store_view_code.' : '';
  return [
    ...skipped.length === 0 ? [] : [`Skipped rows: ${skipped.join(', ')}.${remedy}`],
    ...unknown === 0 ? [] : [`${unknown === 1 ? '1 row has' : `${formatCount(unknown)} rows have`} `
      + 'an id that none of your products has. It was ignored.'],
    ...dates === 0 ? [] : [`${formatCount(dates)} of the new SKUs look like dates, such as `
      + `${JSON.stringify(notes.first_date_sku)}. If a spreadsheet changed them, format the column `
      + 'as text, and enter them again.'],
    ...fileNotes,
  ];
}
