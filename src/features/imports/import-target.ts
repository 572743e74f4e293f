/** Writes a file's products to the catalogue, or to a dry run, and reports their outcomes. */
import type { Caller } from '../../domain/access/caller.ts';
import type { Issue } from '../../domain/error.ts';
import { describeAmbiguous } from '../../domain/catalogue/barcode.ts';
import { describeIdOwner, explainUnknownSku } from '../../domain/catalogue/spreadsheet-sku.ts';
import { TOO_MANY_PAIRS } from '../../domain/catalogue/metadata.ts';
import type { ProductRow } from '../../domain/catalogue/product.ts';
import type {
  CatalogueStore, ImportedProducts, ImportEffect, ImportMode,
} from '../../store/catalogue-store.ts';
import type { Actor } from '../../store/write.ts';
import type { ImportRow } from '../../transfer/import-row.ts';
import { makeImportParts } from '../../api/ingest.ts';
import type { BatchTarget, WrittenBatch } from '../../transfer/batches.ts';

/** A row and its outcome. */
export interface RowOutcome extends ImportRow {
  readonly status: keyof ReturnType<typeof startCounts>;
  /** Why the row was rejected; undefined if it was not. */
  readonly errors: readonly Issue[] | undefined;
}

/** Counts of rows by status, all zero. */
export function startCounts() {
  return { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };
}

type ImportTarget = BatchTarget<ImportRow, ImportedProducts>;

/**
 * Writes to the catalogue, with a record of the import; with an idempotency key, writes each batch
 * only once.
 */
export function createWriteTarget(
  store: CatalogueStore, { sellerId, keyId, actorName, address }: Actor, mode: ImportMode,
  { fileName, key }: { readonly fileName: string | undefined; readonly key?: string | undefined },
): ImportTarget {
  const parts = makeImportParts({ kind: 'products', mode, fileName, address });
  return {
    write(rows, part) {
      const products = readProducts(rows);
      const idempotency = key === undefined ? undefined : { key, part };
      const actor = { sellerId, keyId, actorName, idempotency };
      // Batches without a product are written, too: the record counts their rows, and with a key,
      // a different file under the same key is detected.
      return parts.write(countUnwritten(rows), rows.length === 0, (imported) =>
        store.importProducts({ ...actor, import: imported }, products, mode));
    },
    close: async () => {},
  };
}

/** Evaluates a write without changing anything. */
export function createDryRunTarget(
  store: CatalogueStore, { position, ...actor }: Actor & Pick<Caller, 'position'>,
  mode: ImportMode,
): ImportTarget {
  const dryRun = store.dryRunImport(actor, mode);
  return {
    async write(rows) {
      return { ...await dryRun.try(readProducts(rows)), position, isReplay: false };
    },
    close: () => dryRun.close(),
  };
}

function countUnwritten(rows: readonly ImportRow[]) {
  const skipped = rows.filter(({ content }) => !content).length;
  const failed = rows.filter(({ content }) => content?.issues).length;
  return { failed, skipped };
}

function readProducts(rows: readonly ImportRow[]): ProductRow[] {
  return rows.flatMap(({ content }) => content?.product ?? []);
}

/** The outcome of each row of a batch; rows without a product are skipped. */
export function readOutcomes(
  { rows, written }: WrittenBatch<ImportRow, ImportedProducts>,
): RowOutcome[] {
  const effects = (written?.effects ?? []).values();
  const texts = {
    mismatch: (written?.idOwners ?? []).values(), rejected: (written?.reasons ?? []).values(),
  };
  const barcodeSkus = (written?.barcodeSkus ?? []).values();
  return rows.map((row): RowOutcome => {
    const { content } = row;
    if (!content) return { ...row, status: 'skipped', errors: undefined };
    if (content.issues) return { ...row, status: 'failed', errors: content.issues };
    const { product } = content;
    const effect = effects.next().value ?? 'taken';
    const named = product.sku === undefined ? barcodeSkus.next().value ?? [] : [];
    const sku = named.length === 1 ? named[0] ?? null : row.sku;
    if (effect === 'created' || effect === 'updated' || effect === 'unchanged') {
      return { ...row, sku, status: effect, errors: undefined };
    }
    const isNamed = effect === 'mismatch' || effect === 'rejected';
    const first = isNamed ? texts[effect].next().value ?? [] : [];
    const issue = explainRejection(effect, row, product, [first, named].flat());
    return { ...row, sku, status: 'failed', errors: issue ? [issue] : content.missing };
  });
}

/**
 * @param texts The SKUs of the products that the row names, or the reason of a review. Undefined
 *   for a row with missing members.
 */
function explainRejection(
  effect: ImportEffect, { previousLine }: ImportRow, product: ProductRow, texts: readonly string[],
): Issue | undefined {
  switch (effect) {
    case 'taken': return describeTaken(product, previousLine);
    case 'ambiguous': return describeAmbiguous(texts);
    case 'mismatch': return describeIdOwner(texts[0] ?? '');
    case 'not_found': return describeUnknown(product);
    case 'overfull': return OVERFULL;
    case 'rejected': return { pointer: '', code: 'rejected', detail: texts[0] ?? '' };
    default: return undefined;
  }
}

function describeTaken({ sku }: ProductRow, previousLine: number | undefined): Issue {
  const where = previousLine === undefined ? '' : ` Line ${previousLine} of the file has it, too.`;
  const [pointer, name] = sku === undefined ? ['/barcode', 'barcode'] : ['/sku', 'SKU'];
  const detail = `You already have a product with this ${name}.${where}`;
  return { pointer, code: 'taken', detail };
}

const OVERFULL: Issue = { pointer: '/metadata', code: 'length', detail: TOO_MANY_PAIRS };

const UNKNOWN_BARCODE: Issue = {
  pointer: '/barcode', code: 'unknown',
  detail: 'You have no product with this barcode. A new product needs a SKU.',
};

/** A row of a CSV file creates no product if its SKU is a number that was shortened. */
function describeUnknown({ sku, createsNone }: ProductRow): Issue {
  if (sku === undefined) return UNKNOWN_BARCODE;
  const hint = explainUnknownSku(sku);
  const fault = 'You have no product with this SKU.';
  if (createsNone) return { pointer: '/sku', code: 'format', detail: `${fault} ${hint}` };
  const detail = `${fault} An update creates none; mode=upsert does.`;
  return { pointer: '/sku', code: 'unknown', detail };
}
