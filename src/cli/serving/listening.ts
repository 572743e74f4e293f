/** Where `serve` listens, and the address that it tells. */
import type { RequestListener } from 'node:http';
import { isIP } from 'node:net';
import { DEFAULT_HOST, DEFAULT_PORT } from '../../config.ts';
import { isLoopback } from '../../domain/address.ts';
import { listen, type Listener } from '../../http/listener.ts';
import { CommandFailure, type Flags, type Input, UsageError } from '../command.ts';
import { readNumber } from './settings.ts';

export const listeningFlags: Flags = {
  host: { value: 'ADDRESS', help: `where to listen (default: ${DEFAULT_HOST})`, isSetting: true },
  port: { value: 'N', help: `0 finds a free one (default: ${DEFAULT_PORT})`, isSetting: true },
  'base-url': {
    value: 'URL', help: 'where clients find it (default: http://HOST:PORT)', isSetting: true,
  },
};

/** How a server is reached, as its settings say. */
interface Listening {
  /** Undefined where nothing but the address says it. */
  readonly baseUrl: string | undefined;
  /** What an operator should know of these settings; empty where there is nothing. */
  readonly warnings: readonly string[];
  /** @throws CommandFailure where somebody else listens there */
  listen(handle: RequestListener): Promise<Listener>;
  /** Where it is found, once it listens. */
  url(listener: Listener): string;
}

/** @throws UsageError */
export function readListening(
  { flags }: Input, trustedProxies: readonly string[],
): Listening {
  const host = flags['host'] ?? DEFAULT_HOST;
  const port = readNumber('port', flags['port'], DEFAULT_PORT, 65_535);
  const baseUrl = readBaseUrl(flags['base-url']);
  const isOwn = host === 'localhost' || isLoopback(host);
  return {
    baseUrl,
    warnings: isOwn ? []
      : ['This address is not encrypted: put a server that speaks TLS before it.'],
    listen: (handle) =>
      listen(handle, { host, port }, { trustedProxies }).catch(explainPort(port)),
    url: (listener) =>
      baseUrl ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${listener.port}`,
  };
}

function readBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && !url.search && !url.hash && !url.username;
  if (isPlain && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new UsageError(`--base-url takes an address such as https://shop.example, not "${text}".`);
}

function explainPort(port: number): (error: unknown) => never {
  return (error) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isTaken) throw error;
    throw new CommandFailure(`Port ${port} is taken. Choose another with --port.`);
  };
}
