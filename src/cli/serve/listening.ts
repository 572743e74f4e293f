/** Opens the listeners of `serve`, with or without TLS, and determines the URL for clients. */
import { closeSync, openSync } from 'node:fs';
import { isIP } from 'node:net';
import { devNull } from 'node:os';
import { resolve } from 'node:path';
import type { App } from '../../app.ts';
import {
  DEFAULT_HOST, DEFAULT_PORT, FILE_LIMIT_CHECK_INTERVAL_MS, FILE_LIMIT_CHECKS_SKIPPED, PORT_RANGE,
} from '../limits.ts';
import { isLoopback } from '../../domain/network-address.ts';
import { findDuration } from '../../domain/time.ts';
import { KEEP_ALIVE_TIMEOUT_LIMIT_MS, KEEP_ALIVE_TIMEOUT_MS } from '../../http/limits.ts';
import type { ConnectionMetrics } from '../../http/server/connections.ts';
import { listen, type Listener } from '../../http/server/listener.ts';
import { createRedirect } from '../../http/server/redirect.ts';
import type { Operator } from '../../feature.ts';
import { gauge } from '../../runtime/metric-family.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { CommandFailure, type Flags, type Input, setting, UsageError } from '../command.ts';
import { readUrl } from '../settings.ts';
import { type CertificateFiles, type ReadCertificate, readCertificate } from './certificate.ts';
import { type HostAndPort, type ListenAddresses, readListenAddresses } from './listen-addresses.ts';

export const listeningFlags = {
  host: setting('ADDRESS', `address to listen on (default: ${DEFAULT_HOST})`),
  port: setting('N', `port to listen on; 0 picks a free one (default: ${DEFAULT_PORT})`,
    PORT_RANGE),
  socket: setting('PATH', 'listen on a Unix socket instead'),
  'base-url': setting('URL',
    'public URL of the server (default: http://HOST:PORT, with TLS https://HOST:PORT)'),
  'tls-cert': setting('FILE', 'serve TLS with this certificate chain (PEM); reloaded on SIGHUP'),
  'tls-key': setting('FILE', 'private key of the certificate (PEM)'),
  'redirect-port': setting('N', 'a port without TLS that redirects browsers to --base-url',
    PORT_RANGE),
  'keep-alive': setting('DURATION',
    `time between requests on a connection (default: ${KEEP_ALIVE_TIMEOUT_MS / 1000}s)`),
  'trusted-proxies': setting('LIST',
    'proxies whose forwarding headers are trusted; "unix" for clients of the Unix socket'),
} satisfies Flags;

/** Addresses to listen on, but not to connect to. */
const WILDCARDS = ['0.0.0.0', '::'];

type Served = Pick<App, 'handle' | 'findMethods'>;

/** @throws UsageError; CommandFailure if the certificate cannot be used */
export function readListening(input: Input, trustedProxies: readonly string[]) {
  const { flags } = input;
  const addresses = readListenAddresses(input);
  const { own, serving, redirecting } = addresses;
  const files = readFiles(flags);
  const scheme = files ? 'https' : 'http';
  // True if clients can connect to this address and it is known before the server listens.
  const isKnown = own && own.port > 0 && !WILDCARDS.includes(own.host);
  const baseUrl = readUrl(flags, 'base-url')
    ?? (files && isKnown ? formatUrl(scheme, own) : undefined);
  assertBaseUrl(baseUrl, addresses, files !== undefined);
  const { hostname, origin = '' } = URL.parse(baseUrl ?? '') ?? {};
  let certificate: ReadCertificate | undefined; // the loaded one
  const read = files && (() => certificate = readCertificate(files, hostname, Date.now()));
  read?.();
  const keepAliveTimeoutMs = readKeepAlive(flags);
  return {
    /** Undefined if clients find the server at the address of each request. */
    baseUrl,
    /** @throws CommandFailure if a port is taken or not permitted */
    async open({ handle, findMethods }: Served, operator: Operator) {
      const options = {
        trustedProxies, findMethods, keepAliveTimeoutMs, ...(certificate && { certificate }),
      };
      const listeners = await openAll([
        ...serving.map((address) => () => listen(handle, address, options)),
        ...redirecting.map((address) => () => listen(createRedirect(origin), address)),
      ], own);
      const fileLimit = watchFileLimit(operator.warn);
      const stopReloading = read && reloadOnSignal(listeners, read, operator);
      const port = listeners[0]?.port ?? 0;
      return {
        /** The URL of the server. */
        url: baseUrl ?? formatUrl(scheme, { host: own?.host ?? '', port }),
        /** Problems with the settings, for the operator. */
        warnings: certificate?.warnings ?? warnOfPlainHttp(listeners),
        async stop(): Promise<void> {
          clearInterval(fileLimit);
          stopReloading?.();
          await Promise.all(listeners.map((listener) => listener.stop()));
        },
        readMetrics: () => sumMetrics(listeners),
        listMetrics: () => (!certificate ? [] : [gauge('tls_certificate_expiry_timestamp_seconds',
          'Unix time when the loaded certificate expires.', certificate.expiresAt / 1000)]),
      };
    },
  };
}

