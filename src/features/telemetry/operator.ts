/**
 * Connects the log (on stderr; SIGUSR2 changes its level) and the metrics at `/metrics` to `serve`.
 */
import { inspect } from 'node:util';
import { AppError } from '../../domain/error.ts';
import type { LoadedFeature, Operator, Pages, Settings } from '../../feature.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import { DEFAULT_LOG_LEVEL, Log, LOG_LEVELS, type LogLevel, logRequest } from './log.ts';
import { createMetricsEndpoint } from './metrics-endpoint.ts';

export interface TelemetryOption {
  /** Serves `/metrics`, which otherwise returns 404. */
  readonly metrics?: Pages;
}

/**
 * Replaces the plain notices of `serve` with JSON log lines if a level is set. Handles SIGUSR2 once
 * it has started.
 * @throws AppError `invalid_data`
 */
export function startTelemetry(
  settings: Settings, plain: Operator,
): LoadedFeature<TelemetryOption> {
  const level = settings.readText('log');
  const log = new Log(process.stderr, parseLevel(level), Date.now);
  const notice = (name: 'info' | 'warn') => (message: string): void => {
    if (level === undefined) plain.note(message);
    else log.write(name, 'notice', { message });
  };
  const metrics = createMetricsEndpoint(settings, log);
  const onRequestComplete = (entry: AccessLogEntry): void => {
    metrics?.count(entry);
    logRequest(log, entry);
  };
  return {
    operator: {
      note: notice('info'),
      warn: notice('warn'),
      report: ({ id, error }) => log.write('error', 'error', { id, error: inspect(error) }),
      get onRequestComplete() {
        return metrics || log.has('warn') ? onRequestComplete : undefined;
      },
      async close() {
        // Unwritten log lines would keep the process alive.
        if (!await log.close()) process.exit();
      },
    },
    start(_store, operator) {
      process.on('SIGUSR2', () => log.step());
      return {
        ...(metrics?.pages && { options: { metrics: metrics.pages } }),
        observe: async (server) => metrics?.serve(server, operator),
        stop: async () => metrics?.stop(),
      };
    },
  };
}

/** @throws AppError `invalid_data` */
function parseLevel(text: string = DEFAULT_LOG_LEVEL): LogLevel {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level !== undefined) return level;
  throw new AppError('invalid_data', `--log takes ${LOG_LEVELS.join(', ')}, not "${text}".`);
}
