/**
 * The log of a server: one JSON object per line, for each request, each internal error and each
 * notice to the operator. It never waits for its reader: if the stream is blocked or its disk full,
 * lines are dropped and counted. A request's line contains only members of `AccessLogEntry`.
 */
import type { Writable } from 'node:stream';
import { formatKeyId, formatSellerId } from '../../domain/id.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import { LOG_BUFFER_LIMIT_CHARACTERS, LOG_CLOSE_TIMEOUT_MS } from './limits.ts';

/** From the quietest to the most verbose. */
export const LOG_LEVELS = ['off', 'error', 'warn', 'info', 'debug'] as const;
/** Without a setting: errors alone. */
export const DEFAULT_LOG_LEVEL = 'error' satisfies LogLevel;

export type LogLevel = (typeof LOG_LEVELS)[number];
type LineLevel = Exclude<LogLevel, 'off'>;

/** Members of a line after `time`, `level` and `event`; undefined ones are left out. */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Routes that monitoring polls. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Writes lines to a stream. */
export class Log {
  readonly #stream: Writable;
  readonly #clock: () => number;
  #level: LogLevel;
  /** Lines of this event-loop iteration, which are written together, and how many they are. */
  #pending = '';
  #pendingLines = 0;
  #at = NaN;
  #time = '';
  #written = 0;
  #dropped = 0;
  /** Dropped lines that the log has reported. */
  #droppedReported = 0;

  /** `clock` is in milliseconds since 1970. */
  constructor(stream: Writable, level: LogLevel, clock: () => number) {
    this.#stream = stream;
    this.#level = level;
    this.#clock = clock;
  }

  /** Lines that were written, and dropped. */
  readMetrics(): { readonly written: number; readonly dropped: number } {
    return { written: this.#written, dropped: this.#dropped };
  }

  has(level: LineLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(this.#level);
  }

  /** `event` is a name of letters and underscores. */
  write(level: LineLevel, event: string, fields: Fields): void {
    if (this.has(level)) this.#add(level, event, fields);
  }

  /** Switches to the next level, or from the last one to `off`, and logs it at any level. */
  step(): void {
    const next = (LOG_LEVELS.indexOf(this.#level) + 1) % LOG_LEVELS.length;
    this.#level = LOG_LEVELS[next] ?? 'off';
    this.#add('info', 'log_level', { message: `The log level is now ${this.#level}.` });
  }

  /** Resolves within 1 s with whether all lines were written. */
  close(): Promise<boolean> {
    this.#flush();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOG_CLOSE_TIMEOUT_MS, false);
      this.#stream.write('', () => { // after all pending writes
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #add(level: LineLevel, event: string, fields: Fields): void {
    if (this.#pending.length + this.#stream.writableLength > LOG_BUFFER_LIMIT_CHARACTERS) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > this.#droppedReported) {
      const lines = this.#dropped - this.#droppedReported;
      this.#droppedReported = this.#dropped;
      this.#push('warn', 'log_lines_dropped', { lines });
    }
    this.#push(level, event, fields);
    if (level === 'error') this.#flush(); // the process may be about to end
  }

  #push(level: LineLevel, event: string, fields: Fields): void {
    const head = `{"time":"${this.#formatTime()}","level":"${level}","event":"${event}"`;
    const rest = JSON.stringify(fields); // spreading both into one object takes three times as long
    if (this.#pending === '') setImmediate(() => this.#flush());
    this.#pending += rest === '{}' ? `${head}}\n` : `${head},${rest.slice(1)}\n`;
    this.#pendingLines += 1;
  }

  /** Cached: formatting the time costs more than the rest, and many lines share a millisecond. */
  #formatTime(): string {
    const at = this.#clock();
    if (at !== this.#at) this.#time = new Date(at).toISOString();
    this.#at = at;
    return this.#time;
  }

  #flush(): void {
    const [text, lines] = [this.#pending, this.#pendingLines];
    if (lines === 0) return;
    [this.#pending, this.#pendingLines] = ['', 0];
    this.#stream.write(text, (error) => {
      if (error) this.#dropped += lines;
      else this.#written += lines;
    });
  }
}

export function logRequest(log: Log, request: AccessLogEntry): void {
  const { route, status, sellerId, keyId, durationMs } = request;
  const level = status >= 500 ? 'warn' : 'info';
  const isKey = sellerId !== undefined && keyId !== undefined;
  log.write(PROBES.has(route) ? 'debug' : level, 'request', {
    method: request.method,
    route,
    status,
    code: request.code,
    complete: request.isComplete,
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    bytes: request.sentBytes,
    address: request.address,
    seller: sellerId === undefined ? undefined : formatSellerId(sellerId),
    key: isKey ? formatKeyId({ sellerId, keyId }) : undefined,
    trace_id: request.traceId,
    span_id: request.spanId,
    parent_span_id: request.parentSpanId,
  });
}
