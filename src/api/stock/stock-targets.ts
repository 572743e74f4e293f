/** Where the batches of a stock stream go: to the catalogue, or to a dry run. */
import type { Caller } from '../../domain/access/caller.ts';
import { isOverZeroLimit, type StockOrigin } from '../../domain/catalogue/stock-sync.ts';
import type { StockResult } from '../../domain/catalogue/stock-change.ts';
import type {
  CatalogueStore, MissingProduct, MissingProducts, SyncedStock,
} from '../../store/catalogue-store.ts';
import type { WriteContext } from '../../store/write.ts';
import type { BatchTarget } from '../../transfer/batches.ts';
import type { StockRow } from '../../transfer/stock-rows.ts';
import { makeImportParts } from '../ingest.ts';

export type WrittenStock =
  Pick<SyncedStock, 'results' | 'rejection' | 'position' | 'isReplay' | 'importId'>;

/** The next products that a stocktake sets to 0; none at its end. */
interface Zeroing {
  readonly missing: readonly MissingProduct[];
  readonly zeroLimitPercent: number;
  /** In the first batch. */
  readonly total: MissingProducts | undefined;
}

export interface StockTarget extends BatchTarget<StockRow, WrittenStock> {
  write(rows: readonly StockRow[], part: number): Promise<WrittenStock>;
  zero(zeroing: Zeroing, part: number): Promise<WrittenStock>;
}

interface StreamOrigin extends StockOrigin {
  readonly fileName: string | undefined;
  readonly isStocktake: boolean;
}

export function createWriteTarget(
  store: CatalogueStore, { idempotency, address, ...actor }: WriteContext,
  { source, reason, fileName, isStocktake }: StreamOrigin,
): StockTarget {
  const kind = isStocktake ? 'stocktake' : 'stock';
  const parts = makeImportParts({ kind, source, fileName, address });
  const contextOf = (part: number) =>
    ({ ...actor, idempotency: idempotency && { ...idempotency, part } });
  return {
    write(rows, part) {
      const changes = readChanges(rows);
      const sync = { changes, source, reason, isAtomic: false, completion: undefined };
      // Batches without a change are written, too: the record counts their rows, and with a key,
      // a different stream under the same key is detected.
      return parts.write(
        { failed: rows.length - changes.length }, rows.length === 0,
        (imported) => store.syncStock({ ...contextOf(part), import: imported }, sync, false),
      );
    },
    zero({ missing, zeroLimitPercent, total }, part) {
      const products = missing.map(({ id }) => id);
      const batch = { source, reason, zeroLimitPercent, products, total };
      return parts.write({}, missing.length === 0, (imported) =>
        store.zeroStock({ ...contextOf(part), import: imported }, batch));
    },
    close: async () => {},
  };
}

export function createDryRunTarget(
  store: CatalogueStore, caller: Pick<Caller, 'sellerId' | 'keyId' | 'position'>,
  { source }: StockOrigin,
): StockTarget {
  const { sellerId, keyId } = caller;
  let { position } = caller;
  const dryRun = store.dryRunStock({ sellerId, keyId }, position, source);
  const outcomeOf = (results: readonly StockResult[]): WrittenStock =>
    ({ results, position, rejection: undefined, isReplay: false });
  return {
    async write(rows) {
      const outcome = await dryRun.try(readChanges(rows));
      position = outcome.position;
      return outcomeOf(outcome.results);
    },
    async zero({ missing, zeroLimitPercent, total }) {
      if (total && isOverZeroLimit(total.missing, total.inStock, zeroLimitPercent)) {
        return { ...outcomeOf([]), rejection: 'zero_limit' };
      }
      const results = missing.map(({ id, sku, stock: previous }): StockResult => {
        position += 1;
        return { status: 'ok', id, sku, previous, stock: 0, position };
      });
      return outcomeOf(results);
    },
    close: () => dryRun.close(),
  };
}

function readChanges(rows: readonly StockRow[]) {
  return rows.flatMap(({ entry }) => ('change' in entry ? entry.change : []));
}
