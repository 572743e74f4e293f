/**
 * How far a long transfer is, on standard error: on a terminal one line that is written over and
 * over, elsewhere a line now and then and one at the end.
 */
import { PROGRESS_INTERVAL_MS, TERMINAL_PROGRESS_INTERVAL_MS } from '../limits.ts';
import { formatBar, formatParts, type TransferState } from './progress-line.ts';

/** What of a stream is needed here. */
interface ProgressStream {
  readonly isTTY?: boolean;
  /** 0 or undefined where nobody knows. */
  readonly columns?: number;
  write(text: string): unknown;
}

const DEFAULT_COLUMNS = 80;
/** Back to the begin of the line, and away with what is right of the cursor (ECMA-48). */
const BEGIN_LINE = '\r';
const CLEAR_REST = '\x1b[K';

export class Progress {
  readonly #stream: ProgressStream;
  readonly #clock: () => number;
  readonly #startedAt: number;
  #writtenAt: number;
  /** Whether the cursor stands in a line of ours. */
  #isInLine = false;

  constructor(stream: ProgressStream, clock: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#clock = clock;
    this.#startedAt = clock();
    this.#writtenAt = this.#startedAt;
  }

  /** Writes where the last time is long enough ago. */
  show(state: TransferState): void {
    const interval = this.#stream.isTTY ? TERMINAL_PROGRESS_INTERVAL_MS : PROGRESS_INTERVAL_MS;
    if (this.#clock() - this.#writtenAt >= interval) this.#write(state);
  }

  /** Writes how it ended well, whenever the last time was. */
  end(state: TransferState): void {
    this.#write(state);
    this.close();
  }

  /** Leaves the line to others. */
  close(): void {
    if (this.#isInLine) this.#stream.write('\n');
    this.#isInLine = false;
  }

  #write(transfer: TransferState): void {
    this.#writtenAt = this.#clock();
    const state = { ...transfer, elapsedMs: this.#writtenAt - this.#startedAt };
    const { isTTY = false, columns } = this.#stream;
    this.#isInLine = isTTY;
    this.#stream.write(isTTY
      ? `${BEGIN_LINE}${formatBar(state, columns || DEFAULT_COLUMNS)}${CLEAR_REST}`
      : `${formatParts(state).join(', ')}\n`);
  }
}
