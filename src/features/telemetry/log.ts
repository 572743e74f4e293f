/**
 * The log: one JSON object a line, of one shape, onto a stream. It never waits for whoever reads
 * it: where the stream stands still, or its disk is full, lines are dropped and counted. What may
 * be in a line is decided by whoever writes one; see `AccessLogEntry`.
 */
import type { Writable } from 'node:stream';
import { LOG_BUFFER_LIMIT_CHARACTERS, LOG_CLOSE_TIMEOUT_MS } from './limits.ts';

/** From what says nothing to what says all. */
export const LOG_LEVELS = ['off', 'error', 'warn', 'info', 'debug'] as const;
/** Without a setting: errors alone. */
export const DEFAULT_LOG_LEVEL = 'error' satisfies LogLevel;

export type LogLevel = (typeof LOG_LEVELS)[number];
type LineLevel = Exclude<LogLevel, 'off'>;

/** Members of a line, after `time`, `level` and `event`; those that are undefined are left out. */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

export class Log {
  readonly #stream: Writable;
  readonly #clock: () => number;
  #level: LogLevel;
  /** Lines of this turn of the event loop: they are written together. */
  #lines: string[] = [];
  #length = 0;
  #isScheduled = false;
  #at = NaN;
  #time = '';
  #written = 0;
  #dropped = 0;
  /** As many as the log itself has told. */
  #droppedTold = 0;

  /** `clock` is in milliseconds since 1970. */
  constructor(stream: Writable, level: LogLevel, clock: () => number) {
    this.#stream = stream;
    this.#level = level;
    this.#clock = clock;
  }

  get level(): LogLevel {
    return this.#level;
  }

  /** Lines written, and dropped because nobody took them. */
  readMetrics(): { readonly written: number; readonly dropped: number } {
    return { written: this.#written, dropped: this.#dropped };
  }

  has(level: LineLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(this.#level);
  }

  /** `event` is a name: letters and underscores. */
  write(level: LineLevel, event: string, fields: Fields): void {
    if (this.has(level)) this.#add(level, event, fields);
  }

  /** Goes on to the next level, from the last one to `off`, and says so whichever it is. */
  step(): void {
    const next = (LOG_LEVELS.indexOf(this.#level) + 1) % LOG_LEVELS.length;
    this.#level = LOG_LEVELS[next] ?? 'off';
    this.#add('info', 'log_level', { message: `The level of this log is ${this.#level} now.` });
  }

  /** Whether all was taken; within 1 s. */
  close(): Promise<boolean> {
    this.#flush();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOG_CLOSE_TIMEOUT_MS, false);
      this.#stream.write('', () => { // after all that waits before it
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #add(level: LineLevel, event: string, fields: Fields): void {
    if (this.#length + this.#stream.writableLength > LOG_BUFFER_LIMIT_CHARACTERS) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > this.#droppedTold) {
      const lines = this.#dropped - this.#droppedTold;
      this.#droppedTold = this.#dropped;
      this.#push('warn', 'log_lines_dropped', { lines });
    }
    this.#push(level, event, fields);
    if (level === 'error') this.#flush(); // the process may be about to end
    else this.#schedule();
  }

  #push(level: LineLevel, event: string, fields: Fields): void {
    const head = `{"time":"${this.#formatTime()}","level":"${level}","event":"${event}"`;
    const rest = JSON.stringify(fields); // members of two objects in one take three times as long
    const line = rest === '{}' ? `${head}}\n` : `${head},${rest.slice(1)}\n`;
    this.#lines.push(line);
    this.#length += line.length;
  }

  /** Many lines are of the same millisecond, and the time takes longer than all the rest. */
  #formatTime(): string {
    const at = this.#clock();
    if (at !== this.#at) this.#time = new Date(at).toISOString();
    this.#at = at;
    return this.#time;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const { length } = this.#lines;
    if (length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    this.#stream.write(text, (error) => {
      if (error) this.#dropped += length;
      else this.#written += length;
    });
  }
}
