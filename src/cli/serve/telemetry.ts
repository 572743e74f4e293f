/**
 * What `serve` tells its operator: the log on standard error, whose level SIGUSR2 changes, and
 * figures at `/metrics`.
 */
import type { AccessLogEntry } from '../../http/request-record.ts';
import type { ErrorReport } from '../../http/response/problem.ts';
import { Log, LOG_LEVELS, type LogLevel } from '../../features/telemetry/log.ts';
import { logError, logRequest, logsRequests } from '../../features/telemetry/server-log.ts';
import { type Flags, type Input, UsageError } from '../command.ts';
import { metricsFlags, type Observed, readMetrics } from './metrics.ts';

/** Whom a server tells what it does; `warn` is for what may need something to be done. */
export interface Operator {
  note(text: string): void;
  warn(text: string): void;
}

const DEFAULT_LOG_LEVEL: LogLevel = 'error';

export const telemetryFlags: Flags = {
  log: {
    value: 'LEVEL', isSetting: true,
    help: `${LOG_LEVELS.join(', ')} (default: ${DEFAULT_LOG_LEVEL}, and notices in plain words)`,
  },
  ...metricsFlags,
};

/** Also begins to listen to SIGUSR2. @throws UsageError, CommandFailure */
export function readTelemetry(input: Input) {
  const given = input.flags['log'];
  const log = new Log(process.stderr, readLevel(given), Date.now);
  const report = (entry: ErrorReport): void => logError(log, entry);
  const metrics = readMetrics(input, log, report);
  process.on('SIGUSR2', () => log.step());
  const noteAnswered = (entry: AccessLogEntry): void => {
    metrics?.noteAnswered(entry);
    logRequest(log, entry);
  };
  const tell = (level: 'info' | 'warn') => (message: string): void => {
    if (given === undefined) input.note(message);
    else log.write(level, 'notice', { message });
  };
  const note = tell('info');
  return {
    report,
    /** Tells the operator, in plain words unless a level of the log was given. */
    note,
    /** The same, of what may need something to be done. */
    warn: tell('warn'),
    /** For the app; undefined while nobody wants to know. */
    get onRequestComplete() {
      return metrics || logsRequests(log) ? noteAnswered : undefined;
    },
    /** For the app; undefined where it has no part in that. */
    metrics: metrics?.page,
    /** Begins to tell figures, where a setting asks for that. @throws CommandFailure */
    observe: async (observed: Observed) => metrics?.observe(observed, note),
    stop: async () => metrics?.stop(),
    /** Call it last: ends the process where what is left to write would keep it. */
    async close() {
      if (!await log.close()) process.exit();
    },
  };
}

function readLevel(text: string = DEFAULT_LOG_LEVEL): LogLevel {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level !== undefined) return level;
  throw new UsageError(`--log takes ${LOG_LEVELS.join(', ')}, not "${text}".`);
}
