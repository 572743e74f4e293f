/** Where `serve` is to listen: on ports, on a Unix socket, or on the sockets of systemd. */
import { DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import type { BindAddress } from '../../http/server/bind.ts';
import { type Input, UsageError } from '../command.ts';
import { listInheritedSockets } from './inherited-sockets.ts';
import { readNumber } from './settings.ts';

/** The name of a socket that systemd passes in the place of `--redirect-port`. */
const REDIRECT_NAME = 'redirect';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export interface ListenAddresses {
  /** Undefined where clients come by another address than that of the server. */
  readonly own: HostAndPort | undefined;
  /** One or more. */
  readonly serving: readonly BindAddress[];
  readonly redirecting: readonly BindAddress[];
}

/** @throws UsageError */
export function readListenAddresses({ flags, environment }: Input): ListenAddresses {
  const inherited = listInheritedSockets(environment, process.pid);
  if (inherited.length > 0) {
    refuseFlags(flags, ['host', 'port', 'socket', 'redirect-port'], 'the sockets of systemd');
    const isRedirect = ({ name }: { readonly name: string }) => name === REDIRECT_NAME;
    const serving = inherited.filter((socket) => !isRedirect(socket));
    if (serving.length > 0) {
      return { own: undefined, serving, redirecting: inherited.filter(isRedirect) };
    }
    throw new UsageError(`One socket of systemd has to have another name than ${REDIRECT_NAME}.`);
  }
  const { socket: socketPath, 'redirect-port': redirectPort } = flags;
  if (socketPath !== undefined) {
    refuseFlags(flags, ['host', 'port', 'tls-cert', 'tls-key', 'redirect-port'], '--socket');
    return { own: undefined, serving: [{ socketPath }], redirecting: [] };
  }
  const host = flags['host'] ?? DEFAULT_HOST;
  const own = { host, port: readNumber('port', flags['port'], DEFAULT_PORT, 65_535) };
  const redirecting = redirectPort === undefined ? []
    : [{ host, port: readNumber('redirect-port', redirectPort, 0, 65_535) }];
  return { own, serving: [own], redirecting };
}

/** @throws UsageError */
function refuseFlags(flags: Input['flags'], names: readonly string[], other: string): void {
  const given = names.find((name) => flags[name] !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} does not go together with ${other}.`);
}
