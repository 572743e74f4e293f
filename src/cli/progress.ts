/**
 * Long-running commands: their progress on stderr, interruption by signals, and the end of their
 * output. On a terminal, progress is one line that is overwritten; elsewhere, a line every few
 * seconds and one at the end.
 */
import { once } from 'node:events';
import { constants } from 'node:os';
import type { CommandIo } from './command.ts';
import { PROGRESS_INTERVAL_MS, TERMINAL_PROGRESS_INTERVAL_MS } from './limits.ts';
import { formatBar, formatParts, type TransferState } from './format.ts';

type ProgressStream = Pick<CommandIo['stderr'], 'isTTY' | 'columns'> & {
  write(text: string): unknown;
};

const DEFAULT_COLUMNS = 80;
/** They ask a command to end. SIGHUP: its terminal is gone. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Move to the start of the line; erase from the cursor to its end (ECMA-48). */
const START_LINE = '\r';
const CLEAR_REST = '\x1b[K';

/** Shows the progress of a transfer. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #clock: () => number;
  readonly #startedAt: number;
  #writtenAt: number;
  /** Whether the cursor is in a progress line. */
  #isInLine = false;

  constructor(stream: ProgressStream, clock = () => performance.now()) {
    this.#stream = stream;
    this.#clock = clock;
    this.#startedAt = this.#writtenAt = clock();
  }

  /** Writes the state, unless the last write was too recent. */
  show(state: TransferState): void {
    const interval = this.#stream.isTTY ? TERMINAL_PROGRESS_INTERVAL_MS : PROGRESS_INTERVAL_MS;
    if (this.#clock() - this.#writtenAt >= interval) this.#write(state);
  }

  /** Writes the final state. */
  end(state: TransferState): void {
    this.#write(state);
    this[Symbol.dispose]();
  }

  /** Ends the progress line, if there is one. */
  [Symbol.dispose](): void {
    if (this.#isInLine) this.#stream.write('\n');
    this.#isInLine = false;
  }

  #write(transfer: TransferState): void {
    this.#writtenAt = this.#clock();
    const state = { ...transfer, elapsedMs: this.#writtenAt - this.#startedAt };
    const { isTTY = false, columns } = this.#stream;
    this.#isInLine = isTTY;
    this.#stream.write(isTTY
      ? `${START_LINE}${formatBar(state, columns || DEFAULT_COLUMNS)}${CLEAR_REST}`
      : `${formatParts(state).join(', ')}\n`);
  }
}

/**
 * Runs the work and returns its result. SIGINT, SIGTERM and SIGHUP abort it, run `clean`, which
 * removes partial results, print its text, and exit with status 128 plus the signal's number. A
 * second SIGINT or SIGTERM exits at once.
 */
export async function withInterrupt<Result>(
  io: CommandIo, work: (signal: AbortSignal) => Promise<Result>,
  clean: () => string | Promise<string>,
): Promise<Result> {
  const controller = new AbortController();
  const end = async (signal: (typeof SIGNALS)[number]): Promise<void> => {
    const status = 128 + constants.signals[signal];
    if (controller.signal.aborted) {
      if (signal !== 'SIGHUP') process.exit(status); // see `interrupted`
      return;
    }
    controller.abort();
    const text = await clean();
    // On a terminal the cursor may be in a progress line.
    io.stderr.write(`${io.stderr.isTTY ? '\n' : ''}${text}\n`);
    process.exit(status);
  };
  for (const signal of SIGNALS) io.on(signal, end);
  try {
    return await work(controller.signal);
  } finally {
    if (controller.signal.aborted) await new Promise(() => {}); // `end` exits
    for (const signal of SIGNALS) io.off(signal, end);
  }
}

/** Aborted when nobody reads standard output any more, as in `... | head`. */
export function outputClosed({ stdout }: CommandIo): AbortSignal {
  const controller = new AbortController();
  stdout.once('error', () => controller.abort());
  return controller.signal;
}

/**
 * Aborted by SIGINT, SIGTERM and SIGHUP, too: the command then ends as it likes. A second SIGINT or
 * SIGTERM ends it. A terminal that hangs up sends two SIGHUP: one from the shell, one at its end.
 */
export function interrupted(io: CommandIo): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const signal of SIGNALS) io.once(signal, abort);
  io.on('SIGHUP', abort);
  return AbortSignal.any([controller.signal, outputClosed(io)]);
}

/** Resolves when the reader of standard output has taken most of it, or at the signal. */
export async function outputDrained({ stdout }: CommandIo, signal: AbortSignal): Promise<void> {
  if (!stdout.writableNeedDrain || signal.aborted) return;
  await once(stdout, 'drain', { signal }).catch(() => {}); // the signal, or an error
}
