/**
 * The part of the store port that the portal needs: accounts, sessions, invitations and the audit
 * log. Secrets come here as hashes, but for those of one-time passwords, which are kept sealed.
 */
import type { Account, AccountSettings, NewAccount } from '../domain/account.ts';
import type { ApiKey, NewApiKey } from '../domain/api-key.ts';
import type { AuditEvent, NewAuditEvent } from '../domain/audit.ts';
import type { SellerId } from '../domain/id.ts';
import type { NewSeller } from '../domain/seller.ts';

/** A code by which an account can be made, once. */
export interface Invitation {
  /** A seller who is there and gets an account; undefined for a new one. */
  readonly sellerId: SellerId | undefined;
  /** Whether it holds only as long as there is no seller at all. */
  readonly isFirst: boolean;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface NewSession {
  /** SHA-256 of the token, in hexadecimal digits. */
  readonly hash: string;
  /** Where it began, and with which browser (up to 200 characters). */
  readonly address: string;
  readonly userAgent: string;
}

/** Times are milliseconds since 1970. */
export interface Session extends Omit<NewSession, 'hash'> {
  readonly id: number;
  readonly createdAt: number;
  /** Exact to a minute. */
  readonly seenAt: number;
}

/** Who is signed in by a session, and where their catalogue stands: the one look-up of a page. */
export interface Visitor {
  readonly account: Account;
  readonly session: Session;
  readonly position: number;
}

/** All that makes an account, as one unit. */
export interface Joining {
  /** Of the invitation; undefined where anybody may register. */
  readonly codeHash: string | undefined;
  /** Is not used where the invitation is for a seller who is there. */
  readonly seller: NewSeller;
  readonly account: NewAccount;
  readonly key: NewApiKey & { readonly hash: string };
  readonly session: NewSession;
}

/** What became of it: a code that does not hold (any more), or an e-mail that is taken. */
export type Joined =
  | { readonly refusal: 'code' | 'email' }
  | { readonly refusal: undefined; readonly sellerId: SellerId; readonly key: ApiKey };

/** What a sign-in is checked against. */
export interface Credentials {
  readonly sellerId: SellerId;
  readonly passwordHash: string;
  readonly hasTotp: boolean;
}

export interface AuditQuery {
  /** Only events before this one; undefined for the newest. */
  readonly before: number | undefined;
  readonly limit: number;
}

export interface PortalStore {
  createInvitation(hash: string, invitation: Invitation): Promise<void>;
  /** Undefined for one that does not hold: unknown, used, or expired. */
  findInvitation(hash: string): Promise<Invitation | undefined>;
  joinPortal(joining: Joining): Promise<Joined>;

  findAccount(sellerId: SellerId): Promise<Account | undefined>;
  findCredentials(email: string): Promise<Credentials | undefined>;
  setAccountSettings(
    sellerId: SellerId, settings: AccountSettings, address: string,
  ): Promise<void>;
  /** Ends all sessions but the one that is named. */
  setPassword(
    sellerId: SellerId, passwordHash: string, kept: number | undefined, address: string,
  ): Promise<void>;

  createSession(sellerId: SellerId, session: NewSession): Promise<void>;
  /** Undefined where there is none: whether it is too old, its reader decides. */
  findVisitor(sessionHash: string): Promise<Visitor | undefined>;
  noteSessionSeen(sellerId: SellerId, id: number): Promise<void>;
  /** The newest first. */
  listSessions(sellerId: SellerId, limit: number): Promise<readonly Session[]>;
  /** Ends one, or all but one. What is not there is ended already. */
  endSessions(
    sellerId: SellerId, which: { readonly id: number } | { readonly allBut: number },
    event: Pick<NewAuditEvent, 'type' | 'address'>,
  ): Promise<void>;

  noteAuditEvent(event: NewAuditEvent): Promise<void>;
  /** Of one seller, the newest first. */
  listAuditEvents(sellerId: SellerId, query: AuditQuery): Promise<readonly AuditEvent[]>;
}
