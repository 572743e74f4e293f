/** What `serve` tells its operator: the log on standard error, whose level SIGUSR2 changes. */
import type { AnsweredRequest } from '../../http/answered-request.ts';
import type { ErrorReport } from '../../http/problem.ts';
import { Log, LOG_LEVELS, type LogLevel } from '../../telemetry/log.ts';
import { logError, logRequest, logsRequests } from '../../telemetry/server-log.ts';
import { type Flags, type Input, UsageError } from '../command.ts';

const DEFAULT_LOG_LEVEL: LogLevel = 'error';

export const telemetryFlags: Flags = {
  log: {
    value: 'LEVEL', isSetting: true,
    help: `${LOG_LEVELS.join(', ')} (default: ${DEFAULT_LOG_LEVEL}, and notices in plain words)`,
  },
};

interface Telemetry {
  /** Tells the operator, in plain words unless a level of the log was given. */
  note(text: string): void;
  /** The same, of what may need something to be done. */
  warn(text: string): void;
  report(entry: ErrorReport): void;
  /** For the app; undefined while nobody wants to know. */
  readonly onAnswered: ((entry: AnsweredRequest) => void) | undefined;
  /** Call it last: ends the process where what is left to write would keep it. */
  close(): Promise<void>;
}

/** Also begins to listen to SIGUSR2. @throws UsageError */
export function readTelemetry({ flags, note }: Input): Telemetry {
  const given = flags['log'];
  const log = new Log(process.stderr, readLevel(given), Date.now);
  process.on('SIGUSR2', () => log.step());
  const logAnswered = (entry: AnsweredRequest): void => logRequest(log, entry);
  const tell = (level: 'info' | 'warn') => (message: string): void => {
    if (given === undefined) note(message);
    else log.write(level, 'notice', { message });
  };
  return {
    note: tell('info'),
    warn: tell('warn'),
    report: (entry) => logError(log, entry),
    get onAnswered() {
      return logsRequests(log) ? logAnswered : undefined;
    },
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
