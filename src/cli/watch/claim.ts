/**
 * A claim: a file that the watcher has moved into a folder of its own, sending/TIME-ID/, from where
 * it is sent and then published. The ID is the Idempotency-Key, so a file that is found here after
 * a crash is sent under the same key, and two files with the same content have different ones.
 *
 * Beside the file are, in this order: `.attempt.json` before the file is sent for the first time,
 * `.failed.EXT` with rejected rows, `.report.json` once the server has answered. With a report, all
 * that is left is to move what is here to done/ and rejected/, which can be repeated.
 */
import {
  chmodSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { isSystemError } from '../../runtime/system-error.ts';
import { syncFile, syncFolder } from '../../store/sqlite/files/durable-files.ts';
import { writeJsonFile } from '../json-file.ts';
import { withoutExtension } from '../transfer/source-file.ts';
import type { StockOptions } from '../transfer/stock-file.ts';

/** When the file was first sent, and with which options: a retry must have the same ones. */
export interface Attempt {
  /** RFC 3339. */
  readonly started_at: string;
  readonly options: StockOptions;
}

/**
 * `applied`: all rows, or all but the rejected ones. `rejected`: the file as a whole, perhaps after
 * the server had applied a part of it. `unknown`: it was sent too long ago to be sent again, and
 * whether the server applied it is not known.
 */
type Status = 'applied' | 'rejected' | 'unknown';

/** Published beside the file, as NAME.report.json. */
export interface ClaimReport {
  readonly file: string;
  readonly status: Status;
  readonly [member: string]: unknown;
}

/** What was published, as paths. */
export type Published = ReturnType<Claim['publish']>;

const FOLDER = /^(\d{8}T\d{6}Z-[\da-f]{8})((?:-[\da-f]{4}){3}-[\da-f]{12})$/;
/** Put before names in done/ and rejected/: they sort by time, and none replaces another. */
const PREFIX = /^\d{8}T\d{6}Z-[\da-f]{8}-/;
/** Most file systems allow 255 bytes, with our prefix and suffix; a character has up to 4. */
const NAME_LIMIT_BYTES = 200;
const NAME_KEPT_CHARACTERS = 48;

export class Claim {
  /** The Idempotency-Key. */
  readonly id: string;
  /** The claimed file; its name is empty if it has been published. */
  readonly path: string;
  readonly name: string;
  readonly #folder: string;
  readonly #attemptPath: string;
  readonly #reportPath: string;
  /** DIR/TIME-ID, without the rest of the id. */
  readonly #prefix: string;

  /** @param folder sending/TIME-ID */
  constructor(folder: string) {
    this.#folder = folder;
    this.#attemptPath = join(folder, '.attempt.json');
    this.#reportPath = join(folder, '.report.json');
    const [name, prefix = ''] = FOLDER.exec(basename(folder)) ?? [];
    if (name === undefined) throw new TypeError(`${folder} is not the folder of a claim`);
    this.id = name.slice(name.indexOf('-') + 1);
    this.#prefix = `${prefix}-`;
    this.name = readdirSync(folder).find((entry) => !entry.startsWith('.')) ?? '';
    this.path = join(folder, this.name);
  }

  static isFolder(name: string): boolean {
    return FOLDER.test(name);
  }

  /** Whether nothing is here: a crash came before the file, or after it was published. */
  get isEmpty(): boolean {
    return this.name === '' && !this.isFinished;
  }

  /** Whether the server has answered. */
  get isFinished(): boolean {
    return existsSync(this.#reportPath);
  }

  /** Differs when a program has changed the file. */
  readVersion(): string | undefined {
    const file = statSync(this.path, { throwIfNoEntry: false });
    return file && `${file.size} ${file.mtimeMs}`;
  }

  get attempt(): Attempt | undefined {
    // The cast: this class wrote it.
    return existsSync(this.#attemptPath) ? readJson(this.#attemptPath) as Attempt : undefined;
  }

  /** Records, durably, that the file is about to be sent. */
  beginAttempt(attempt: Attempt): void {
    syncFile(this.path); // its writer may not have: a power cut could change its content
    writeJsonFile(this.#attemptPath, attempt);
  }

  /** For an attempt that did not reach the server. */
  discardAttempt(): void {
    rmSync(this.#attemptPath, { force: true });
    syncFolder(this.#folder);
  }

  /** Where the rejected rows of a new attempt go. */
  prepareRejectedPath(format: string): string {
    this.#removeRejectedRows();
    return join(this.#folder, `.failed.${format}`);
  }

  /** Records the outcome, durably. */
  finish(report: ClaimReport, rejectedFile?: string): void {
    const mode = (statSync(this.path, { throwIfNoEntry: false })?.mode ?? 0) & 0o666 | 0o600;
    if (rejectedFile === undefined) {
      this.#removeRejectedRows();
    } else {
      chmodSync(rejectedFile, mode); // as readable as the file itself
      syncFile(rejectedFile);
    }
    syncFolder(this.#folder); // before the report: from then on, all that is here is published
    writeJsonFile(this.#reportPath, report);
    chmodSync(this.#reportPath, mode);
  }

  /** Moves the files to these folders, and removes the claim. */
  publish(doneFolder: string, rejectedFolder: string) {
    // The cast: this class wrote it.
    const report = readJson(this.#reportPath) as ClaimReport;
    const folder = report.status === 'applied' ? doneFolder : rejectedFolder;
    const path = join(folder, this.#prefix + shorten(report.file.replace(PREFIX, '')));
    const [rows] = this.#listRejectedRows();
    const rejectedPath = rows === undefined ? undefined
      : join(rejectedFolder, withoutExtension(basename(path)).replace(/\.failed$/, '') + rows);
    if (rows !== undefined && rejectedPath !== undefined) {
      renameSync(join(this.#folder, rows), rejectedPath);
    }
    if (this.name !== '') renameSync(this.path, path);
    // A rename is durable once both of its folders are flushed, the new one first.
    for (const changedFolder of [rejectedFolder, doneFolder, this.#folder]) {
      syncFolder(changedFolder);
    }
    renameSync(this.#reportPath, `${path}.report.json`); // last: until then, a crash repeats this
    for (const changedFolder of [folder, this.#folder]) syncFolder(changedFolder);
    this.remove();
    return { report, path, rejectedPath };
  }

  /** Removes what is left of an empty claim. */
  remove(): void {
    for (const entry of readdirSync(this.#folder)) {
      const path = join(this.#folder, entry);
      if (entry.startsWith('.') && lstatSync(path).isFile()) rmSync(path, { force: true });
    }
    try {
      rmdirSync(this.#folder);
    } catch (error) {
      // A network file system may keep names of files that another program has open.
      if (!isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    }
  }

  #listRejectedRows(): string[] {
    return readdirSync(this.#folder).filter((entry) => entry.startsWith('.failed.'));
  }

  /** Of an attempt that did not end. */
  #removeRejectedRows(): void {
    for (const entry of this.#listRejectedRows()) rmSync(join(this.#folder, entry));
  }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** The end of a name that is too long for a prefix. */
function shorten(name: string): string {
  return Buffer.byteLength(name) <= NAME_LIMIT_BYTES ? name
    : name.slice(-NAME_KEPT_CHARACTERS).toWellFormed();
}
