/**
 * The HTTP server around a handler: sets every protocol limit explicitly, answers unparsable
 * requests, and drains in-flight requests when it stops.
 */
import type { RequestListener, Server } from 'node:http';
import { isLoopback } from '../../domain/network-address.ts';
import { createServer } from '../../runtime/node-http.ts';
import { type BindAddress, bind } from './bind.ts';
import { TrustedProxies } from '../request/client-address.ts';
import { type ConnectionMetrics, limitConnections } from './connections.ts';
import {
  CONNECTIONS_CHECK_INTERVAL_MS, HEADER_COUNT_LIMIT, HEADER_LIMIT_BYTES,
  HEADERS_TIMEOUT_MS, KEEP_ALIVE_TIMEOUT_MS, STALL_TIMEOUT_MS, STOP_TIMEOUT_MS,
} from '../limits.ts';
import { LingeringConnections } from './lingering-close.ts';
import { type FindMethods, handleRequests } from './request-rejections.ts';
import { type Certificate, createTlsServer, renewCertificate, withStrictTransport } from './tls.ts';

export interface ListenOptions {
  /** The app's `findMethods`. Without it, methods unknown to Node get 501. */
  readonly findMethods?: FindMethods;
  /** As for the app; these addresses may have any number of connections. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Makes the server speak TLS only. */
  readonly certificate?: Certificate;
}

export interface Listener {
  /** The address on which it listens; empty for a Unix socket. */
  readonly host: string;
  /** The port on which it listens; 0 for a Unix socket. */
  readonly port: number;
  /** Stops accepting, drains in-flight requests, and closes remaining connections after 8 s. */
  stop(): Promise<void>;
  /** Uses another certificate for new connections; existing ones continue. */
  renew(certificate: Certificate): void;
  readMetrics(): ConnectionMetrics;
}

/** How often a stopping server checks for connections that became idle. */
const STOP_CHECK_INTERVAL_MS = 20;

const UNIX_SOCKET = { address: '', port: 0 };

/** Resolves when the server listens; rejects with the system's error if it cannot. */
export async function listen(
  handle: RequestListener, address: BindAddress,
  { trustedProxies = [], certificate, findMethods }: ListenOptions = {},
): Promise<Listener> {
  const options = {
    insecureHTTPParser: false,
    requireHostHeader: false, // Node would reject without a body; strict-request.ts checks it
    maxHeaderSize: HEADER_LIMIT_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0, // an import may take hours: the reader of each body has its own timeout
    connectionsCheckingInterval: CONNECTIONS_CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    noDelay: true,
  };
  const server = certificate ? createTlsServer(certificate, options) : createServer(options);
  server.maxHeadersCount = HEADER_COUNT_LIMIT;
  const proxies = new TrustedProxies(trustedProxies);
  const lingering = new LingeringConnections();
  const connections = limitConnections(server, lingering, {
    isProxy: (peer) => isLoopback(peer) || proxies.has(peer),
  });
  server.setTimeout(STALL_TIMEOUT_MS); // for clients that do not read their responses
  let unreadable = 0;
  handleRequests(server, certificate ? withStrictTransport(handle) : handle, {
    lingering, findMethods, onUnreadable: () => { unreadable += 1; },
  });
  const release = await bind(server, address);
  const bound = server.address(); // a string for a Unix socket
  const { address: host, port } = typeof bound === 'object' && bound ? bound : UNIX_SOCKET;
  return {
    host, port,
    stop() {
      release();
      lingering.stop();
      return stop(server, connections.closeSilent);
    },
    renew: (renewed) => renewCertificate(server, renewed),
    readMetrics: () => ({ ...connections.readMetrics(), unreadable }),
  };
}

function stop(server: Server, closeSilent: () => void): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = setInterval(() => {
      server.closeIdleConnections();
      closeSilent();
    }, STOP_CHECK_INTERVAL_MS);
    const closeAll = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS);
    server.close(() => {
      clearInterval(closeIdle);
      clearTimeout(closeAll);
      resolve();
    });
  });
}
