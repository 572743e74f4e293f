/** Invitations: codes with which a person creates an account of the portal, for one seller. */
import type { Role } from '../domain/access/account.ts';
import type { Requester } from '../domain/access/audit.ts';
import { generateCode, hashCode } from '../domain/access/human-code.ts';
import type { SellerId } from '../domain/id.ts';
import { INVITATION_CODE_LIFE_MS } from '../domain/limits.ts';
import { formatTime } from '../domain/time.ts';
import type { AccountStore } from './account-store.ts';

interface InvitationOptions {
  /** An existing seller. Default: the person creates a seller. */
  readonly sellerId?: SellerId | undefined;
  /** Default: owner. */
  readonly role?: Role;
  /** Of the account. Default: the one of its e-mail address. */
  readonly name?: string | undefined;
  /** Undefined for the operator. */
  readonly by?: Requester;
  /** Whether it is valid only while no seller exists. Default false. */
  readonly isFirst?: boolean;
  readonly lifeMs?: number;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** Creates an invitation, of which only a hash is stored. `expires_at` is RFC 3339. */
export async function invite(
  store: AccountStore,
  options: InvitationOptions = {},
): Promise<{ readonly code: string; readonly expires_at: string }> {
  const {
    sellerId, role = 'owner', name, by, isFirst = false, lifeMs = INVITATION_CODE_LIFE_MS,
    clock = Date.now,
  } = options;
  const code = generateCode();
  const expiresAt = clock() + lifeMs;
  const invitation = { sellerId, role, name, isFirst, expiresAt };
  await store.createInvitation(hashCode(code) ?? '', invitation, by);
  return { code, expires_at: formatTime(expiresAt) };
}

/** The page of the portal that takes the code. */
export function formatJoinUrl(baseUrl: string, sellerId: SellerId | undefined): string {
  const shop = sellerId === undefined ? '' : '?shop=existing';
  return `${baseUrl.replace(/\/+$/, '')}/portal/join${shop}`;
}
