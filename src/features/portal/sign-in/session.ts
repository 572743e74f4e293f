/**
 * Sessions: a random token in a cookie, of which the store has only the SHA-256. Every sign-in
 * makes a new token; a token that a browser brings along is never adopted (session fixation).
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

interface SessionToken {
  readonly token: string;
  /** What the store keeps. */
  readonly hash: string;
  readonly cookie: string;
}

interface StartedSession extends Pick<SessionToken, 'token' | 'cookie'> {
  readonly session: NewSession;
}

export function startSession(address: string, userAgent = ''): StartedSession {
  const { hash: tokenHash, cookie, token } = makeSessionToken();
  const kept = userAgent.slice(0, USER_AGENT_LIMIT_CHARACTERS);
  return { session: { hash: tokenHash, address, userAgent: kept }, cookie, token };
}

export function makeSessionToken(): SessionToken {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, hash: hashToken(token), cookie: formatCookie(COOKIE, token, SESSION_LIFE_MS) };
}

/** For a browser that is signed out. */
export const CLEAR_SESSION_COOKIE = formatCookie(COOKIE, '', 0);

/** The token that a browser sent; undefined for anything that cannot be one. */
export function readSessionToken(header: string | undefined): string | undefined {
  const token = readCookie(header, COOKIE);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** The session of this token. Notes that it was used; `onNoteFailed` is called if that fails. */
export async function findSession(
  store: AccountStore, token: string, now: number, onNoteFailed: (error: unknown) => void,
): Promise<SignedInSession | undefined> {
  const found = await findLiveSession(store, token, now);
  if (!found) return undefined;
  const { id, seenAt } = found.session;
  if (now - seenAt >= SESSION_SEEN_INTERVAL_MS) {
    store.noteSessionSeen(found.account.sellerId, id).catch(onNoteFailed);
  }
  return found;
}

/** Whether a session is still valid. Does not count as using it, so a long stream may ask often. */
export async function isSignedIn(
  store: AccountStore, token: string, now: number,
): Promise<boolean> {
  return await findLiveSession(store, token, now) !== undefined;
}

/** For long responses. @throws AppError `browser_refused` */
export async function assertSignedIn(request: { isSignedIn(): Promise<boolean> }): Promise<void> {
  if (await request.isSignedIn()) return;
  throw new AppError('browser_refused', 'Your session has ended.');
}

/** Whether a session has not expired. */
export function isAlive({ createdAt, seenAt }: Session, now: number): boolean {
  // A session from the future comes from a wrong clock, and would live until that time.
  return now - seenAt < SESSION_IDLE_MS && now - createdAt < SESSION_LIFE_MS
    && createdAt - now <= CLOCK_STEP_LIMIT_MS;
}

async function findLiveSession(
  store: AccountStore, token: string, now: number,
): Promise<SignedInSession | undefined> {
  const found = await store.findSignedInSession(hashToken(token));
  return found && isAlive(found.session, now) ? found : undefined;
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
