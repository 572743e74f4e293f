/** The port of import records. The mutations of an import write its record (`write.ts`). */
import type { ImportKind, ImportRecord } from '../domain/catalogue/import.ts';
import type { ImportId, SellerId } from '../domain/id.ts';
import type { ListCount } from './write.ts';

/** Newest first; with `after`, oldest first. */
interface ImportQuery {
  /** Exclusive; undefined for the newest. */
  readonly before: ImportId | undefined;
  /** Only records after this one; instead of `before`. */
  readonly after?: ImportId | undefined;
  readonly limit: number;
  /** Undefined for all. */
  readonly kind?: ImportKind | undefined;
}

export interface ImportStore {
  /** Undefined if there is none, or if it was removed with the history. */
  findImport(sellerId: SellerId, id: ImportId): Promise<ImportRecord | undefined>;
  listImports(sellerId: SellerId, query: ImportQuery): Promise<readonly ImportRecord[]>;
  /** Of all, or of one kind: undefined if there are too many records to find out. */
  countImports(sellerId: SellerId, kind: ImportKind | undefined): Promise<ListCount | undefined>;
  /** The newest imports whose file name or source contains the text, in any case. */
  searchImports(
    sellerId: SellerId, text: string, limit: number,
  ): Promise<readonly ImportRecord[]>;
}
