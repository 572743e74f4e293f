/**
 * The HTTP server around a handler: sets every protocol limit explicitly, answers unparsable
 * requests, and drains in-flight requests when it stops.
 */
import type { RequestListener, Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { readArgument } from '../../domain/arguments.ts';
import { isLoopback } from '../../domain/network-address.ts';
import { integerValidator } from '../../domain/validation.ts';
import { createServer } from '../../runtime/node-http.ts';
import { type BindAddress, bind } from './bind.ts';
import { makeTrustedProxies } from '../request/client-address.ts';
import { type ConnectionMetrics, limitConnections } from './connections.ts';
import {
  CONNECTIONS_CHECK_INTERVAL_MS, HEADER_COUNT_LIMIT, HEADER_LIMIT_BYTES, HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS, STALL_TIMEOUT_MS, STOP_TIMEOUT_LIMIT_MS, STOP_TIMEOUT_MS,
} from '../limits.ts';
import { LingeringConnections } from './lingering-close.ts';
import { type FindMethods, handleRequests } from './request-rejections.ts';
import { type Certificate, createTlsServer, renewCertificate, withStrictTransport } from './tls.ts';

/** How to listen. */
export interface ListenOptions {
  /** As for the app; these addresses may have any number of connections. Default: none. */
  readonly trustedProxies?: readonly string[];
  /**
   * Time between requests on a connection, from 1,000 to 3,600,000 ms; a proxy should close
   * earlier. Default: 75,000.
   */
  readonly keepAliveTimeoutMs?: number;
  /** Makes the server speak TLS only. */
  readonly certificate?: Certificate;
}

/** The options of a program, and what an app adds. */
interface AppListenOptions extends ListenOptions {
  /** The app's `findMethods`. Without it, methods unknown to Node get 501. */
  readonly findMethods?: FindMethods;
}

/** How to stop a listener, or close a shop. */
export interface StopOptions {
  /**
   * Time for what is in flight, in milliseconds: 0 to 86,400,000. Default: 8,000, as when `serve`
   * stops.
   */
  readonly deadlineMs?: number;
}

/** A server that listens. */
export interface Listener {
  /** The address on which it listens; empty for a Unix socket. */
  readonly host: string;
  /** The port on which it listens; 0 for a Unix socket. */
  readonly port: number;
  /**
   * Stops accepting, and answers requests on connections that it has accepted; these close after
   * their response, or once they are idle. Resets remaining ones at the deadline; of several calls,
   * the earliest deadline counts.
   * @throws AppError `invalid_data`
   * @example
   * ```ts
   * const listener = await shop.listen({ host: '127.0.0.1', port: 0 });
   * await listener.stop({ deadlineMs: 1_000 });
   * ```
   */
  stop(options?: StopOptions): Promise<void>;
  /**
   * Uses another certificate for new connections; existing ones continue.
   * @example
   * ```ts
   * import { readFileSync } from 'node:fs';
   *
   * listener.renew({
   *   cert: readFileSync('cert.pem', 'utf8'), key: readFileSync('key.pem', 'utf8'),
   * });
   * ```
   */
  renew(certificate: Certificate): void;
  /**
   * Connections and bytes since the listener started.
   * @example
   * ```ts
   * const { open, sentBytes } = listener.readMetrics();
   * ```
   */
  readMetrics(): ConnectionMetrics;
}

/**
 * How often a stopping server closes connections that have been idle since the last time: a request
 * may arrive on a connection that was accepted or used a moment ago.
 */
const STOP_CHECK_INTERVAL_MS = 50;

const UNIX_SOCKET = { address: '', port: 0 };

/** Resolves when the server listens; rejects with the system's error if it cannot. */
export async function listen(
  handle: RequestListener, address: BindAddress,
  {
    trustedProxies = [], certificate, findMethods, keepAliveTimeoutMs = KEEP_ALIVE_TIMEOUT_MS,
  }: AppListenOptions = {},
): Promise<Listener> {
  const options = {
    insecureHTTPParser: false,
    requireHostHeader: false, // Node would reject without a body; strict-request.ts checks it
    maxHeaderSize: HEADER_LIMIT_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0, // an import may take hours: the reader of each body has its own timeout
    connectionsCheckingInterval: CONNECTIONS_CHECK_INTERVAL_MS,
    keepAliveTimeout: keepAliveTimeoutMs,
    noDelay: true,
  };
  const server = certificate ? createTlsServer(certificate, options) : createServer(options);
  server.maxHeadersCount = HEADER_COUNT_LIMIT;
  const proxies = makeTrustedProxies(trustedProxies);
  const lingering = new LingeringConnections();
  const connections = limitConnections(server, lingering, {
    isProxy: (peer) => isLoopback(peer) || proxies.has(peer),
  });
  server.setTimeout(STALL_TIMEOUT_MS); // for clients that do not read their responses
  let unreadable = 0;
  let stopping: Promise<void> | undefined;
  const closeIfStopping: RequestListener = (request, response) => {
    if (stopping) response.shouldKeepAlive = false;
    handle(request, response);
  };
  handleRequests(server, certificate ? withStrictTransport(closeIfStopping) : closeIfStopping, {
    idle: connections.idle, lingering, findMethods, onUnreadable: () => { unreadable += 1; },
  });
  const release = await bind(server, address);
  const bound = server.address(); // a string for a Unix socket
  const { address: host, port } = typeof bound === 'object' && bound ? bound : UNIX_SOCKET;
  return {
    host, port,
    async stop(stopOptions) {
      const deadlineMs = readDeadline(stopOptions);
      if (!stopping) {
        release();
        lingering.stop();
        stopping = stop(server, connections);
      }
      const overdue = setTimeout(connections.resetAll, deadlineMs);
      await stopping.finally(() => clearTimeout(overdue));
    },
    renew: (renewed) => renewCertificate(server, renewed),
    readMetrics: () => ({ ...connections.readMetrics(), unreadable }),
  };
}

/** @throws AppError `invalid_data` */
export function readDeadline(options: unknown = {}, method = 'stop'): number {
  const { deadlineMs = STOP_TIMEOUT_MS } =
    readArgument<StopOptions>(options, method, { deadlineMs: parseDeadline });
  return deadlineMs;
}

const parseDeadline = integerValidator(0, STOP_TIMEOUT_LIMIT_MS).parse;

function stop(
  server: Server, { idle, closeSilent }: ReturnType<typeof limitConnections>,
): Promise<void> {
  return new Promise((resolve) => {
    let idleSince = performance.now();
    const closeIdle = setInterval(() => {
      while (idle.closeLongest(idleSince));
      closeSilent();
      idleSince = performance.now();
    }, STOP_CHECK_INTERVAL_MS);
    // That of Node's HTTP server would close idle connections at once.
    NetServer.prototype.close.call(server, () => {
      clearInterval(closeIdle);
      server.close(); // clears its timers
      resolve();
    });
  });
}
