/**
 * Where the portal is, as its visitors see it. A request for another host is refused, so that
 * nobody gets at it through a name of their own (DNS rebinding), and so is one without TLS from
 * anywhere but this machine: passwords and sessions do not go over the wire in the clear.
 */
import { AppError } from '../domain/error.ts';
import { isLoopbackHost } from '../http/loopback-host.ts';

export interface Site {
  /** Such as `https://shop.example`. */
  readonly origin: string;
  /** The origin, and what stands before every path of this server. */
  readonly url: string;
}

/**
 * `baseUrl` is undefined where nobody said it: then only this machine itself can be it.
 * `isEncrypted` says whether the connection itself is one of TLS.
 * @throws AppError `browser_refused`
 */
export function findSite(
  host: string | undefined, baseUrl: string | undefined, isEncrypted: boolean,
): Site {
  const asked = URL.parse(`${isEncrypted ? 'https' : 'http'}://${host ?? ''}`);
  const base = baseUrl === undefined ? undefined : new URL(baseUrl);
  const path = base?.pathname.replace(/\/+$/, '') ?? '';
  if (base && asked && isSameHost(base, host)) {
    if (base.protocol === 'https:' || isLoopbackHost(base.hostname)) {
      return { origin: base.origin, url: base.origin + path };
    }
    const what = 'The portal is for https only, or for the machine that the server runs on.';
    throw new AppError('browser_refused', `${what} Give it a certificate, or put a server that `
      + 'speaks TLS before it, and start it with --base-url https://the-name-of-your-shop.');
  }
  if (asked && isLoopbackHost(asked.hostname)) {
    return { origin: asked.origin, url: asked.origin + path };
  }
  const what = 'The portal is not at this address.';
  throw new AppError('browser_refused', `${what} If it should be, start the server with `
    + '--base-url and this address.');
}

function isSameHost(base: URL, host: string | undefined): boolean {
  return URL.parse(`${base.protocol}//${host ?? ''}`)?.host === base.host;
}
