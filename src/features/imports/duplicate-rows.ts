/**
 * Finds the rows of a file that have the SKU of an earlier row. Those that are imported override
 * it: they are counted, and the first of them are kept.
 */
import { rejectMarkedSkus } from '../../api/marked-skus.ts';
import type { SellerId } from '../../domain/id.ts';
import { copyText } from '../../domain/text.ts';
import type { CatalogueStore } from '../../store/catalogue-store.ts';
import { SkuLines } from '../../store/temporary/sku-lines.ts';
import type { ImportRow } from '../../transfer/import-row.ts';
import { IMPORT_DUPLICATES_LISTED_LIMIT } from '../../transfer/limits.ts';
import type { RowOutcome } from './import-target.ts';

interface DuplicateRow {
  readonly line: number;
  readonly sku: string;
  /** The line of the file's previous row with this SKU. */
  readonly overrides: number;
}

export class DuplicateRows {
  readonly #store: Pick<CatalogueStore, 'findProduct'>;
  readonly #sellerId: SellerId;
  readonly #first: DuplicateRow[] = [];
  #count = 0;

  constructor(store: Pick<CatalogueStore, 'findProduct'>, sellerId: SellerId) {
    this.#store = store;
    this.#sellerId = sellerId;
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
   */
  async *find(
    slices: AsyncIterable<readonly ImportRow[]>,
  ): AsyncGenerator<readonly ImportRow[], void, void> {
    using lines = new SkuLines();
    const checked = rejectMarkedSkus(slices, this.#store, this.#sellerId, (row, issue): ImportRow =>
      ({ ...row, content: { issues: [issue] } }));
    for await (const rows of checked) {
      yield rows.map((row) => {
        const { line, content } = row;
        const previousLine = content?.product && lines.note(content.product.sku, line);
        return previousLine === undefined ? row : { ...row, previousLine };
      });
    }
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
