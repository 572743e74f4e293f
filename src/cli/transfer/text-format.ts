/** The formats that catalogues are written in, told by the ending of a file or by `--format`. */
import { UsageError } from '../command.ts';

type TextFormat = 'csv' | 'ndjson';

export interface FileFormat {
  readonly format: TextFormat;
  /** By gzip. */
  readonly isCompressed: boolean;
}

const FORMATS: Readonly<Record<string, TextFormat>> = {
  csv: 'csv', tsv: 'csv', txt: 'csv', ndjson: 'ndjson', jsonl: 'ndjson',
};
const ENDING = /\.(?:(csv|tsv|txt|ndjson|jsonl)(?:\.gz)?|gz)$/i;

export const FORMAT_FLAG = {
  value: 'csv|ndjson', help: 'format of the products (default: by the ending of FILE)',
};

/** The format of a file of this name. @throws UsageError */
export function findFormat(path: string, flag: string | undefined): FileFormat {
  if (flag !== undefined && flag !== 'csv' && flag !== 'ndjson') {
    throw new UsageError(`--format is csv or ndjson, not "${flag}".`);
  }
  const format = flag ?? FORMATS[ENDING.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (format) return { format, isCompressed: /\.gz$/i.test(path) };
  throw new UsageError(`Say what is in ${nameFile(path)}: --format csv or --format ndjson.`);
}

/** What a person calls it. */
export function nameFile(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The path without the endings that name a format. */
export function withoutEnding(path: string): string {
  return path.replace(ENDING, '');
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/**
 * Counts the rows of a text that goes by: its line feeds, but in CSV not those inside of quotes (a
 * doubled quote closes and opens again), nor the one that ends the header.
 */
export class RowCounter {
  readonly #isCsv: boolean;
  #isQuoted = false;
  #lines = 0;

  constructor(format: TextFormat) {
    this.#isCsv = format === 'csv';
  }

  get rows(): number {
    return this.#isCsv ? Math.max(0, this.#lines - 1) : this.#lines;
  }

  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (byte === QUOTE && this.#isCsv) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_FEED && !this.#isQuoted) this.#lines += 1;
    }
  }
}
