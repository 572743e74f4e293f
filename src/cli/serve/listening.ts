/** Where `serve` listens, with or without TLS, and the address that it tells. */
import { isIP } from 'node:net';
import type { App } from '../../app.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import { isLoopback } from '../../domain/network-address.ts';
import type { ConnectionMetrics } from '../../http/server/connections.ts';
import { listen, type Listener } from '../../http/server/listener.ts';
import { createRedirect } from '../../http/server/redirect.ts';
import type { Operator } from '../../feature.ts';
import { CommandFailure, type Flags, type Input, UsageError } from '../command.ts';
import { type CertificateFiles, type ReadCertificate, readCertificate } from './certificate.ts';
import { type HostAndPort, type ListenAddresses, readListenAddresses } from './listen-addresses.ts';

export const listeningFlags: Flags = {
  host: { value: 'ADDRESS', help: `where to listen (default: ${DEFAULT_HOST})`, isSetting: true },
  port: { value: 'N', help: `0 finds a free one (default: ${DEFAULT_PORT})`, isSetting: true },
  socket: { value: 'PATH', help: 'listen on a Unix socket instead', isSetting: true },
  'base-url': {
    value: 'URL', isSetting: true,
    help: 'where clients find it (default: http://HOST:PORT, with TLS https://HOST:PORT)',
  },
  'tls-cert': {
    value: 'FILE', isSetting: true,
    help: 'speak TLS with this certificate (PEM); read anew on SIGHUP',
  },
  'tls-key': { value: 'FILE', help: 'the private key of the certificate (PEM)', isSetting: true },
  'redirect-port': {
    value: 'N', isSetting: true,
    help: 'a port without TLS, from which browsers are led to --base-url',
  },
};

/** They are listened on, but nobody comes to them. */
const ANY = ['0.0.0.0', '::'];

/** The members of an app that a listener needs. */
type Served = Pick<App, 'handle' | 'findMethods'>;

/** How a server is reached, as its settings say. */
interface Listening {
  /** Undefined where nothing says it but the address of each request. */
  readonly baseUrl: string | undefined;
  /** @throws CommandFailure where somebody else listens there */
  open(app: Served, operator: Operator): Promise<OpenListening>;
}

interface OpenListening {
  /** Where it is found. */
  readonly url: string;
  /** What an operator should know of these settings; empty where there is nothing. */
  readonly warnings: readonly string[];
  stop(): Promise<void>;
  /** Of all that it listens on. */
  readMetrics(): ConnectionMetrics;
}

/** @throws UsageError, and CommandFailure where the certificate cannot be used */
export function readListening(
  input: Input, trustedProxies: readonly string[],
): Listening {
  const { flags } = input;
  const places = readListenAddresses(input);
  const files = readFiles(flags['tls-cert'], flags['tls-key']);
  const scheme = files ? 'https' : 'http';
  const baseUrl = readBaseUrl(flags['base-url'])
    ?? (files && isKnown(places.own) ? formatUrl(scheme, places.own) : undefined);
  assertConsistent(places, files, baseUrl);
  const site = baseUrl === undefined ? undefined : new URL(baseUrl);
  const read = files && (() => readCertificate(files, site?.hostname, Date.now()));
  const certificate = read?.();
  const openings = [
    ...places.serving.map((address) => (
      ({ handle, findMethods }: Served) => listen(
        handle, address, { trustedProxies, findMethods, ...(certificate && { certificate }) },
      ))),
    ...places.redirecting.map((address) => (
      () => listen(createRedirect(site?.origin ?? ''), address))),
  ];
  return {
    baseUrl,
    async open(app, operator) {
      const listeners = await openAll(openings.map((open) => () => open(app)), places);
      const forget = read && renewOnSignal(listeners, read, operator);
      const port = listeners[0]?.port ?? 0;
      return {
        url: baseUrl ?? formatUrl(scheme, { host: places.own?.host ?? '', port }),
        warnings: certificate?.warnings ?? warnOfNetwork(listeners),
        async stop() {
          forget?.();
          await Promise.all(listeners.map((listener) => listener.stop()));
        },
        readMetrics: () => sumFigures(listeners),
      };
    },
  };
}

