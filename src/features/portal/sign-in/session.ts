/**
 * Sessions: a token in a cookie, which names the seller and has a random secret. The store keeps
 * only the secret's SHA-256. Every sign-in creates a new secret and never adopts one that the
 * browser sent (session fixation).
 */
import { hash, randomBytes } from 'node:crypto';
import { includesRole, lacksTwoFactor, type Role } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import { formatSellerId, parseSellerId, type SellerId } from '../../../domain/id.ts';
import { hasEnded, type Moment, termFrom } from '../../../runtime/clock.ts';
import type { NewSession, Session, SignedInSession } from '../../../store/account-store.ts';
import { CLOCK_STEP_LIMIT_MS, SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../../store/limits.ts';
import { SESSION_SEEN_INTERVAL_MS, USER_AGENT_LIMIT_CHARACTERS } from '../limits.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { formatCookie, readCookie } from './cookie.ts';

const COOKIE = 'session';
const SECRET_BYTES = 32;
const TOKEN = /^(sel_[0-9a-v]{11})\.([\w-]{43})$/;

/** A session for the store, and its secret. */
export function startSession(address: string, userAgent = '') {
  const { hash: secretHash, secret } = makeSessionSecret();
  const shortUserAgent = userAgent.slice(0, USER_AGENT_LIMIT_CHARACTERS);
  const session: NewSession = { hash: secretHash, address, userAgent: shortUserAgent };
  return { session, secret };
}

/** A secret, and its hash for the store. */
export function makeSessionSecret() {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, hash: hashSecret(secret) };
}

/** The token of a session, and the cookie that gives it to the browser. */
export function formatSessionToken(sellerId: SellerId, secret: string) {
  const token = `${formatSellerId(sellerId)}.${secret}`;
  return { token, cookie: formatCookie(COOKIE, token, SESSION_LIFE_MS) };
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
  { store }: Pick<Portal, 'store'>, token: string | undefined,
): Promise<SignedInSession | undefined> {
  const [, id = '', secret = ''] = TOKEN.exec(token ?? '') ?? [];
  const sellerId = parseSellerId(id);
  const signedInSession = sellerId === undefined ? undefined
    : await store.findSignedInSession(sellerId, hashSecret(secret));
  return signedInSession && isAlive(signedInSession.session, store.now())
    ? signedInSession : undefined;
}

/** Updates the session's last-seen time, at most once per `SESSION_SEEN_INTERVAL_MS`. */
export function noteSessionSeen(
  { store, clock, report }: Portal, { account, session }: SignedInSession,
): void {
  if (clock() - session.seenAt < SESSION_SEEN_INTERVAL_MS) return;
  store.noteSessionSeen(account, session.id)
    .catch((error: unknown) => report({ id: 'session-seen', error }));
}

/** For long requests and responses. @throws AppError `browser_refused` */
export async function assertSignedIn(
  { headers }: AnonymousPageRequest, portal: Portal, role: Role,
): Promise<void> {
  const user = await findSession(portal, readSessionToken(headers.cookie));
  if (!user || lacksTwoFactor(user.account)) {
    throw new AppError('browser_refused', 'Your session has ended. Sign in again.');
  }
  if (includesRole(user.account.role, role)) return;
  throw new AppError('browser_refused', 'Your role has changed: it no longer allows this.');
}

/** A session from the future comes from a wrong clock; it ends, too. */
export function isAlive(
  { createdAt, seenAt, livedAt, seenLivedAt }: Session, now: Moment,
): boolean {
  const terms = [
    termFrom({ wall: seenAt, lived: seenLivedAt }, SESSION_IDLE_MS),
    termFrom({ wall: createdAt, lived: livedAt }, SESSION_LIFE_MS),
  ];
  return !terms.some((term) => hasEnded(term, now))
    && createdAt - now.wall <= CLOCK_STEP_LIMIT_MS;
}

function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
