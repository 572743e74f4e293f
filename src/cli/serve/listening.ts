/** Opens the listeners of `serve`, with or without TLS, and determines the URL for clients. */
import { isIP } from 'node:net';
import type { App } from '../../app.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import { isLoopback } from '../../domain/network-address.ts';
import type { ConnectionMetrics } from '../../http/server/connections.ts';
import { listen, type Listener } from '../../http/server/listener.ts';
import { createRedirect } from '../../http/server/redirect.ts';
import type { Operator } from '../../feature.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { CommandFailure, type Flags, type Input, setting, UsageError } from '../command.ts';
import { readUrl } from '../settings.ts';
import { type CertificateFiles, type ReadCertificate, readCertificate } from './certificate.ts';
import { type HostAndPort, type ListenAddresses, readListenAddresses } from './listen-addresses.ts';

export const listeningFlags: Flags = {
  host: setting('ADDRESS', `address to listen on (default: ${DEFAULT_HOST})`),
  port: setting('N', `port to listen on; 0 picks a free one (default: ${DEFAULT_PORT})`),
  socket: setting('PATH', 'listen on a Unix socket instead'),
  'base-url': setting('URL',
    'public URL of the server (default: http://HOST:PORT, with TLS https://HOST:PORT)'),
  'tls-cert': setting('FILE', 'serve TLS with this certificate chain (PEM); reloaded on SIGHUP'),
  'tls-key': setting('FILE', 'private key of the certificate (PEM)'),
  'redirect-port': setting('N', 'a port without TLS that redirects browsers to --base-url'),
  'trusted-proxies': setting('LIST',
    'proxies whose forwarding headers are trusted; "unix" for clients of the Unix socket'),
};

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
  const read = files && (() => readCertificate(files, hostname, Date.now()));
  const certificate = read?.();
  return {
    /** Undefined if clients find the server at the address of each request. */
    baseUrl,
    /** @throws CommandFailure if a port is taken or not permitted */
    async open({ handle, findMethods }: Served, operator: Operator) {
      const options = { trustedProxies, findMethods, ...(certificate && { certificate }) };
      const listeners = await openAll([
        ...serving.map((address) => () => listen(handle, address, options)),
        ...redirecting.map((address) => () => listen(createRedirect(origin), address)),
      ], own);
      const stopReloading = read && reloadOnSignal(listeners, read, operator);
      const port = listeners[0]?.port ?? 0;
      return {
        /** The URL of the server. */
        url: baseUrl ?? formatUrl(scheme, { host: own?.host ?? '', port }),
        /** Problems with the settings, for the operator. */
        warnings: certificate?.warnings ?? warnOfPlainHttp(listeners),
        async stop(): Promise<void> {
          stopReloading?.();
          await Promise.all(listeners.map((listener) => listener.stop()));
        },
        readMetrics: () => sumMetrics(listeners),
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
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new UsageError('--tls-cert and --tls-key must be given together.');
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
