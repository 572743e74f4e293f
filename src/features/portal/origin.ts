/**
 * The origin of the portal for a request: the base URL over TLS, or a loopback name for a client on
 * this machine, so that a browser sends no password and no session over a network in the clear. A
 * request for any other host is rejected, so the portal cannot be reached under a foreign name (DNS
 * rebinding).
 */
import { AppError } from '../../domain/error.ts';
import { isLoopbackHost } from '../../http/server/tls.ts';

export interface PortalOrigin {
  /** Such as `https://shop.example`. */
  readonly origin: string;
  /** The origin and the path of the base URL. */
  readonly url: string;
}

interface PortalClient {
  /** The header `Host`. */
  readonly host: string | undefined;
  /** Whether the connection itself uses TLS. */
  readonly isEncrypted: boolean;
  /** Whether the client runs on this machine, whatever `host` says. */
  readonly isLocal: boolean;
}

const HOW_TO_SERVE = 'To use it from another machine, through a proxy or from a container, give '
  + 'the server a certificate, or put a TLS proxy in front of it, and start it with '
  + '--base-url https://the-name-of-your-shop.';

/** `baseUrl` is undefined if it was not set. @throws AppError `browser_refused` */
export function resolveOrigin(
  { host, isEncrypted, isLocal }: PortalClient, baseUrl: string | undefined,
): PortalOrigin {
  const asked = URL.parse(`${isEncrypted ? 'https' : 'http'}://${host ?? ''}`);
  const base = baseUrl === undefined ? undefined : new URL(baseUrl);
  const path = base?.pathname.replace(/\/+$/, '') ?? '';
  if (base && asked && isSameHost(base, host)) {
    if (base.protocol === 'https:' || (isLocal && isLoopbackHost(base.hostname))) {
      return { origin: base.origin, url: base.origin + path };
    }
    throw rejected('The portal is available over https only, except on the machine of the server.');
  }
  if (!asked || !isLoopbackHost(asked.hostname)) {
    throw rejected('The portal is not available at this address.',
      'To serve it here, start the server with --base-url and this address.');
  }
  if (isLocal) return { origin: asked.origin, url: asked.origin + path };
  throw rejected('At this address the portal is available only on the machine of the server.');
}

function rejected(reason: string, remedy = HOW_TO_SERVE): AppError {
  return new AppError('browser_refused', `${reason} ${remedy}`);
}

function isSameHost(base: URL, host: string | undefined): boolean {
  return URL.parse(`${base.protocol}//${host ?? ''}`)?.host === base.host;
}
