/** Accounts, sessions and audit events for tests of a store. */
import { hash, randomUUID } from 'node:crypto';
import type { AuditEvent } from '../../../src/domain/access/audit.ts';
import type { SellerId } from '../../../src/domain/id.ts';
import { parseNewSeller } from '../../../src/domain/access/seller.ts';
import type {
  Credentials, Invitation, NewSession, Registration,
} from '../../../src/store/account-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { ownerOf } from '../../support/owner.ts';
import { makeNewKey, makeSecret } from './fixture.ts';

/** The SHA-256 of a secret that does not exist. */
export function makeSecretHash(): string {
  return hash('sha256', randomUUID(), 'hex');
}

export function makeNewSession(members: Partial<NewSession> = {}): NewSession {
  return { hash: makeSecretHash(), address: '192.0.2.7', userAgent: 'Firefox/140', ...members };
}

/** The credentials of the accounts of `makeJoining`. */
export const SHOWN: Pick<Credentials, 'passwordHash' | 'hasTotp'> = {
  passwordHash: '$argon2id$one', hasTotp: false,
};

export function shownFor(sellerId: SellerId): Credentials {
  return { ...ownerOf(sellerId), ...SHOWN };
}

/** An invitation to open a shop. */
export function makeInvitation(members: Partial<Invitation>): Invitation {
  return {
    sellerId: undefined, role: 'owner', name: undefined, isFirst: false, expiresAt: 0, ...members,
  };
}

let emails = 0;

export function makeJoining(members: Partial<Registration> = {}, email?: string): Registration {
  emails += 1;
  return {
    codeHash: undefined,
    seller: parseNewSeller('A shop', 'EUR'),
    account: {
      email: email ?? `anna${emails}@shop.example`, passwordHash: SHOWN.passwordHash,
      locale: 'de-CH', timeZone: 'Europe/Zurich',
    },
    key: makeNewKey(),
    secret: makeSecret(),
    session: makeNewSession(),
    ...members,
  };
}

export interface Member {
  readonly sellerId: SellerId;
  readonly joining: Registration;
}

/** A seller with an account, a key and a session. */
export async function join(store: Store, joining = makeJoining()): Promise<Member> {
  const joined = await store.register(joining);
  if (joined.rejection !== undefined) throw new Error(`Rejected for its ${joined.rejection}.`);
  return { sellerId: joined.sellerId, joining };
}

/** All events of a seller, oldest first. */
export async function listEvents(store: Store, sellerId: SellerId): Promise<AuditEvent[]> {
  const query = { type: undefined, before: undefined, limit: 1_000 };
  return (await store.listAuditEvents(sellerId, query)).toReversed();
}

export async function listTypes(store: Store, sellerId: SellerId): Promise<string[]> {
  return (await listEvents(store, sellerId)).map(({ type }) => type);
}
