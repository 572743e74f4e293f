/** The parts of an import, which its mutations write one after the other. */
import type { ImportCounts, NewImport } from '../domain/catalogue/import.ts';
import type { ImportId } from '../domain/id.ts';
import type { ImportPart, ImportReference } from '../store/write.ts';

export class ImportParts {
  readonly #record: NewImport;
  #id: ImportId | undefined;

  constructor(record: NewImport) {
    this.#record = record;
  }

  /** The import; undefined until its first part is written. */
  get id(): ImportId | undefined {
    return this.#id;
  }

  /**
   * Writes the next part. `counts`: rows that the store does not see, such as rejected ones. Start
   * a part only after the previous one has been written: the first one creates the record.
   */
  async write<Written extends ImportReference>(
    counts: ImportCounts, isLast: boolean, write: (part: ImportPart) => Promise<Written>,
  ): Promise<Written> {
    const written = await write({ id: this.#id, record: this.#record, counts, isLast });
    this.#id ??= written.importId;
    return written;
  }
}
