/**
 * The portal's cookies, and values encrypted with the server's key. The `__Host-` prefix (RFC
 * 6265bis, section 4.1.3.2) makes browsers bind a cookie to this host and to TLS, so no other host
 * can set it; on a loopback address browsers accept it without TLS. Scripts cannot read the
 * cookies, and browsers send them from other sites only when the user follows a link.
 */
import { hasEnded, termFrom } from '../../../runtime/clock.ts';
import type { Store } from '../../../store/store.ts';

const PREFIX = '__Host-';

/** The `Set-Cookie` value. Without `maxAgeMs` the cookie lasts until the browser is closed. */
export function formatCookie(name: string, value: string, maxAgeMs?: number): string {
  const life = maxAgeMs === undefined ? '' : `; Max-Age=${maxAgeMs / 1000}`;
  return `${PREFIX}${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${life}`;
}

/**
 * A cookie's value; undefined if it was sent not at all or more than once. Only spaces and tabs may
 * precede the name: after other white space, browsers do not see the prefix, so any neighbouring
 * host could have set the cookie.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const start = `${PREFIX}${name}=`;
  const values = (header ?? '').split(';').map((pair) => pair.replace(/^[ \t]+/, '').trimEnd())
    .filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length));
  return values.length === 1 ? values[0] : undefined;
}

interface Keeper {
  readonly store: Pick<Store, 'encrypt' | 'decrypt' | 'now'>;
}

/**
 * Encrypts a value for one context, which `decryptValue` must repeat. Without `lifeMs` it does not
 * expire.
 */
export async function encryptValue(
  { store }: Keeper, value: object, context: string, lifeMs?: number,
): Promise<string> {
  const term = lifeMs === undefined ? {} : termFrom(store.now(), lifeMs);
  return store.encrypt(JSON.stringify({ ...value, ...term }), context);
}

/**
 * Decrypts a value. Undefined if the text is longer than `limitCharacters`, was not encrypted by
 * this server for this context, or has expired.
 */
export async function decryptValue<Value extends object>(
  { store }: Keeper, encrypted = '', context: string, limitCharacters = Infinity,
): Promise<Value | undefined> {
  if (encrypted === '' || encrypted.length > limitCharacters) return undefined;
  const text = await store.decrypt(encrypted, context);
  if (text === undefined) return undefined;
  // The cast: each context has one caller of `encryptValue`, which passes such a value.
  const value = JSON.parse(text) as Value;
  return hasEnded(value, store.now()) ? undefined : value;
}
