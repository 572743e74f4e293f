/**
 * The server's log: one JSON object per line for each request, internal error and operator notice.
 * It never waits for its reader: if the stream is blocked or the disk is full, lines are dropped
 * and counted. A request's line contains only members of `AccessLogEntry`.
 */
import type { Writable } from 'node:stream';
import { formatTime } from '../../domain/time.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import { LOG_BUFFER_LIMIT_CHARACTERS, LOG_CLOSE_TIMEOUT_MS } from './limits.ts';

/** From quietest to most verbose. */
export const LOG_LEVELS = ['off', 'error', 'warn', 'info', 'debug'] as const;
/** The level without `--log`: only errors. */
export const DEFAULT_LOG_LEVEL = 'error' satisfies LogLevel;

export type LogLevel = (typeof LOG_LEVELS)[number];
type LineLevel = Exclude<LogLevel, 'off'>;

/** Members of a line after `time`, `level` and `event`; undefined members are omitted. */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Routes that monitoring polls. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export class Log {
  readonly #stream: Writable;
  readonly #clock: () => number;
  #level: LogLevel;
  /** Lines of this event-loop iteration, written together, and their number. */
  #pending = '';
  #pendingLines = 0;
  #written = 0;
  #dropped = 0;
  /** Dropped lines already reported in the log. */
  #droppedReported = 0;

  /** @param clock Milliseconds since 1970. */
  constructor(stream: Writable, level: LogLevel, clock: () => number) {
    this.#stream = stream;
    this.#level = level;
    this.#clock = clock;
  }

  /** Numbers of written and dropped lines. */
  readMetrics(): { readonly written: number; readonly dropped: number } {
    return { written: this.#written, dropped: this.#dropped };
  }

  has(level: LineLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(this.#level);
  }

  /** @param event Letters and underscores. */
  write(level: LineLevel, event: string, fields: Fields): void {
    if (this.has(level)) this.#add(level, event, fields);
  }

  /** At every level except `off`. */
  writeSecurityEvent(event: string, fields: Fields): void {
    if (this.has('error')) this.#add('warn', event, fields);
  }

  /** Switches to the next level, or from the last one to `off`, and always logs the new level. */
  step(): void {
    const next = (LOG_LEVELS.indexOf(this.#level) + 1) % LOG_LEVELS.length;
    this.#level = LOG_LEVELS[next] ?? 'off';
    this.#add('info', 'log_level', { message: `The log level is now ${this.#level}.` });
  }

  /** Resolves within 1 s to whether all lines were written. */
  async close(): Promise<boolean> {
    this.#flush();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    using _timer = setTimeout(resolve, LOG_CLOSE_TIMEOUT_MS, false);
    this.#stream.write('', () => resolve(true)); // after all pending writes
    return await promise;
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
    const head = `{"time":"${formatTime(this.#clock())}","level":"${level}","event":"${event}"`;
    const members = JSON.stringify(fields); // three times as fast as spreading both into one object
    if (this.#pending === '') setImmediate(() => this.#flush());
    this.#pending += members === '{}' ? `${head}}\n` : `${head},${members.slice(1)}\n`;
    this.#pendingLines += 1;
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
  const { route, status, durationMs } = request;
  const level = status >= 500 ? 'warn' : 'info';
  log.write(PROBES.has(route) ? 'debug' : level, 'request', {
    method: request.method,
    route,
    status,
    code: request.code,
    complete: request.isComplete,
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    bytes: request.sentBytes,
    address: request.address,
    seller: request.sellerId,
    key: request.keyId,
    trace_id: request.traceId,
    span_id: request.spanId,
    parent_span_id: request.parentSpanId,
  });
}
