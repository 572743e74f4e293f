/**
 * Sessions: a random token in a cookie, of which only the SHA-256 is stored. The prefix `__Host-`
 * (RFC 6265bis, section 4.1.3.2) makes browsers keep it to this host, to TLS, and to cookies that
 * no other host could have set; they take it from a loopback address without TLS, too. A token is
 * made anew at each sign-in and never taken from what a browser sends.
 */
import { hash, randomBytes } from 'node:crypto';
import { SESSION_IDLE_MS, SESSION_LIFE_MS, SESSION_SEEN_INTERVAL_MS } from '../config.ts';
import type { NewSession, Session, Visitor } from '../store/portal-store.ts';
import type { Store } from '../store/store.ts';

const COOKIE = '__Host-session';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;
const USER_AGENT_LIMIT_CHARACTERS = 200;

/** A session that begins, and the cookie for its browser. */
interface Begun {
  readonly session: NewSession;
  readonly cookie: string;
}

export function beginSession(address: string, userAgent: string | undefined): Begun {
  const { hash: tokenHash, cookie } = makeSessionToken();
  const shown = (userAgent ?? '').slice(0, USER_AGENT_LIMIT_CHARACTERS);
  return { session: { hash: tokenHash, address, userAgent: shown }, cookie };
}

/** A token of a session: its hash for the store, and the cookie for its browser. */
export function makeSessionToken(): { readonly hash: string; readonly cookie: string } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return {
    hash: hash('sha256', token, 'hex'),
    cookie: `${COOKIE}=${token}; ${ATTRIBUTES}; Max-Age=${SESSION_LIFE_MS / 1000}`,
  };
}

/** For a browser that is signed out. */
export const FORGET_SESSION = `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;

/**
 * The value of a cookie; undefined where it was not sent, or several times. Nothing but spaces and
 * tabs may stand before it: with other white space there a name has no prefix for browsers, and any
 * host beside this one could set it.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '').split(';').map((pair) => pair.replace(/^[ \t]+/, '').trimEnd())
    .filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** The token that a browser sent; undefined for anything that cannot be one. */
export function readSessionToken(header: string | undefined): string | undefined {
  const token = readCookie(header, COOKIE);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** Who is signed in with this token, and notes that they were seen. */
export async function findVisitor(
  store: Store, token: string, now: number, onUnnoted: (error: unknown) => void,
): Promise<Visitor | undefined> {
  const visitor = await store.findVisitor(hash('sha256', token, 'hex'));
  if (!visitor || !isAlive(visitor.session, now)) return undefined;
  const { id, seenAt } = visitor.session;
  if (now - seenAt >= SESSION_SEEN_INTERVAL_MS) {
    store.noteSessionSeen(visitor.account.sellerId, id).catch(onUnnoted);
  }
  return visitor;
}

/** Whether a session is still good. To look is no use of it: what goes on for hours may do so. */
export async function isSignedIn(store: Store, token: string, now: number): Promise<boolean> {
  const visitor = await store.findVisitor(hash('sha256', token, 'hex'));
  return visitor !== undefined && isAlive(visitor.session, now);
}

/** Whether somebody may still be signed in by it. */
export function isAlive({ createdAt, seenAt }: Session, now: number): boolean {
  return now - seenAt < SESSION_IDLE_MS && now - createdAt < SESSION_LIFE_MS;
}
