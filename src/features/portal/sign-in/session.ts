/**
 * Sessions: a random token in a cookie; the store keeps only its SHA-256. Every sign-in creates a
 * new token and never adopts one that the browser sent (session fixation).
 */
import { hash, randomBytes } from 'node:crypto';
import { AppError } from '../../../domain/error.ts';
import type { NewSession, Session, SignedInSession } from '../../../store/account-store.ts';
import { CLOCK_STEP_LIMIT_MS, SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../../store/limits.ts';
import { SESSION_SEEN_INTERVAL_MS, USER_AGENT_LIMIT_CHARACTERS } from '../limits.ts';
import type { Portal } from '../route.ts';
import { formatCookie, readCookie } from './cookie.ts';

const COOKIE = 'session';
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** A session for the store, its token, and the cookie for the browser. */
export function startSession(address: string, userAgent = '') {
  const { hash: tokenHash, cookie, token } = makeSessionToken();
  const kept = userAgent.slice(0, USER_AGENT_LIMIT_CHARACTERS);
  const session: NewSession = { hash: tokenHash, address, userAgent: kept };
  return { session, cookie, token };
}

/** A token, its hash for the store, and the cookie for the browser. */
export function makeSessionToken() {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, hash: hashToken(token), cookie: formatCookie(COOKIE, token, SESSION_LIFE_MS) };
}

/** Signs the browser out. */
export const CLEAR_SESSION_COOKIE = formatCookie(COOKIE, '', 0);

/** The token that the browser sent; undefined if malformed. */
export function readSessionToken(header: string | undefined): string | undefined {
  const token = readCookie(header, COOKIE);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** The session of a token; undefined if unknown or expired. */
export async function findSession(
  { store, clock }: Pick<Portal, 'store' | 'clock'>, token: string | undefined,
): Promise<SignedInSession | undefined> {
  const found = token === undefined ? undefined
    : await store.findSignedInSession(hashToken(token));
  return found && isAlive(found.session, clock()) ? found : undefined;
}

/** Updates the session's last-seen time, at most once per `SESSION_SEEN_INTERVAL_MS`. */
export function noteSessionSeen(
  { store, clock, report }: Portal, { account, session }: SignedInSession,
): void {
  if (clock() - session.seenAt < SESSION_SEEN_INTERVAL_MS) return;
  store.noteSessionSeen(account.sellerId, session.id)
    .catch((error: unknown) => report({ id: 'session-seen', error }));
}

/** For long responses. @throws AppError `browser_refused` */
export async function assertSignedIn(request: { isSignedIn(): Promise<boolean> }): Promise<void> {
  if (await request.isSignedIn()) return;
  throw new AppError('browser_refused', 'Your session has ended. Sign in again.');
}

export function isAlive({ createdAt, seenAt }: Session, now: number): boolean {
  // A session from the future comes from a wrong clock and would otherwise live too long.
  return now - seenAt < SESSION_IDLE_MS && now - createdAt < SESSION_LIFE_MS
    && createdAt - now <= CLOCK_STEP_LIMIT_MS;
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
