/**
 * Resolves the portal's origin for a request: the base URL over TLS, or a loopback name for a
 * client on this machine. So no browser sends a password or a session over a network in the clear.
 * Requests for any other host are rejected, which prevents DNS rebinding.
 */
import { AppError } from '../../domain/error.ts';
import { isLoopbackHost } from '../../http/server/tls.ts';

interface PortalClient {
  /** The `Host` header. */
  readonly host: string | undefined;
  /** Whether the connection itself uses TLS. */
  readonly isEncrypted: boolean;
  /** Whether the client runs on this machine, whatever `host` says. */
  readonly isLocal: boolean;
}

const HOW_TO_SERVE = 'To use it from another machine, through a proxy or from a container, give '
  + 'the server a certificate, or put a TLS proxy in front of it, and start it with '
  + '--base-url https://your-shop.example.';

/** @returns Such as `https://shop.example`. @throws AppError `browser_refused` */
export function resolveOrigin(
  { host, isEncrypted, isLocal }: PortalClient, baseUrl: string | undefined,
): string {
  const hostUrl = URL.parse(`${isEncrypted ? 'https' : 'http'}://${host ?? ''}`);
  const base = baseUrl === undefined ? undefined : new URL(baseUrl);
  if (base && hostUrl && isSameHost(base, host)) {
    if (base.protocol === 'https:' || (isLocal && isLoopbackHost(base.hostname))) {
      return base.origin;
    }
    throw rejected('The portal requires https, except on the server\'s own machine.');
  }
  if (!hostUrl || !isLoopbackHost(hostUrl.hostname)) {
    throw rejected('The portal is not available at this address.',
      'To serve it here, start the server with --base-url and this address.');
  }
  if (isLocal) return hostUrl.origin;
  throw rejected('At this address the portal is available only on the server\'s own machine.');
}

function rejected(reason: string, remedy = HOW_TO_SERVE): AppError {
  return new AppError('browser_refused', `${reason} ${remedy}`);
}

function isSameHost(base: URL, host: string | undefined): boolean {
  return URL.parse(`${base.protocol}//${host ?? ''}`)?.host === base.host;
}
