/**
 * Finds the path of a request within the server: below the path of its base URL, or below the path
 * where a framework mounts it. Express, Connect and middie remove that path from `request.url`, and
 * keep the whole in `originalUrl`.
 */
import type { IncomingMessage } from 'node:http';

/** A request target (RFC 9112 section 3.2.1) within the server. */
export interface Target {
  readonly path: string;
  /** The text after the `?`. */
  readonly query: string;
  /** What precedes `path` in links: empty, or such as `/shop`. */
  readonly prefix: string;
}

/** A target that no route matches. */
export const OUTSIDE: Target = { path: '', query: '', prefix: '' };

/** One or more path segments (RFC 3986 section 3.3). A mount path may contain client text. */
const MOUNT_PATH = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/;

/**
 * The target of a request; undefined if the server is not there. Links begin with the path of the
 * base URL, if it has one, or else with the mount path.
 * @param basePath Empty, or such as `/shop`.
 */
export function findTarget(request: IncomingMessage, basePath: string): Target | undefined {
  const { url = '' } = request;
  const mountPath = findMountPath(url, readOriginalUrl(request));
  const below = parseTarget(mountPath + url, basePath);
  if (mountPath === '' || (below && basePath !== '')) return below;
  const mounted = parseTarget(url, '');
  return mounted && { ...mounted, prefix: basePath || mountPath };
}

/** Splits a URL into path and query; undefined outside `prefix`. */
export function parseTarget(url: string, prefix: string): Target | undefined {
  if (!url.startsWith(`${prefix}/`)) return undefined;
  const mark = url.indexOf('?');
  if (mark < 0) return { path: url.slice(prefix.length), query: '', prefix };
  return { path: url.slice(prefix.length, mark), query: url.slice(mark + 1), prefix };
}

/** The request target as the client sent it. */
export function readOriginalUrl(
  request: IncomingMessage & { readonly originalUrl?: unknown },
): string {
  const { url = '', originalUrl } = request;
  return typeof originalUrl === 'string' ? originalUrl : url;
}

/** What a framework has removed from the start; empty if it did not, or rewrote the target. */
function findMountPath(url: string, originalUrl: string): string {
  if (originalUrl === url) return '';
  // Express gives the target `/shop?q=mug` of the mount path `/shop` a slash: `/?q=mug`.
  const suffix = originalUrl.endsWith(url) ? url : url.slice(1);
  const mountPath = originalUrl.slice(0, originalUrl.length - suffix.length);
  return originalUrl.endsWith(suffix) && MOUNT_PATH.test(mountPath) ? mountPath : '';
}
