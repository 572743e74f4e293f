/**
 * Where the figures of a server are told: on a port that only this machine reaches, or beside the
 * API to whoever has a token. Where neither is asked for, nothing is counted.
 */
import { readFileSync } from 'node:fs';
import type { App } from '../../app.ts';
import { METRICS_TOKEN_MIN_CHARACTERS } from '../limits.ts';
import { AppError } from '../../domain/error.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import { listen, type Listener } from '../../http/server/listener.ts';
import type { ErrorReport } from '../../http/response/problem.ts';
import type { AppOptions } from '../../app-context.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../../features/telemetry/log.ts';
import { guardMetrics, serveMetrics } from '../../features/telemetry/metrics-page.ts';
import { ProcessMetrics } from '../../features/telemetry/process-metrics.ts';
import type { Family } from '../../features/telemetry/prometheus.ts';
import { RequestMetrics } from '../../features/telemetry/request-metrics.ts';
import { listFamilies } from '../../features/telemetry/server-metrics.ts';
import type { Webhooks } from '../../features/webhooks/webhooks.ts';
import type { BackupSchedule } from '../backup/backup-schedule.ts';
import { CommandFailure, type Flags, type Input, UsageError } from '../command.ts';
import { readSettingFile } from './setting-file.ts';
import { readNumber } from './settings.ts';

const HOST = '127.0.0.1';
const MANIFEST = new URL('../../../package.json', import.meta.url);

export const metricsFlags: Flags = {
  'metrics-port': {
    value: 'N', isSetting: true,
    help: `tell figures at http://${HOST}:N/metrics; 0 finds a free one`,
  },
  'metrics-token-file': {
    value: 'FILE', isSetting: true,
    help: 'tell figures at /metrics to whoever sends the token in this file',
  },
};

/** The parts of a server that is there. */
export interface Observed {
  readonly app: App;
  readonly listener: Pick<Listener, 'readMetrics'>;
  readonly store: Store;
  readonly webhooks: Webhooks | undefined;
  readonly backups: BackupSchedule | undefined;
}

interface Metrics {
  /** For the app; undefined where no token was given. */
  readonly page: AppOptions['metrics'] | undefined;
  noteAnswered(entry: AccessLogEntry): void;
  /** Listens where a port was given, and says where. @throws CommandFailure */
  observe(observed: Observed, note: (text: string) => void): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined where nobody asks for figures. @throws UsageError, CommandFailure */
export function readMetrics(
  { flags }: Input, log: Log, report: (entry: ErrorReport) => void,
): Metrics | undefined {
  const portText = flags['metrics-port'];
  const port = portText === undefined
    ? undefined : readNumber('metrics-port', portText, 0, 65_535);
  const token = readToken(flags['metrics-token-file']);
  if (port === undefined && token === undefined) return undefined;
  const own = {
    log, requests: new RequestMetrics(), process: new ProcessMetrics(), version: readVersion(),
  };
  let observed: Observed | undefined;
  let listener: Listener | undefined;
  const list = async (): Promise<Family[]> => {
    if (!observed) throw new AppError('unavailable', 'This server is starting.');
    return listFamilies({ ...own, server: describeServer(observed) });
  };
  return {
    page: token === undefined ? undefined : { answer: guardMetrics(list, token) },
    noteAnswered: (entry) => own.requests.note(entry),
    async observe(parts, note) {
      observed = parts;
      if (port === undefined) return;
      listener = await listen(serveMetrics(list, report), { host: HOST, port })
        .catch(explainPort(port));
      note(`Metrics on http://${HOST}:${listener.port}/metrics`);
    },
    async stop() {
      own.process.close();
      await listener?.stop();
    },
  };
}

function describeServer({ app, listener, store, webhooks, backups }: Observed) {
  return {
    inFlightCount: app.inFlightCount,
    readConnections: listener.readMetrics,
    readStore: store.readMetrics,
    readWebhooks: webhooks?.readMetrics,
    readBackups: backups?.readMetrics,
  };
}

/** @throws UsageError, CommandFailure */
function readToken(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const token = readSettingFile(file).text.trim();
  // RFC 6750 section 2.1
  if (token.length >= METRICS_TOKEN_MIN_CHARACTERS && /^[\w.~+/-]+=*$/.test(token)) return token;
  throw new UsageError('The file of --metrics-token-file has to hold one token, of at least '
    + `${METRICS_TOKEN_MIN_CHARACTERS} letters and digits: make one by "openssl rand -hex 32".`);
}

function readVersion(): string {
  // The cast: it is the manifest of this program, which has a version.
  return (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version;
}

function explainPort(port: number): (error: unknown) => never {
  return (error) => {
    if (!isSystemError(error, 'EADDRINUSE')) throw error;
    throw new CommandFailure(`Port ${port} is taken. Choose another with --metrics-port.`);
  };
}
