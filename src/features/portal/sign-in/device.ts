/**
 * Browsers that an account has used before (OWASP, device cookies): each keeps a sealed cookie that
 * names the account and itself. It lets nobody in; it only gives the browser counts of its own for
 * what is refused. A new password ends what it says.
 */
import { randomBytes } from 'node:crypto';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore, Credentials } from '../../../store/account-store.ts';
import { DEVICE_COOKIE_LIMIT_CHARACTERS, DEVICE_LIFE_MS } from '../limits.ts';
import { formatCookie, readCookie } from './cookie.ts';
import { passwordFingerprint } from '../../../domain/access/password.ts';

const COOKIE = 'device';
const CONTEXT = 'device';
const ID_BYTES = 16;

interface Device {
  readonly id: string;
  readonly sellerId: SellerId;
  /** Of the password that it was used with. */
  readonly stamp: string;
}

type Known = Pick<Credentials, 'sellerId' | 'passwordHash'>;

/** Undefined for a browser without the cookie, and for one that was not made here. */
export async function readDevice(
  store: AccountStore, header: string | undefined,
): Promise<Device | undefined> {
  const sealed = readCookie(header, COOKIE);
  if (sealed === undefined || sealed.length > DEVICE_COOKIE_LIMIT_CHARACTERS) return undefined;
  const text = await store.decrypt(sealed, CONTEXT);
  // The cast: only devices are sealed for this.
  return text === undefined ? undefined : JSON.parse(text) as Device;
}

/** The name of the device, where it is one of the account's. */
export function findDeviceId(
  device: Device | undefined, credentials: Known | undefined,
): string | undefined {
  const isOwn = device !== undefined && credentials?.sellerId === device.sellerId
    && passwordFingerprint(credentials.passwordHash) === device.stamp;
  return isOwn ? device.id : undefined;
}

/** The cookie of a browser that has signed in; it keeps its name in the same account. */
export async function makeDeviceCookie(
  store: AccountStore, { sellerId, passwordHash }: Known, known: Device | undefined,
): Promise<string> {
  const id = known?.sellerId === sellerId ? known.id : randomBytes(ID_BYTES).toString('base64url');
  const device: Device = { id, sellerId, stamp: passwordFingerprint(passwordHash) };
  return formatCookie(COOKIE, await store.encrypt(JSON.stringify(device), CONTEXT), DEVICE_LIFE_MS);
}
