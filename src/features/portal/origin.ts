/**
 * Resolves the portal's origin for a request: the base URL over TLS, or a loopback name for a
 * client on this machine. So no browser sends a password or a session over a network in the clear.
 * Requests for any other host are rejected, which prevents DNS rebinding. Links and redirects are
 * resolved here, too: none leads out of the portal, whatever its path was made from.
 */
import { AppError } from '../../domain/error.ts';
import { isLoopbackHost } from '../../http/server/tls.ts';
import { ROOT } from './route.ts';

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

/** Only resolves paths: no link contains it. */
const ANY_ORIGIN = 'http://portal.invalid';
/** What a browser, a proxy or a second decoding could read as another path; no page has these. */
const AMBIGUOUS_PATH = /\/\/|%(?:25)*(?:2e|2f|5c)/i;
const CONTROL_OR_BACKSLASH = /[\p{Cc}\\]/u;

/**
 * The link of a page, as browsers resolve it (WHATWG URL, section 4.4). A path that is not below
 * `/portal` then becomes the overview.
 * @param prefix What precedes `/portal`: empty, or such as `/shop`.
 * @param path Such as `/products?q=mug`.
 */
export function linkPage(prefix: string, path: string, query?: URLSearchParams): string {
  const root = prefix + ROOT;
  const text = path + (query && query.size > 0 ? `?${query}` : '');
  const url = URL.parse(ANY_ORIGIN + root + (path === '/' ? text.slice(1) : text));
  const isOwn = url !== null && !CONTROL_OR_BACKSLASH.test(path)
    && (url.pathname === root || url.pathname.startsWith(`${root}/`))
    && !AMBIGUOUS_PATH.test(url.pathname.slice(root.length));
  return isOwn ? url.pathname + url.search + url.hash : root;
}

function rejected(reason: string, remedy = HOW_TO_SERVE): AppError {
  return new AppError('browser_refused', `${reason} ${remedy}`);
}

function isSameHost(base: URL, host: string | undefined): boolean {
  return URL.parse(`${base.protocol}//${host ?? ''}`)?.host === base.host;
}
