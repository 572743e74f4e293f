/**
 * The accounts port: accounts, sessions, invitations and the audit log of the portal. Secrets are
 * passed as hashes, except those of one-time passwords, which are stored encrypted.
 */
import type { Account, AccountSettings, NewAccount } from '../domain/access/account.ts';
import type { ApiKey, NewApiKey } from '../domain/access/api-key.ts';
import type { AuditEvent, AuditType, NewAuditEvent } from '../domain/access/audit.ts';
import type { SellerId } from '../domain/id.ts';
import type { NewSeller } from '../domain/access/seller.ts';
import type { TotpSecret } from '../domain/access/totp.ts';

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
  readonly address: string;
  /** Up to 200 characters. */
  readonly userAgent: string;
}

/** Times are milliseconds since 1970. */
export interface Session extends Omit<NewSession, 'hash'> {
  readonly id: number;
  readonly createdAt: number;
  /** Exact to a minute. */
  readonly seenAt: number;
}

/** Who is signed in, and the position of their catalogue: the one look-up of a page. */
export interface SignedInSession {
  readonly account: Account;
  readonly session: Session;
  readonly position: number;
}

/** Everything that a registration creates, in one mutation. */
export interface Registration {
  /** Of the invitation; undefined where anybody may register. */
  readonly codeHash: string | undefined;
  /** Is not used where the invitation is for a seller who is there. */
  readonly seller: NewSeller;
  readonly account: NewAccount;
  readonly key: NewApiKey & { readonly hash: string };
  readonly session: NewSession;
}

/** What became of it: a code that does not hold (any more), or an e-mail that is taken. */
export type RegistrationResult =
  | { readonly rejection: 'code' | 'email' }
  | { readonly rejection: undefined; readonly sellerId: SellerId; readonly key: ApiKey };

/** What a sign-in is checked against. */
export interface Credentials {
  readonly sellerId: SellerId;
  readonly passwordHash: string;
  readonly hasTotp: boolean;
}

/** What the second step of a sign-in is checked against. */
export interface Totp {
  /** Undefined where the key of the server is missing, or is another one. */
  readonly secret: TotpSecret | undefined;
  /** The last step of which a one-time password was taken. */
  readonly step: number;
  /** How many of its recovery codes are left. */
  readonly recoveryCodes: number;
}

/** Its first one-time password was right; recovery codes come as their hashes. */
export interface NewTotp {
  readonly secret: TotpSecret;
  readonly step: number;
  readonly recoveryHashes: readonly string[];
}

export interface AuditQuery {
  /** Only events of this type; undefined for all. */
  readonly type: AuditType | undefined;
  /** Only events before this one; undefined for the newest. */
  readonly before: number | undefined;
  readonly limit: number;
}

export interface AccountStore {
  createInvitation(hash: string, invitation: Invitation): Promise<void>;
  /** Undefined for one that does not hold: unknown, used, or expired. */
  findInvitation(hash: string): Promise<Invitation | undefined>;
  register(joining: Registration): Promise<RegistrationResult>;

  findAccount(sellerId: SellerId): Promise<Account | undefined>;
  findCredentials(email: string): Promise<Credentials | undefined>;
  /** With its sessions, codes and invitations; the seller stays, and so do their keys. */
  removeAccount(sellerId: SellerId): Promise<void>;
  setAccountSettings(sellerId: SellerId, settings: AccountSettings, address: string): Promise<void>;
  /** False for an e-mail that is taken: then nothing was changed. */
  setEmail(sellerId: SellerId, email: string, address: string): Promise<boolean>;
  /**
   * Ends all sessions but `kept`, which gets a new token, of which this is the hash.
   * @throws AppError `browser_refused` where that one has ended: then nothing was changed
   */
  setPassword(
    sellerId: SellerId, passwordHash: string,
    kept: { readonly id: number; readonly hash: string }, address: string,
  ): Promise<void>;

  /** For one that is lost: ends all sessions. @throws AppError `not_found` without an account */
  resetPassword(sellerId: SellerId, passwordHash: string): Promise<void>;

  /** Undefined where signing in takes no second step. */
  findTotp(sellerId: SellerId): Promise<Totp | undefined>;
  /** In the place of what there was. */
  enableTotp(sellerId: SellerId, totp: NewTotp, address: string): Promise<void>;
  disableTotp(sellerId: SellerId, address: string): Promise<void>;
  /**
   * For a device that is lost: removes the second step with its recovery codes, and ends all
   * sessions. False where signing in took none: then nothing was changed.
   */
  resetTotp(sellerId: SellerId): Promise<boolean>;
  /** In the place of all that there were. */
  setRecoveryCodes(sellerId: SellerId, hashes: readonly string[], address: string): Promise<void>;
  /** Whether no password of this step, or a later one, was taken yet: this one takes it. */
  takeTotpStep(sellerId: SellerId, step: number): Promise<boolean>;
  /** Whether there was such a code: there is none after this. */
  takeRecoveryCode(sellerId: SellerId, hash: string, address: string): Promise<boolean>;

  /**
   * False where the account has another password by now than the one that was shown, or asks for a
   * second step that was not made: then there is no session.
   */
  createSession(
    sellerId: SellerId, session: NewSession, shown: Omit<Credentials, 'sellerId'>,
  ): Promise<boolean>;
  /** Undefined where there is none: whether it is too old, its reader decides. */
  findSignedInSession(sessionHash: string): Promise<SignedInSession | undefined>;
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

  /**
   * Seals a text with the key of the server, which is not in the database, for a browser to carry.
   * `context` names what it belongs to. In base64url.
   */
  encrypt(text: string, context: string): Promise<string>;
  /** Undefined for what was not sealed here, with this key and for this. */
  decrypt(sealed: string, context: string): Promise<string | undefined>;
}
