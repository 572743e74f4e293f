/** Strict-Transport-Security (RFC 6797), which keeps browsers to TLS for a year. */
import { isLoopbackHost } from './loopback-host.ts';

/**
 * The field for answers that come by TLS from `host`. None for a loopback one: browsers would ask
 * for TLS of whatever else runs on their machine.
 */
export function formatStrictTransport(host: string): Readonly<Record<string, string>> {
  return isLoopbackHost(host) ? {} : { 'strict-transport-security': 'max-age=31536000' };
}
