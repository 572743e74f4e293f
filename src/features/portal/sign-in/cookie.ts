/**
 * What a browser keeps for the portal: cookies, and values encrypted with the server's key. The
 * `__Host-` prefix (RFC 6265bis, section 4.1.3.2) makes browsers bind a cookie to this host and to
 * TLS, so no other host can set it; browsers accept it from a loopback address without TLS, too.
 * Scripts cannot read the cookies, and other sites send them with links only.
 */
import type { AccountStore } from '../../../store/account-store.ts';

const PREFIX = '__Host-';

/** The `Set-Cookie` field. Without `maxAgeMs` the cookie lives until the browser is closed. */
export function formatCookie(name: string, value: string, maxAgeMs?: number): string {
  const life = maxAgeMs === undefined ? '' : `; Max-Age=${maxAgeMs / 1000}`;
  return `${PREFIX}${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${life}`;
}

/**
 * The value of a cookie; undefined if it was not sent, or was sent several times. Only spaces and
 * tabs may precede it: after other white space the name has no prefix as browsers see it, so any
 * neighbouring host could have set it.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const start = `${PREFIX}${name}=`;
  const values = (header ?? '').split(';').map((pair) => pair.replace(/^[ \t]+/, '').trimEnd())
    .filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length));
  return values.length === 1 ? values[0] : undefined;
}

interface Keeper {
  readonly store: Pick<AccountStore, 'encrypt' | 'decrypt'>;
  readonly clock: () => number;
}

/**
 * Encrypts a value for one context, which `decryptValue` must name again. Without `lifeMs` it does
 * not expire.
 */
export async function encryptValue(
  { store, clock }: Keeper, value: object, context: string, lifeMs?: number,
): Promise<string> {
  const endsAt = lifeMs === undefined ? undefined : clock() + lifeMs;
  return store.encrypt(JSON.stringify({ ...value, endsAt }), context);
}

/**
 * The value that was encrypted for this context. Undefined if the text is longer than
 * `limitCharacters`, was not made here for the context, or has expired.
 */
export async function decryptValue<Value extends object>(
  { store, clock }: Keeper, encrypted = '', context: string, limitCharacters = Infinity,
): Promise<Value | undefined> {
  if (encrypted === '' || encrypted.length > limitCharacters) return undefined;
  const text = await store.decrypt(encrypted, context);
  if (text === undefined) return undefined;
  // The cast: each context has one caller of `encryptValue`, which passes such a value.
  const value = JSON.parse(text) as Value & { readonly endsAt?: number };
  return value.endsAt === undefined || clock() < value.endsAt ? value : undefined;
}
