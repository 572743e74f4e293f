/**
 * Known browsers of an account (OWASP device cookies): after a sign-in, a browser keeps an
 * encrypted cookie with the account and its own id. The cookie signs nobody in. It only gives the
 * browser its own rate limits, separate from those of strangers. A password change invalidates it.
 */
import { randomBytes } from 'node:crypto';
import { passwordFingerprint } from '../../../domain/access/password.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore, Credentials } from '../../../store/account-store.ts';
import { DEVICE_COOKIE_LIMIT_CHARACTERS, DEVICE_LIFE_MS } from '../limits.ts';
import { decryptValue, encryptValue, formatCookie, readCookie } from './cookie.ts';

const COOKIE = 'device';
const CONTEXT = 'device';
const ID_BYTES = 16;

interface Device {
  readonly id: string;
  readonly sellerId: SellerId;
  /** Fingerprint of the password at the last sign-in. */
  readonly stamp: string;
}

type Known = Pick<Credentials, 'sellerId' | 'passwordHash'>;

/** Undefined for a browser without a valid cookie. */
export async function readDevice(
  store: AccountStore, header: string | undefined,
): Promise<Device | undefined> {
  return decryptValue<Device>(store, readCookie(header, COOKIE), CONTEXT, {
    now: 0, // a device does not expire on its own
    limitCharacters: DEVICE_COOKIE_LIMIT_CHARACTERS,
  });
}

/** The id of the device if it belongs to the account. */
export function findDeviceId(
  device: Device | undefined, credentials: Known | undefined,
): string | undefined {
  const isOwn = device !== undefined && credentials?.sellerId === device.sellerId
    && passwordFingerprint(credentials.passwordHash) === device.stamp;
  return isOwn ? device.id : undefined;
}

/** The cookie of a browser that has signed in; its id stays the same for the same account. */
export async function makeDeviceCookie(
  store: AccountStore, { sellerId, passwordHash }: Known, known: Device | undefined,
): Promise<string> {
  const id = known?.sellerId === sellerId ? known.id : randomBytes(ID_BYTES).toString('base64url');
  const device: Device = { id, sellerId, stamp: passwordFingerprint(passwordHash) };
  return formatCookie(COOKIE, await encryptValue(store, device, CONTEXT), DEVICE_LIFE_MS);
}
