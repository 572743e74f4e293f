/**
 * Where `serve` listens: on ports, on a Unix socket, or on sockets passed by systemd
 * (sd_listen_fds(3)); how systemd learns that it does (sd_notify(3)); and which proxies it trusts
 * to report client addresses.
 */
import { execFile } from 'node:child_process';
import {
  DEFAULT_HOST, DEFAULT_PORT, INHERITED_SOCKETS_LIMIT, NOTIFY_TIMEOUT_MS,
} from '../limits.ts';
import { AppError } from '../../domain/error.ts';
import { makeTrustedProxies } from '../../http/request/client-address.ts';
import type { BindAddress } from '../../http/server/bind.ts';
import type { Operator } from '../../feature.ts';
import { type Input, UsageError } from '../command.ts';
import { readNumber, splitList } from '../settings.ts';

const FIRST_DESCRIPTOR = 3;
/** Name of a systemd socket that redirects, like `--redirect-port`. */
const REDIRECT_NAME = 'redirect';

export type HostAndPort = Extract<BindAddress, { readonly port: number }>;

export interface ListenAddresses {
  /** Undefined if clients do not connect to the server's own address. */
  readonly own: HostAndPort | undefined;
  /** One or more. */
  readonly serving: readonly BindAddress[];
  readonly redirecting: readonly BindAddress[];
}

/** @throws UsageError */
export function readListenAddresses({ flags, environment }: Input): ListenAddresses {
  const inherited = listInheritedSockets(environment);
  if (inherited.length > 0) {
    rejectFlags(flags, ['host', 'port', 'socket', 'redirect-port'], 'systemd sockets');
    const redirecting = inherited.filter(({ name }) => name === REDIRECT_NAME);
    const serving = inherited.filter(({ name }) => name !== REDIRECT_NAME);
    if (serving.length > 0) return { own: undefined, serving, redirecting };
    throw new UsageError(`At least one systemd socket must not be named ${REDIRECT_NAME}.`);
  }
  const { socket: socketPath } = flags;
  if (socketPath !== undefined) {
    rejectFlags(flags, ['host', 'port', 'tls-cert', 'tls-key', 'redirect-port'], '--socket');
    return { own: undefined, serving: [{ socketPath }], redirecting: [] };
  }
  const host = flags['host'] ?? DEFAULT_HOST;
  const own = { host, port: readNumber(flags, 'port', DEFAULT_PORT) };
  const redirecting = flags['redirect-port'] === undefined ? []
    : [{ host, port: readNumber(flags, 'redirect-port', 0) }];
  return { own, serving: [own], redirecting };
}

/** In the form that `createApp` takes. @throws UsageError */
export function readTrustedProxies({ flags }: Input): readonly string[] {
  const proxies = splitList(flags['trusted-proxies'] ?? '');
  try {
    makeTrustedProxies(proxies); // validates them
    return proxies;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new UsageError('--trusted-proxies takes comma-separated addresses.'
      + ` ${error.publicDetail}`);
  }
}

/**
 * For units with `Type=notify`. Node cannot send datagrams to a Unix socket, so systemd's own
 * `systemd-notify` does, as a child process: the unit needs `NotifyAccess=all`.
 */
export function notifySystemd(
  { environment }: Input, { warn }: Operator, state: 'READY=1' | 'STOPPING=1',
): void {
  if (!environment['NOTIFY_SOCKET']) return;
  execFile('systemd-notify', [state], { timeout: NOTIFY_TIMEOUT_MS }, (error) => {
    if (error) warn(`systemd was not notified (${state}): ${error.message.trim()}`);
  });
}

/**
 * The sockets passed by systemd, with the `FileDescriptorName=` of their units. Child processes
 * inherit the variables, so sockets meant for another process id are ignored.
 */
function listInheritedSockets(environment: Input['environment']) {
  const count = environment['LISTEN_FDS'];
  if (count === undefined || environment['LISTEN_PID'] !== String(process.pid)) return [];
  const length = /^\d{1,3}$/.test(count) ? Number(count) : NaN;
  if (!(length <= INHERITED_SOCKETS_LIMIT)) {
    throw new UsageError(`LISTEN_FDS must be a whole number up to ${INHERITED_SOCKETS_LIMIT}.`);
  }
  const names = environment['LISTEN_FDNAMES']?.split(':') ?? [];
  return Array.from({ length }, (_, index) => (
    { fileDescriptor: FIRST_DESCRIPTOR + index, name: names[index] ?? '' }
  ));
}

/** @throws UsageError */
function rejectFlags(flags: Input['flags'], names: readonly string[], other: string): void {
  const flag = names.find((name) => flags[name] !== undefined);
  if (flag !== undefined) throw new UsageError(`--${flag} cannot be combined with ${other}.`);
}
