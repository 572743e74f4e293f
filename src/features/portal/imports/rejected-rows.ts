/**
 * The rows of an import that were refused, in a file for the seller to mend and import. It has a
 * bound, and a full disk ends it: neither is a reason to break the import off.
 */
import { AppError, type Issue } from '../../../domain/error.ts';
import { RejectedRowsReader, type RowSource } from '../../../transfer/rejected-rows.ts';
import { REFUSED_ROWS_LIMIT_BYTES } from '../limits.ts';
import { TemporaryFile } from './temporary-file.ts';

const PIECE_BYTES = 64 * 1024;

export class RejectedRows {
  readonly #folder: string;
  readonly #rows: RejectedRowsReader;
  #file: TemporaryFile | undefined;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #isWhole = true;

  constructor(folder: string, source: RowSource) {
    this.#folder = folder;
    this.#rows = new RejectedRowsReader(source, (piece) => this.#append(piece));
  }

  /** Undefined where no row was refused, or none could be kept. */
  get file(): TemporaryFile | undefined {
    return this.#file?.sizeBytes === 0 ? undefined : this.#file;
  }

  /** Whether the file has all rows that were refused. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Adds the row that begins on a line; rows come in the order of the file. */
  async add(line: number, issues: readonly Issue[]): Promise<void> {
    const sizeBytes = (this.#file?.sizeBytes ?? 0) + this.#pieceBytes;
    if (sizeBytes >= REFUSED_ROWS_LIMIT_BYTES) this.#isWhole = false;
    if (!this.#isWhole) return;
    await this.#keep(() => this.#rows.add(line, explainIssues(issues)));
  }

  /** Writes what was added; no row is added after it. */
  async end(): Promise<void> {
    await this.#rows.end();
    await this.#keep(() => this.#flush());
  }

  /** Gives the room of the file back. */
  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #append(piece: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(piece);
    this.#pieces.push(bytes);
    this.#pieceBytes += bytes.length;
    if (this.#pieceBytes >= PIECE_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#pieces.length === 0) return;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#file ??= await TemporaryFile.create(this.#folder);
    await this.#file.append(bytes);
  }

  async #keep(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'storage_full')) throw error;
      this.#isWhole = false;
    }
  }
}

/** Why a row is refused, in one line. */
export function explainIssues(issues: readonly Issue[]): string {
  return issues.map(({ pointer = '', code, detail }) => {
    if (code === 'taken') return 'You already have a product with this SKU.';
    return pointer === '' ? detail : `${pointer.slice(1)}: ${detail}`;
  }).join(' ');
}
