/**
 * Connects the log (on stderr; SIGUSR2 changes its level) and the metrics to `serve`. Prometheus
 * reads `/metrics` on a separate loopback port, or on the API's port with a token (RFC 6750).
 * Without either setting the server counts nothing. Requests from web pages are rejected.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { AppError } from '../../domain/error.ts';
import { formatSellerId } from '../../domain/id.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { LoadedFeature, Operator, Pages, RunningServer, Settings } from '../../feature.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import { DEFAULT_LOG_LEVEL, Log, type LogLevel, logRequest } from './log.ts';
import {
  LOGGED_SECURITY_EVENTS_PER_MINUTE, METRICS_HOST, METRICS_TOKEN_MIN_CHARACTERS,
} from './limits.ts';
import { isFromWebPage } from '../../http/request/client-address.ts';
import {
  createProblem, describeError, type ErrorReporter, replyWithProblem,
} from '../../http/response/problem.ts';
import { type Reply, sendReply } from '../../http/response/reply.ts';
import { methodNotAllowedDetail } from '../../http/router.ts';
import { LingeringConnections } from '../../http/server/lingering-close.ts';
import { listen, type Listener } from '../../http/server/listener.ts';
import { isLoopbackHost } from '../../http/server/tls.ts';
import { makeRateLimiter } from '../../runtime/rate-limiter.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { formatFamilies, METRICS_TYPE } from './prometheus.ts';
import { ServerMetrics } from './server-metrics.ts';

const PATH = '/metrics';
const METHODS = ['GET', 'HEAD'];

/** Collects the metrics and formats them. @throws AppError `unavailable` during startup */
type ReadMetrics = () => Promise<string>;

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
  // The cast: these are its choices.
  const log = new Log(process.stderr, (level ?? DEFAULT_LOG_LEVEL) as LogLevel, Date.now);
  const notice = (name: 'info' | 'warn') => (message: string): void => {
    if (level === undefined) plain.note(message);
    else log.write(name, 'notice', { message });
  };
  const metrics = createMetricsEndpoint(settings, log);
  const securityEvents = makeRateLimiter(
    { limit: LOGGED_SECURITY_EVENTS_PER_MINUTE, windowMs: MINUTE_MS }, 1, () => performance.now(),
  );
  const onRequestComplete = (entry: AccessLogEntry): void => {
    metrics?.count(entry);
    logRequest(log, entry);
  };
  return {
    operator: {
      note: notice('info'),
      warn: notice('warn'),
      report: ({ id, error }) => log.write('error', 'error', { id, error: describeError(error) }),
      get onRequestComplete() {
        return metrics || log.has('warn') ? onRequestComplete : undefined;
      },
      onSecurityEvent({ securityEvent = '', sellerId, accountId: account }) {
        if (!securityEvents.take('').isAllowed) return;
        const seller = sellerId === undefined ? undefined : formatSellerId(sellerId);
        log.writeSecurityEvent(securityEvent, { seller, account });
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

/** Undefined if no setting enables metrics. @throws AppError `invalid_data` */
function createMetricsEndpoint(settings: Settings, log: Log) {
  const port = settings.readNumber('metrics-port');
  const token = readToken(settings);
  if (port === undefined && token === undefined) return undefined;
  const metrics = new ServerMetrics(log);
  let running: RunningServer | undefined;
  let listener: Listener | undefined;
  const read = async (): Promise<string> => {
    if (!running) throw new AppError('unavailable', 'The server is starting.');
    return formatFamilies(await metrics.list(running));
  };
  return {
    /** For the app; undefined without a token. */
    pages: token === undefined ? undefined : guardMetrics(read, token),
    count: (entry: AccessLogEntry) => metrics.count(entry),
    /** Listens on the metrics port, if set. @throws AppError `unavailable` if the port is taken */
    async serve(server: RunningServer, { note, report }: Operator): Promise<void> {
      running = server;
      if (port === undefined) return;
      listener = await listen(serveMetrics(read, report), { host: METRICS_HOST, port })
        .catch((error: unknown) => {
          if (!isSystemError(error, 'EADDRINUSE')) throw error;
          const detail = `Port ${port} is taken. Choose another with --metrics-port.`;
          throw new AppError('unavailable', detail);
        });
      note(`Metrics on http://${METRICS_HOST}:${listener.port}${PATH}`);
    },
    async stop(): Promise<void> {
      metrics.close();
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
  throw new AppError('invalid_data', 'The file of --metrics-token-file must contain one token of at'
    + ` least ${METRICS_TOKEN_MIN_CHARACTERS} letters and digits. Create one with`
    + ' "openssl rand -hex 32".');
}

/** `/metrics` on the API's port, for clients with the token. */
function guardMetrics(read: ReadMetrics, token: string): Pages {
  const digest = hash('sha256', token, 'buffer');
  return {
    isFor: (path) => path === PATH,
    findMethods: async () => METHODS,
    async answer({ request, record }) {
      record.route = PATH;
      if (isFromWebPage(request.headers)) return rejectWebPage();
      const { authorization } = request.headers;
      const [, bearerToken] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization ?? '') ?? [];
      // Hashes have equal lengths, so the time reveals nothing about the token.
      const isRight = timingSafeEqual(hash('sha256', bearerToken ?? '', 'buffer'), digest);
      if (!isRight) return rejectToken(authorization);
      return replyWithMetrics(request, read);
    },
  };
}

/** `/metrics` on the separate loopback port. */
function serveMetrics(read: ReadMetrics, report: ErrorReporter): RequestListener {
  const lingering = new LingeringConnections();
  return async (request, response) => {
    const reply = await replyLocally(request, read)
      .catch((error) => createProblem(error, report));
    lingering.lingerAfter(response, reply);
    void sendReply(response, reply);
  };
}

async function replyLocally(request: IncomingMessage, read: ReadMetrics): Promise<Reply> {
  const { url = '', headers } = request;
  if (isFromWebPage(headers)) return rejectWebPage();
  // A web page in a local browser could use a foreign host name (DNS rebinding).
  const { host = '' } = headers;
  if (!isLoopbackHost(host) || !/^\/metrics(?:\?|$)/.test(url)) {
    throw new AppError('not_found', `This port serves only http://${METRICS_HOST}${PATH}.`);
  }
  return replyWithMetrics(request, read);
}

async function replyWithMetrics(
  { method = '' }: IncomingMessage, read: ReadMetrics,
): Promise<Reply> {
  if (!METHODS.includes(method)) {
    const detail = methodNotAllowedDetail(METHODS.join(', '));
    throw new AppError('method_not_allowed', detail, { allow: METHODS });
  }
  const headers = { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' };
  return { status: 200, headers, body: await read() };
}

function rejectToken(authorization: string | undefined): Reply {
  const error = authorization === undefined ? '' : ', error="invalid_token"';
  const detail = 'Send the metrics token as "authorization: Bearer ...".';
  return replyWithProblem(401, 'token-refused', 'The token is not valid', detail, {
    'www-authenticate': `Bearer realm="metrics"${error}`,
  });
}

function rejectWebPage(): Reply {
  const detail = 'A web page sent this request. Scrape the metrics with Prometheus instead.';
  return replyWithProblem(403, 'web-page-rejected', 'Metrics are not for web pages', detail);
}
