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
  readonly imports: LoadedImports;
}

/** `isComplete`: everything that the mutations name was loaded. */
export function makeLoadedSeller(
  state: SellerState | undefined, isComplete: boolean, lastImportId: number | undefined,
): LoadedSeller {
  return {
    state, products: new ProductTable(), levels: new LoadedLevels(isComplete),
    imports: new LoadedImports(lastImportId),
  };
}

/** Import records: those that the mutations continue. */
class LoadedImports {
  #lastId: number | undefined;
  /** Undefined for a record that was removed with the history. */
  readonly #counts = new Map<ImportId, ImportCounts | undefined>();
  readonly #updated = new Map<ImportId, ImportProgress>();

  constructor(lastId: number | undefined) {
    this.#lastId = lastId;
  }

  load(id: ImportId, counts: ImportCounts | undefined): void {
    this.#counts.set(id, counts);
  }

  /** The newest id of the seller; 0 if there is none. */
  get lastId(): number {
    if (this.#lastId === undefined) throw new NotLoadedError();
    return this.#lastId;
  }

  /** Undefined if it is not known. */
  peekLastId(): number | undefined {
    return this.#lastId;
  }

  findCounts(id: ImportId): ImportCounts | undefined {
    if (!this.#counts.has(id)) throw new NotLoadedError();
    return this.#counts.get(id);
  }

  noteInsert(id: ImportId, counts: ImportCounts): void {
    this.#counts.set(id, counts);
    this.#lastId = id;
  }

  update(id: ImportId, progress: ImportProgress): void {
    const before = this.#updated.get(id);
    this.#counts.set(id, progress.counts);
    this.#updated.set(id, {
      ...progress,
      firstPosition: before?.firstPosition ?? progress.firstPosition,
      lastPosition: progress.lastPosition ?? before?.lastPosition,
    });
  }

  /** What to write to records that exist. */
  listUpdated(): readonly (readonly [ImportId, ImportProgress])[] {
    return [...this.#updated];
  }
}
