/**
 * Known browsers of an account (OWASP device cookies): a sign-in leaves an encrypted cookie with
 * the account and a browser id. The cookie signs nobody in. It only gives the browser its own rate
 * limits, separate from those of strangers. A password change invalidates it.
 */
import { randomBytes } from 'node:crypto';
import type { AccountReference } from '../../../domain/access/account.ts';
import { passwordFingerprint } from '../../../domain/access/password.ts';
import type { Credentials } from '../../../store/account-store.ts';
import { DEVICE_COOKIE_LIMIT_CHARACTERS, DEVICE_LIFE_MS } from '../limits.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { decryptValue, encryptValue, formatCookie, readCookie } from './cookie.ts';

const COOKIE = 'device';
const CONTEXT = 'device';
const ID_BYTES = 16;

interface Device extends AccountReference {
  readonly id: string;
  /** Fingerprint of the password at the last sign-in. */
  readonly stamp: string;
}

type Known = AccountReference & Pick<Credentials, 'passwordHash'>;

/** Undefined if the browser has no valid cookie. */
export async function readDevice(
  { headers }: Pick<AnonymousPageRequest, 'headers'>, portal: Portal,
): Promise<Device | undefined> {
  const cookie = readCookie(headers.cookie, COOKIE);
  return decryptValue<Device>(portal, cookie, CONTEXT, DEVICE_COOKIE_LIMIT_CHARACTERS);
}

/** The browser's id, if the account has signed in on it before. */
export async function findDeviceId(
  request: AnonymousPageRequest, portal: Portal, credentials: Known | undefined,
): Promise<string | undefined> {
  const device = await readDevice(request, portal);
  const isOwn = device !== undefined && credentials?.sellerId === device.sellerId
    && passwordFingerprint(credentials.passwordHash) === device.stamp;
  return isOwn ? device.id : undefined;
}

/**
 * The cookie for a browser that has signed in; the same account keeps its browser id. Empty if the
 * server cannot encrypt it.
 */
export async function rememberDevice(
  request: AnonymousPageRequest, portal: Portal, { sellerId, accountId, passwordHash }: Known,
): Promise<readonly string[]> {
  try {
    const earlierDevice = await readDevice(request, portal);
    const isOwn = earlierDevice?.sellerId === sellerId && earlierDevice.accountId === accountId;
    const id = isOwn ? earlierDevice.id : randomBytes(ID_BYTES).toString('base64url');
    const device: Device = {
      id, sellerId, accountId, stamp: passwordFingerprint(passwordHash),
    };
    return [formatCookie(COOKIE, await encryptValue(portal, device, CONTEXT), DEVICE_LIFE_MS)];
  } catch (error) {
    portal.report({ id: 'device', error }); // the sign-in continues without it
    return [];
  }
}
