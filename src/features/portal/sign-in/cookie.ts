/**
 * The cookies of the portal. The prefix `__Host-` (RFC 6265bis, section 4.1.3.2) makes browsers
 * keep them to this host, to TLS, and to those that no other host could have set; they take them
 * from a loopback address without TLS, too. No script sees them, and other sites send them by links
 * alone.
 */

const PREFIX = '__Host-';

/** The field that sets one: until the browser ends where no `maxAgeMs` is given. */
export function formatCookie(name: string, value: string, maxAgeMs?: number): string {
  const life = maxAgeMs === undefined ? '' : `; Max-Age=${maxAgeMs / 1000}`;
  return `${PREFIX}${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${life}`;
}

/**
 * The value of a cookie; undefined where it was not sent, or several times. Nothing but spaces and
 * tabs may stand before it: with other white space there a name has no prefix for browsers, and any
 * host beside this one could set it.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const start = `${PREFIX}${name}=`;
  const values = (header ?? '').split(';').map((pair) => pair.replace(/^[ \t]+/, '').trimEnd())
    .filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length));
  return values.length === 1 ? values[0] : undefined;
}
