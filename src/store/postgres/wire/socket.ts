/**
 * Opens the socket to a server: TCP or a Unix socket, then TLS before anything else is sent
 * (PostgreSQL manual, "SSL Session Encryption"). Bytes that arrive before TLS are rejected, since
 * anybody can inject them (CVE-2021-23222). Also sends requests to cancel a statement.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, isIP, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import * as tls from 'node:tls';
import { ProtocolError } from './errors.ts';
import { POSTGRES_CONNECT_TIMEOUT_MS, POSTGRES_KEEP_ALIVE_MS } from './limits.ts';
import { MessageWriter } from './message-writer.ts';

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;

export interface Server {
  /** A name, an address, or the folder of a Unix socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
  /** As in libpq. `require` encrypts, but does not check who answers. A Unix socket has no TLS. */
  readonly sslMode: 'disable' | 'require' | 'verify-ca' | 'verify-full';
  /** Paths of PEM files; `system` is the system's store. Default: the authorities of Node. */
  readonly sslRootCert?: string | undefined;
  readonly sslCert?: string | undefined;
  readonly sslKey?: string | undefined;
}

/** `connection to server at "db.example", port 5432`, as PostgreSQL's own programs write it. */
export function describeServer(server: Server): string {
  const path = findSocketPath(server);
  return path === undefined ? `connection to server at "${server.host}", port ${server.port}`
    : `connection to server on socket "${path}"`;
}

/** Resolves once everything sent is encrypted, if the mode says so. The signal destroys it. */
export async function openSocket(server: Server, signal: AbortSignal): Promise<Socket> {
  const path = findSocketPath(server);
  const target = path === undefined ? { host: server.host, port: server.port } : { path };
  const socket = addAbortSignal(signal, connect({
    ...target, noDelay: true, keepAlive: true, keepAliveInitialDelay: POSTGRES_KEEP_ALIVE_MS,
  }));
  try {
    await once(socket, 'connect');
    if (path !== undefined || server.sslMode === 'disable') return socket;
    await requestTls(socket);
    const secure = addAbortSignal(signal, tls.connect({ socket, ...await readTlsOptions(server) }));
    await once(secure, 'secureConnect');
    return secure;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Asks the server to cancel what a connection executes. Nothing tells whether it did. */
export async function requestCancel(server: Server, backendKey: Buffer): Promise<void> {
  const signal = AbortSignal.timeout(POSTGRES_CONNECT_TIMEOUT_MS);
  const socket = await openSocket(server, signal);
  socket.write(new MessageWriter().message('', CANCEL_REQUEST, backendKey).take());
  socket.resume(); // until the server has read it: a pooler drops the request of a client that left
  await once(socket, 'close');
}

/** Undefined for TCP. */
function findSocketPath({ host, port }: Server): string | undefined {
  return host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : undefined;
}

async function requestTls(socket: Socket): Promise<void> {
  socket.write(new MessageWriter().message('', SSL_REQUEST).take());
  await once(socket, 'readable'); // also emitted at the end
  const answer = String(socket.read() ?? '');
  if (answer === 'S') return;
  if (answer === 'N') throw new Error('server does not support SSL, but SSL was required');
  throw new ProtocolError(answer === '' ? 'server closed the connection unexpectedly'
    : 'received invalid or unencrypted data in response to SSL negotiation');
}

async function readTlsOptions(server: Server): Promise<tls.ConnectionOptions> {
  const { host, sslMode, sslRootCert, sslCert, sslKey } = server;
  return {
    host, // compared with the certificate
    servername: isIP(host) === 0 ? host : '',
    minVersion: 'TLSv1.2', ALPNProtocols: ['postgresql'],
    rejectUnauthorized: sslMode !== 'require',
    // Not imported by name: see embed/supported-node.ts.
    ca: sslRootCert === 'system' ? tls.getCACertificates('system')
      : sslRootCert && await readFile(sslRootCert),
    cert: sslCert && await readFile(sslCert),
    key: sslKey && await readFile(sslKey),
    ...(sslMode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}
