/**
 * Two-factor authentication at the sign-in. Between the two steps, an encrypted cookie says that
 * the password was right: for a few minutes, in one browser. It is not a session; it opens only the
 * page that asks for the code.
 */
import { hashCode } from '../../../domain/access/human-code.ts';
import { passwordFingerprint } from '../../../domain/access/password.ts';
import { findTotpStep } from '../../../domain/access/totp.ts';
import { AppError } from '../../../domain/error.ts';
import type { Credentials } from '../../../store/account-store.ts';
import { TWO_FACTOR_COOKIE_LIMIT_CHARACTERS, TWO_FACTOR_LIFE_MS } from '../limits.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { decryptValue, encryptValue, formatCookie, readCookie } from './cookie.ts';
import { findDeviceId } from './device.ts';

const COOKIE = 'second-step';

/** The content of the cookie. */
interface PendingSignIn {
  readonly email: string;
  /** Fingerprint of the password that was right. */
  readonly stamp: string;
  /** The page after the sign-in. */
  readonly to: string;
}

/** The cookie for a browser that has sent the right password of an e-mail. */
export async function beginTwoFactor(
  request: AnonymousPageRequest, portal: Portal, email: string, passwordHash: string, to: string,
): Promise<string> {
  const pending: PendingSignIn = { email, to, stamp: passwordFingerprint(passwordHash) };
  const encrypted = await encryptValue(portal, pending, contextOf(request), TWO_FACTOR_LIFE_MS);
  return formatCookie(COOKIE, encrypted, TWO_FACTOR_LIFE_MS);
}

/** For a browser that has signed in. */
export const CLEAR_TWO_FACTOR_COOKIE = formatCookie(COOKIE, '', 0);

/** Undefined without a recent first step, or if the password has changed since. */
export async function findPendingTwoFactor(request: AnonymousPageRequest, portal: Portal): Promise<
  { readonly credentials: Credentials; readonly to: string } | undefined
> {
  const pending = await decryptValue<PendingSignIn>(
    portal, readCookie(request.headers.cookie, COOKIE), contextOf(request),
    TWO_FACTOR_COOKIE_LIMIT_CHARACTERS,
  );
  const credentials = pending && await portal.store.findCredentials(pending.email);
  if (!credentials) return undefined;
  const isCurrent = passwordFingerprint(credentials.passwordHash) === pending.stamp;
  return isCurrent ? { credentials, to: pending.to } : undefined;
}

/**
 * Whether a one-time password, or a recovery code, is right; it is used up by this. Recovery codes
 * are too long to guess, so only one-time passwords count towards the limit.
 * @throws AppError `rate_limited`; `unavailable` if the secret of the account cannot be decrypted
 */
export async function takeTwoFactorCode(
  request: AnonymousPageRequest, portal: Portal, credentials: Credentials, code: string,
): Promise<boolean> {
  const { sellerId } = credentials;
  const { store, limits, clock } = portal;
  const recoveryHash = hashCode(code);
  if (recoveryHash !== undefined) {
    return store.takeRecoveryCode(sellerId, recoveryHash, request.address);
  }
  const device = await findDeviceId(request, portal, credentials);
  return limits.tryTotp(sellerId, device, async () => {
    const totp = await store.findTotp(sellerId);
    if (!totp) return true; // it was turned off a moment ago
    if (totp.secret === undefined) {
      throw new AppError('unavailable', 'Authentication codes cannot be checked: server.key in the '
        + 'server\'s data folder is missing or does not match the database. Restore the matching '
        + 'file and restart the server, or use a recovery code.');
    }
    const step = findTotpStep(totp.secret, code, clock(), totp.step);
    return step !== undefined && await store.takeTotpStep(sellerId, step);
  });
}

/** The form token identifies the browser, as long as nobody is signed in there. */
function contextOf({ csrfToken }: AnonymousPageRequest): string {
  return `second step ${csrfToken}`;
}
