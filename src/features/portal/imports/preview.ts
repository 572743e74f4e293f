/** What an import would do, found out by trying it: counts, and the first rows of each kind. */
import { createDryRunTarget } from '../../imports/import-target.ts';
import type { SellerId } from '../../../domain/id.ts';
import { SKU_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { completeProduct } from '../../../domain/catalogue/product.ts';
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';
import { copyText } from '../../../domain/text.ts';
import type { Store } from '../../../store/store.ts';
import { formatRowErrors } from '../../../transfer/rejected-rows.ts';
import { PREVIEW_ROWS_LIMIT, PREVIEW_ROWS_SHOWN } from '../limits.ts';
import type { RowFile, RowProgress } from './row-reading.ts';

/** A product that would be changed. */
export interface Difference {
  readonly line: number;
  readonly before: NewProduct;
  readonly after: NewProduct;
}

/** A row that would be refused. */
interface RefusedRow {
  readonly line: number;
  /** Undefined where there is none. */
  readonly sku: string | undefined;
  readonly reason: string;
}

/** The first of each kind. */
export interface Preview {
  readonly differences: readonly Difference[];
  readonly refused: readonly RefusedRow[];
  /** Whether all rows were tried. */
  readonly isWhole: boolean;
}

/**
 * Tries the rows until it is aborted, and no more than there is a limit for.
 * @throws AppError `invalid_data` where the file as a whole is faulty
 */
export async function previewRows(
  { store, sellerId }: { readonly store: Store; readonly sellerId: SellerId }, rows: RowFile,
  progress: RowProgress, signal: AbortSignal,
): Promise<Preview> {
  const differences = new Map<string, Difference>();
  const refused: RefusedRow[] = [];
  const target = createDryRunTarget(store, { sellerId, position: 0 }, rows.settings.mode);
  for await (const outcomes of progress.take(rows, target)) {
    for (const { line, sku, status, errors, content } of outcomes) {
      if (errors && refused.length < PREVIEW_ROWS_SHOWN) {
        refused.push({ line, sku: cut(sku), reason: formatRowErrors(errors) });
      }
      const row = status === 'updated' ? content?.product : undefined;
      // A product that comes again is changed from what an earlier row made of it.
      if (!row || differences.has(row.sku) || differences.size === PREVIEW_ROWS_SHOWN) continue;
      const before = await store.findProduct(sellerId, { sku: row.sku });
      const after = before && completeProduct(row, before);
      if (after) differences.set(copyText(row.sku), { line, before, after: copy(after) });
    }
    if (progress.rows >= PREVIEW_ROWS_LIMIT || signal.aborted) {
      return { ...shown(differences, refused), isWhole: false };
    }
  }
  return { ...shown(differences, refused), isWhole: true };
}

function shown(differences: ReadonlyMap<string, Difference>, refused: readonly RefusedRow[]) {
  return { differences: [...differences.values()], refused };
}

function copy(product: NewProduct): NewProduct {
  return { ...product, name: copyText(product.name), category: copyText(product.category) };
}

function cut(sku: string | null): string | undefined {
  return sku === null ? undefined : copyText(sku.slice(0, SKU_LIMIT_CODE_POINTS));
}
