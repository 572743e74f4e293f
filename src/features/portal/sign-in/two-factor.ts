/**
 * Between the two steps of a sign-in: that the password was right is carried by a sealed cookie,
 * for a few minutes and for one browser. It is no session: all it opens is the page of the code.
 */
import { hashCode } from '../../../domain/access/human-code.ts';
import { findTotpStep } from '../../../domain/access/totp.ts';
import { AppError } from '../../../domain/error.ts';
import type { Credentials } from '../../../store/account-store.ts';
import { TWO_FACTOR_COOKIE_LIMIT_CHARACTERS, TWO_FACTOR_LIFE_MS } from '../limits.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { formatCookie, readCookie } from './cookie.ts';
import { findDeviceId, readDevice } from './device.ts';
import { passwordFingerprint } from '../../../domain/access/password.ts';

const COOKIE = 'second-step';

interface Pending {
  readonly email: string;
  /** Of the password that was right. */
  readonly stamp: string;
  /** The page to go on to. */
  readonly to: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** Who has shown the right password, and where they are going. */
interface PendingTwoFactor {
  readonly credentials: Credentials;
  readonly to: string;
}

/** The cookie for a browser that has shown the right password of an e-mail. */
export async function beginTwoFactor(
  request: AnonymousPageRequest, { store, clock }: Portal, email: string,
  { credentials, to }: PendingTwoFactor,
): Promise<string> {
  const pending: Pending = {
    email, to, stamp: passwordFingerprint(credentials.passwordHash),
    endsAt: clock() + TWO_FACTOR_LIFE_MS,
  };
  const sealed = await store.encrypt(JSON.stringify(pending), contextOf(request));
  return formatCookie(COOKIE, sealed, TWO_FACTOR_LIFE_MS);
}

/** For a browser that has made the second step, too. */
export const CLEAR_TWO_FACTOR_COOKIE = formatCookie(COOKIE, '', 0);

/** Undefined where there was no first step, or too long ago, or the account has changed since. */
export async function findPendingTwoFactor(
  request: AnonymousPageRequest, { store, clock }: Portal,
): Promise<PendingTwoFactor | undefined> {
  const sealed = readCookie(request.headers.cookie, COOKIE);
  if (sealed === undefined || sealed.length > TWO_FACTOR_COOKIE_LIMIT_CHARACTERS) return undefined;
  const text = await store.decrypt(sealed, contextOf(request));
  if (text === undefined) return undefined;
  // The cast: nothing else is sealed for this.
  const { email, stamp, to, endsAt } = JSON.parse(text) as Pending;
  const credentials = clock() < endsAt ? await store.findCredentials(email) : undefined;
  if (!credentials || passwordFingerprint(credentials.passwordHash) !== stamp) return undefined;
  return { credentials, to };
}

/** The token of its forms says which browser it is, as long as nobody is signed in there. */
function contextOf({ csrfToken }: AnonymousPageRequest): string {
  return `second step ${csrfToken}`;
}

/** A recovery code is too long to be guessed: only one-time passwords are counted. */
export async function isGood(
  { headers, address }: AnonymousPageRequest, { store, limits, clock }: Portal,
  credentials: Credentials,
  code: string,
): Promise<boolean> {
  const { sellerId } = credentials;
  const recoveryHash = hashCode(code);
  if (recoveryHash !== undefined) return store.takeRecoveryCode(sellerId, recoveryHash, address);
  const device = findDeviceId(await readDevice(store, headers.cookie), credentials);
  return limits.tryTotp(sellerId, device, async () => {
    const totp = await store.findTotp(sellerId);
    if (!totp) return true; // it was switched off a moment ago
    if (totp.secret === undefined) throw unreadable();
    const step = findTotpStep(totp.secret, code, clock(), totp.step);
    return step !== undefined && await store.takeTotpStep(sellerId, step);
  });
}

function unreadable(): AppError {
  const what = 'No one-time password can be checked now: server.key in the data folder of the '
    + 'server is missing, or is another one.';
  const hint = 'Put back the one that belongs to the database and restart the server, or use a '
    + 'recovery code.';
  return new AppError('unavailable', `${what} ${hint}`);
}
