/**
 * Where the metrics of a server are served: on a port that only this machine reaches, or beside
 * the API to clients that have a token. Without either setting nothing is counted.
 */
import { readFileSync } from 'node:fs';
import { AppError } from '../../domain/error.ts';
import type { Operator, Pages, RunningServer, Settings } from '../../feature.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import { listen, type Listener } from '../../http/server/listener.ts';
import type { MetricFamily } from '../../runtime/metric-family.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { METRICS_HOST, METRICS_TOKEN_MIN_CHARACTERS } from './limits.ts';
import type { Log } from './log.ts';
import { guardMetrics, serveMetrics } from './metrics-page.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { listFamilies } from './server-metrics.ts';

const MANIFEST = new URL('../../../package.json', import.meta.url);
const PORT_LIMIT = 65_535;

interface Metrics {
  /** For the app; undefined if no token is given. */
  readonly pages: Pages | undefined;
  count(entry: AccessLogEntry): void;
  /** Listens if a port is given. @throws AppError `unavailable` if it is taken */
  serve(server: RunningServer, operator: Operator): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined if no setting asks for metrics. @throws AppError `invalid_data` */
export function readMetrics(settings: Settings, log: Log): Metrics | undefined {
  const port = settings.readNumber('metrics-port', PORT_LIMIT);
  const token = readToken(settings);
  if (port === undefined && token === undefined) return undefined;
  const own = {
    log, requests: new RequestMetrics(), process: new ProcessMetrics(), version: readVersion(),
  };
  let running: RunningServer | undefined;
  let listener: Listener | undefined;
  const list = async (): Promise<MetricFamily[]> => {
    if (!running) throw new AppError('unavailable', 'This server is starting.');
    return listFamilies({ ...own, server: running });
  };
  return {
    pages: token === undefined ? undefined : guardMetrics(list, token),
    count: (entry) => own.requests.note(entry),
    async serve(server, { note, report }) {
      running = server;
      if (port === undefined) return;
      listener = await listen(serveMetrics(list, report), { host: METRICS_HOST, port })
        .catch(explainPort(port));
      note(`Metrics on http://${METRICS_HOST}:${listener.port}/metrics`);
    },
    async stop() {
      own.process.close();
      await listener?.stop();
    },
  };
}

/** @throws AppError `invalid_data` */
function readToken(settings: Settings): string | undefined {
  const token = settings.readFile('metrics-token-file')?.trim();
  if (token === undefined) return undefined;
  // RFC 6750 section 2.1
  if (token.length >= METRICS_TOKEN_MIN_CHARACTERS && /^[\w.~+/-]+=*$/.test(token)) return token;
  throw new AppError('invalid_data', 'The file of --metrics-token-file has to hold one token, of'
    + ` at least ${METRICS_TOKEN_MIN_CHARACTERS} letters and digits: make one with`
    + ' "openssl rand -hex 32".');
}

function readVersion(): string {
  // The cast: it is the manifest of this program, which has a version.
  return (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version;
}

function explainPort(port: number): (error: unknown) => never {
  return (error) => {
    if (!isSystemError(error, 'EADDRINUSE')) throw error;
    throw new AppError('unavailable', `Port ${port} is taken. Choose another with --metrics-port.`);
  };
}
