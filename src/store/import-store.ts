/** The port of import records. The mutations of an import write its record (`write.ts`). */
import type { ImportKind, ImportRecord } from '../domain/catalogue/import.ts';
import type { ImportId, SellerId } from '../domain/id.ts';

/** Newest first. */
interface ImportQuery {
  /** Exclusive; undefined for the newest. */
  readonly before: ImportId | undefined;
  readonly limit: number;
  /** Undefined for all. */
  readonly kind?: ImportKind | undefined;
}

export interface ImportStore {
  /** Undefined if there is none, or if it was removed with the history. */
  findImport(sellerId: SellerId, id: ImportId): Promise<ImportRecord | undefined>;
  listImports(sellerId: SellerId, query: ImportQuery): Promise<readonly ImportRecord[]>;
}
