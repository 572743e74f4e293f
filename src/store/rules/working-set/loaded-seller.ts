/** What a transaction has loaded of a seller before its mutations run. */
import type { ImportCounts } from '../../../domain/catalogue/import.ts';
import type { ImportId } from '../../../domain/id.ts';
import type { ImportProgress } from '../mutations/import-records.ts';
import type { SellerState } from '../mutations/position-allocator.ts';
import { LoadedLevels, NotLoadedError } from './loaded-levels.ts';
import { ProductTable } from './product-table.ts';

export interface LoadedSeller {
  /** Undefined if there is no such seller. */
  readonly state: SellerState | undefined;
  readonly products: ProductTable;
  readonly levels: LoadedLevels;
  readonly imports: ReturnType<typeof openImports>;
}

/** `isComplete`: everything that the mutations name was loaded. */
export function makeLoadedSeller(
  state: SellerState | undefined, isComplete: boolean, lastImportId: number | undefined,
): LoadedSeller {
  return {
    state, products: new ProductTable(), levels: new LoadedLevels(isComplete),
    imports: openImports(lastImportId),
  };
}

/** Import records: those that the mutations continue. */
function openImports(knownLastId: number | undefined) {
  let lastId = knownLastId;
  /** Undefined for a record that was removed with the history. */
  const countsById = new Map<ImportId, ImportCounts | undefined>();
  const updated = new Map<ImportId, ImportProgress>();
  return {
    load(id: ImportId, counts: ImportCounts | undefined): void {
      countsById.set(id, counts);
    },
    /** The newest id of the seller; 0 if there is none. */
    readLastId(): number {
      if (lastId === undefined) throw new NotLoadedError();
      return lastId;
    },
    /** Undefined if it is not known. */
    peekLastId: () => lastId,
    findCounts(id: ImportId): ImportCounts | undefined {
      if (!countsById.has(id)) throw new NotLoadedError();
      return countsById.get(id);
    },
    noteInsert(id: ImportId, counts: ImportCounts): void {
      countsById.set(id, counts);
      lastId = id;
    },
    update(id: ImportId, progress: ImportProgress): void {
      const before = updated.get(id);
      countsById.set(id, progress.counts);
      updated.set(id, {
        ...progress,
        firstPosition: before?.firstPosition ?? progress.firstPosition,
        lastPosition: progress.lastPosition ?? before?.lastPosition,
      });
    },
    /** What to write to records that exist. */
    listUpdated: (): readonly (readonly [ImportId, ImportProgress])[] => [...updated],
  };
}
