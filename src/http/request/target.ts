/** The target of a request (RFC 9112 section 3.2.1), below the path of the base URL. */
export interface Target {
  readonly path: string;
  /** What follows the `?`. */
  readonly query: string;
}

/** A path where no route is. */
export const OUTSIDE: Target = { path: '', query: '' };

/** Undefined for what is not below the prefix. */
export function parseTarget(url: string, prefix: string): Target | undefined {
  if (!url.startsWith(`${prefix}/`)) return undefined;
  const mark = url.indexOf('?');
  if (mark < 0) return { path: url.slice(prefix.length), query: '' };
  return { path: url.slice(prefix.length, mark), query: url.slice(mark + 1) };
}
