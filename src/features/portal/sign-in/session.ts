/**
 * Sessions: a random token in a cookie, of which only the SHA-256 is stored. A token is made anew
 * at each sign-in and never taken from what a browser sends.
 */
import { hash, randomBytes } from 'node:crypto';
import { AppError } from '../../../domain/error.ts';
import type {
  AccountStore, NewSession, Session, SignedInSession,
} from '../../../store/account-store.ts';
import { CLOCK_STEP_LIMIT_MS, SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../../store/limits.ts';
import { SESSION_SEEN_INTERVAL_MS, USER_AGENT_LIMIT_CHARACTERS } from '../limits.ts';
import { formatCookie, readCookie } from './cookie.ts';

const COOKIE = 'session';
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** A session that begins, and the cookie for its browser. */
interface Begun {
  readonly session: NewSession;
  readonly cookie: string;
  readonly token: string;
}

export function beginSession(address: string, userAgent: string | undefined): Begun {
  const { hash: tokenHash, cookie, token } = makeSessionToken();
  const shown = (userAgent ?? '').slice(0, USER_AGENT_LIMIT_CHARACTERS);
  return { session: { hash: tokenHash, address, userAgent: shown }, cookie, token };
}

/** A token of a session: its hash for the store, and the cookie for its browser. */
export function makeSessionToken(): {
  readonly hash: string; readonly cookie: string; readonly token: string;
} {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return {
    token,
    hash: hashToken(token),
    cookie: formatCookie(COOKIE, token, SESSION_LIFE_MS),
  };
}

/** For a browser that is signed out. */
export const CLEAR_SESSION_COOKIE = formatCookie(COOKIE, '', 0);

/** The token that a browser sent; undefined for anything that cannot be one. */
export function readSessionToken(header: string | undefined): string | undefined {
  const token = readCookie(header, COOKIE);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** Who is signed in with this token, and notes that they were seen. */
export async function findSession(
  store: AccountStore, token: string, now: number, onUnnoted: (error: unknown) => void,
): Promise<SignedInSession | undefined> {
  const user = await findAlive(store, token, now);
  if (!user) return undefined;
  const { id, seenAt } = user.session;
  if (now - seenAt >= SESSION_SEEN_INTERVAL_MS) {
    store.noteSessionSeen(user.account.sellerId, id).catch(onUnnoted);
  }
  return user;
}

/** Whether a session is still good. To look is no use of it: what goes on for hours may do so. */
export async function isSignedIn(
  store: AccountStore, token: string, now: number,
): Promise<boolean> {
  return await findAlive(store, token, now) !== undefined;
}

/** For an answer that takes long. @throws AppError `browser_refused` */
export async function assertSignedIn(request: { isSignedIn(): Promise<boolean> }): Promise<void> {
  if (await request.isSignedIn()) return;
  throw new AppError('browser_refused', 'You are not signed in any more.');
}

/** Whether somebody may still be signed in by it. */
export function isAlive({ createdAt, seenAt }: Session, now: number): boolean {
  // One from the time ahead is of a clock that was wrong: it would hold until that time.
  return now - seenAt < SESSION_IDLE_MS && now - createdAt < SESSION_LIFE_MS
    && createdAt - now <= CLOCK_STEP_LIMIT_MS;
}

async function findAlive(
  store: AccountStore, token: string, now: number,
): Promise<SignedInSession | undefined> {
  const user = await store.findVisitor(hashToken(token));
  return user && isAlive(user.session, now) ? user : undefined;
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