/** @throws UsageError */
function assertBaseUrl(
  baseUrl: string | undefined, { own, redirecting }: ListenAddresses, isEncrypted: boolean,
): void {
  if (!own && baseUrl === undefined) {
    throw new UsageError('Without a port of its own, the server needs --base-url.');
  }
  if (isEncrypted && baseUrl?.startsWith('http:')) {
    throw new UsageError('With --tls-cert, --base-url must begin with https.');
  }
  if (redirecting.length > 0 && !(isEncrypted && baseUrl !== undefined)) {
    throw new UsageError('--redirect-port needs --tls-cert and --base-url.');
  }
}

/** @throws UsageError */
function readFiles(flags: Input['flags']): CertificateFiles | undefined {
  const { 'tls-cert': certFile, 'tls-key': keyFile } = flags;
  if (certFile !== undefined && keyFile !== undefined) {
    return { certFile: resolve(certFile), keyFile: resolve(keyFile) };
  }
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new UsageError('--tls-cert and --tls-key must be given together.');
}

/** @throws UsageError */
function readKeepAlive({ 'keep-alive': text }: Input['flags']): number {
  if (text === undefined) return KEEP_ALIVE_TIMEOUT_MS;
  const timeoutMs = findDuration(text) ?? 0;
  if (timeoutMs > 0 && timeoutMs <= KEEP_ALIVE_TIMEOUT_LIMIT_MS) return timeoutMs;
  throw new UsageError('--keep-alive takes a duration from 1s to 60m.');
}

/** The URL of an address, without the default port of its scheme. */
function formatUrl(scheme: string, { host, port }: HostAndPort): string {
  return new URL(`${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`).origin;
}

/** Opens all listeners or none. @throws CommandFailure */
async function openAll(
  openings: readonly (() => Promise<Listener>)[], own: HostAndPort | undefined,
): Promise<Listener[]> {
  const listeners: Listener[] = [];
  try {
    for (const open of openings) listeners.push(await open());
    return listeners;
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.stop()));
    if (!(error instanceof Error && 'port' in error)) throw error;
    const { port } = error;
    if (isSystemError(error, 'EADDRINUSE')) {
      const flag = port === own?.port ? 'port' : 'redirect-port';
      throw new CommandFailure(`Port ${port} is taken. Choose another with --${flag}.`);
    }
    if (!isSystemError(error, 'EACCES')) throw error;
    throw new CommandFailure(`The user that runs this server may not listen on port ${port}.`
      + ' Choose one from 1024, or let systemd pass the socket.');
  }
}

/**
 * Reloads the certificate on SIGHUP; an unusable one is not taken. Returns a function that stops
 * reloading.
 */
function reloadOnSignal(
  listeners: readonly Listener[], read: () => ReadCertificate, { note, warn }: Operator,
): () => void {
  const reload = (): void => {
    try {
      const certificate = read();
      for (const listener of listeners) listener.renew(certificate);
      note(`Reloaded the certificate: ${certificate.description}.`);
      for (const warning of certificate.warnings) warn(warning);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      warn(`${error.message} The current certificate stays in use.`);
    }
  };
  process.on('SIGHUP', reload);
  return () => { process.off('SIGHUP', reload); };
}

/**
 * A process that has reached its limit of open files accepts connections only to close them: libuv
 * does so, and reports nothing to Node.
 */
function watchFileLimit(warn: (text: string) => void): NodeJS.Timeout {
  let skipped = 0;
  return setInterval(() => {
    if ((skipped -= 1) >= 0) return;
    try {
      closeSync(openSync(devNull, 'r'));
    } catch (error) {
      if (!isSystemError(error, 'EMFILE', 'ENFILE')) return;
      skipped = FILE_LIMIT_CHECKS_SKIPPED;
      warn('This server has reached its limit of open files, and closes new connections. Raise the '
        + 'limit: "ulimit -n", or LimitNOFILE= in the systemd unit.');
    }
  }, FILE_LIMIT_CHECK_INTERVAL_MS).unref();
}

function sumMetrics(listeners: readonly Listener[]): ConnectionMetrics {
  const all = listeners.map((listener) => listener.readMetrics());
  const sum = (name: keyof ConnectionMetrics): number =>
    all.reduce((total, metrics) => total + metrics[name], 0);
  return {
    open: sum('open'), receivedBytes: sum('receivedBytes'), sentBytes: sum('sentBytes'),
    unreadable: sum('unreadable'),
  };
}

function warnOfPlainHttp(listeners: readonly Listener[]): string[] {
  if (listeners.every(({ host }) => host === '' || isLoopback(host))) return [];
  return ['Connections are not encrypted. Use --tls-cert and --tls-key, or a proxy with TLS.'];
}
