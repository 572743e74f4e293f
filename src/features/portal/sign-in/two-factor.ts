/**
 * Two-factor authentication at the sign-in. Between the two steps, an encrypted cookie proves that
 * the password was correct, for a few minutes and in one browser. It is not a session: it opens
 * only the page that asks for the code.
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

/** The cookie's content. */
interface PendingSignIn {
  readonly email: string;
  /** Fingerprint of the verified password. */
  readonly stamp: string;
  /** The page after the sign-in. */
  readonly to: string;
}

/** The cookie for a browser that has sent an account's correct password. */
export async function beginTwoFactor(
  request: AnonymousPageRequest, portal: Portal, email: string, passwordHash: string, to: string,
): Promise<string> {
  const pending: PendingSignIn = { email, to, stamp: passwordFingerprint(passwordHash) };
  const encrypted = await encryptValue(portal, pending, contextOf(request), TWO_FACTOR_LIFE_MS);
  return formatCookie(COOKIE, encrypted, TWO_FACTOR_LIFE_MS);
}

export const CLEAR_TWO_FACTOR_COOKIE = formatCookie(COOKIE, '', 0);

/** Undefined without a recent correct password, or if the password has changed since. */
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
 * Checks a one-time password or a recovery code; a correct one cannot be used again. Recovery codes
 * are too long to guess, so only one-time passwords count towards the limit.
 * @throws AppError `rate_limited`; `unavailable` if the secret of the account cannot be decrypted
 */
export async function takeTwoFactorCode(
  request: AnonymousPageRequest, portal: Portal, credentials: Credentials, code: string,
): Promise<boolean> {
  const { store, limits, clock } = portal;
  const recoveryHash = hashCode(code);
  if (recoveryHash !== undefined) {
    return store.takeRecoveryCode(credentials, recoveryHash, request.address);
  }
  const device = await findDeviceId(request, portal, credentials);
  return limits.tryTotp(credentials, device, async () => {
    const totp = await store.findTotp(credentials);
    if (!totp) return true; // two-factor authentication was turned off a moment ago
    if (totp.secret === undefined) {
      throw new AppError('unavailable', 'The server cannot check authentication codes: server.key '
        + 'in its data folder is missing or does not match the database. Restore the matching '
        + 'file and restart the server, or use a recovery code.');
    }
    const step = findTotpStep(totp.secret, code, clock(), totp.step);
    return step !== undefined && await store.takeTotpStep(credentials, step);
  });
}

/** The CSRF token identifies the browser while nobody is signed in. */
function contextOf({ csrfToken }: AnonymousPageRequest): string {
  return `second step ${csrfToken}`;
}