/** @throws UsageError */
function assertConsistent(
  { own, redirecting }: ListenAddresses, files: CertificateFiles | undefined,
  baseUrl: string | undefined,
): void {
  if (!own && baseUrl === undefined) {
    throw new UsageError('Without a port of its own it needs --base-url: where clients find it.');
  }
  if (files && baseUrl?.startsWith('http:')) {
    throw new UsageError('With --tls-cert, --base-url begins with https.');
  }
  if (redirecting.length > 0 && !(files && baseUrl !== undefined)) {
    throw new UsageError('--redirect-port needs --tls-cert, and --base-url to lead to.');
  }
}

function readFiles(
  certFile: string | undefined, keyFile: string | undefined,
): CertificateFiles | undefined {
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new UsageError('--tls-cert and --tls-key go together.');
}

function readBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && !url.search && !url.hash && !url.username;
  if (isPlain && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new UsageError(`--base-url takes an address such as https://shop.example, not "${text}".`);
}

/** Whether an address is one that clients can come to, before the server listens. */
function isKnown(own: HostAndPort | undefined): own is HostAndPort {
  return own !== undefined && own.port > 0 && !ANY.includes(own.host);
}

/** Without the port where it is the usual one. */
function formatUrl(scheme: string, { host, port }: HostAndPort): string {
  return new URL(`${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`).origin;
}

/** All of them, or none. @throws CommandFailure */
async function openAll(
  openings: readonly (() => Promise<Listener>)[], places: ListenAddresses,
): Promise<Listener[]> {
  const listeners: Listener[] = [];
  try {
    for (const open of openings) listeners.push(await open());
    return listeners;
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.stop()));
    throw explainFailure(error, places);
  }
}

/**
 * Reads the certificate anew whenever the operator asks for it. One that cannot be used is told,
 * and the one that is there stays. What it returns ends that.
 */
function renewOnSignal(
  listeners: readonly Listener[], read: () => ReadCertificate, { note, warn }: Operator,
): () => void {
  const renew = (): void => {
    try {
      const certificate = read();
      for (const listener of listeners) listener.renew(certificate);
      note(`The certificate was read anew: ${certificate.description}.`);
      for (const warning of certificate.warnings) warn(warning);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      warn(`${error.message} The certificate that this server has stays.`);
    }
  };
  process.on('SIGHUP', renew);
  return () => { process.off('SIGHUP', renew); };
}

function sumFigures(listeners: readonly Listener[]): ConnectionMetrics {
  const sum = { open: 0, receivedBytes: 0, sentBytes: 0, unreadable: 0 };
  for (const listener of listeners) {
    const figures = listener.readMetrics();
    sum.open += figures.open;
    sum.receivedBytes += figures.receivedBytes;
    sum.sentBytes += figures.sentBytes;
    sum.unreadable += figures.unreadable;
  }
  return sum;
}

function warnOfNetwork(listeners: readonly Listener[]): string[] {
  if (listeners.every(({ host }) => host === '' || isLoopback(host))) return [];
  return ['This address is not encrypted: give --tls-cert and --tls-key, or put a server that'
    + ' speaks TLS before it.'];
}

function explainFailure(error: unknown, { own }: ListenAddresses): unknown {
  if (!(error instanceof Error && 'code' in error && 'port' in error)) return error;
  const { code, port } = error;
  if (code === 'EADDRINUSE') {
    const flag = port === own?.port ? 'port' : 'redirect-port';
    return new CommandFailure(`Port ${port} is taken. Choose another with --${flag}.`);
  }
  if (code === 'EACCES') {
    return new CommandFailure(`The user that runs this server may not listen on port ${port}.`
      + ' Choose one from 1024 on, or let systemd pass the socket.');
  }
  return error;
}
