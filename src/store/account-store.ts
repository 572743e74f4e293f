/**
 * The accounts port: portal accounts, sessions, invitations and the audit log. Secrets are passed
 * as hashes, except TOTP secrets, which are stored encrypted.
 */
import type { Account, AccountSettings, NewAccount } from '../domain/access/account.ts';
import type { ApiKey, NewApiKey } from '../domain/access/api-key.ts';
import type { AuditEvent, AuditType, NewAuditEvent } from '../domain/access/audit.ts';
import type { SellerId } from '../domain/id.ts';
import type { NewSeller } from '../domain/access/seller.ts';
import type { TotpSecret } from '../domain/access/totp.ts';
import type { ListCount } from './write.ts';

/** An invitation to create an account, valid once. */
export interface Invitation {
  /** The existing seller who gets an account; undefined for a new seller. */
  readonly sellerId: SellerId | undefined;
  /** Whether the invitation is valid only while no seller exists. */
  readonly isFirst: boolean;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface NewSession {
  /** SHA-256 of the session's secret, in hexadecimal digits. */
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

/** Who is signed in, and their catalogue's position: the only look-up of a page request. */
export interface SignedInSession {
  readonly account: Account;
  readonly session: Session;
  readonly position: number;
}

/** Everything that a registration creates, in one mutation. */
export interface Registration {
  /** Hash of the invitation code; undefined if anyone may register. */
  readonly codeHash: string | undefined;
  /** Ignored if the invitation is for an existing seller. */
  readonly seller: NewSeller;
  readonly account: NewAccount;
  readonly key: NewApiKey & { readonly hash: string; readonly lastFour?: string };
  readonly session: NewSession;
}

/** Rejected if the code is not valid (any more), or the e-mail address is taken. */
export type RegistrationResult =
  | { readonly rejection: 'code' | 'email' }
  | { readonly rejection: undefined; readonly sellerId: SellerId; readonly key: ApiKey };

/** What a sign-in is checked against. */
export interface Credentials {
  readonly sellerId: SellerId;
  readonly passwordHash: string;
  readonly hasTotp: boolean;
}

/** What two-factor authentication checks. */
interface Totp {
  /** Undefined if the server's key is missing or is a different one. */
  readonly secret: TotpSecret | undefined;
  /** The last time step whose one-time password was accepted. */
  readonly step: number;
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number;
}

/** Two-factor authentication to enable, after its first one-time password was correct. */
export interface NewTotp {
  readonly secret: TotpSecret;
  readonly step: number;
  readonly recoveryHashes: readonly string[];
}

/** The name of the column that a seller chose for each member. */
export type ColumnMapping = Readonly<Record<string, string>>;

interface AuditQuery {
  /** Only events of this type; undefined for all. */
  readonly type: AuditType | undefined;
  /** Only events before this one; undefined for the newest. */
  readonly before: number | undefined;
  /** Only events after this one, oldest first; instead of `before`. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface AccountStore {
  /**
   * The columns that the seller chose for the last file with these column names. `headerHash` is
   * a SHA-256 in hexadecimal digits. Undefined if none were chosen.
   */
  findColumnMapping(sellerId: SellerId, headerHash: string): Promise<ColumnMapping | undefined>;
  /**
   * Keeps the columns chosen for files with these column names, up to a number of them per seller;
   * an empty mapping removes what was kept. Ignores a mapping of over 8,192 characters of JSON.
   */
  keepColumnMapping(sellerId: SellerId, headerHash: string, columns: ColumnMapping): Promise<void>;

  createInvitation(hash: string, invitation: Invitation): Promise<void>;
  /** Undefined if the invitation is unknown, used or expired. */
  findInvitation(hash: string): Promise<Invitation | undefined>;
  register(registration: Registration): Promise<RegistrationResult>;

  findAccount(sellerId: SellerId): Promise<Account | undefined>;
  findCredentials(email: string): Promise<Credentials | undefined>;
  /** Also removes its sessions, codes and invitations. The seller and their keys remain. */
  removeAccount(sellerId: SellerId): Promise<void>;
  setAccountSettings(sellerId: SellerId, settings: AccountSettings, address: string): Promise<void>;
  /** Returns false, and changes nothing, if the e-mail address is taken. */
  setEmail(sellerId: SellerId, email: string, address: string): Promise<boolean>;
  /**
   * Ends all sessions except `kept`, which gets a new secret with the hash `kept.hash`.
   * @throws AppError `browser_refused` if that session has ended; nothing was changed then
   */
  setPassword(
    sellerId: SellerId, passwordHash: string,
    kept: { readonly id: number; readonly hash: string }, address: string,
  ): Promise<void>;

  /** For a forgotten password. Ends all sessions. @throws AppError `not_found` (no account) */
  resetPassword(sellerId: SellerId, passwordHash: string): Promise<void>;

  /** Undefined if two-factor authentication is off. */
  findTotp(sellerId: SellerId): Promise<Totp | undefined>;
  /** Replaces an earlier secret and its recovery codes. */
  enableTotp(sellerId: SellerId, totp: NewTotp, address: string): Promise<void>;
  disableTotp(sellerId: SellerId, address: string): Promise<void>;
  /**
   * For a lost device. Turns two-factor authentication off, removes the recovery codes and ends all
   * sessions. Returns false, and changes nothing, if it was off.
   */
  resetTotp(sellerId: SellerId): Promise<boolean>;
  /** Replaces all recovery codes. */
  setRecoveryCodes(sellerId: SellerId, hashes: readonly string[], address: string): Promise<void>;
  /** Marks a step as used. Returns false if it, or a later one, was used before. */
  takeTotpStep(sellerId: SellerId, step: number): Promise<boolean>;
  /** Uses up a recovery code. Returns false if there is no such code. */
  takeRecoveryCode(sellerId: SellerId, hash: string, address: string): Promise<boolean>;

  /**
   * Returns false, and creates no session, if the account's password has changed since `verified`
   * was checked, or if it now requires two-factor authentication and did not then.
   */
  createSession(
    sellerId: SellerId, session: NewSession, verified: Omit<Credentials, 'sellerId'>,
  ): Promise<boolean>;
  /** Undefined if there is no such session. The caller decides whether it is too old. */
  findSignedInSession(
    sellerId: SellerId, sessionHash: string,
  ): Promise<SignedInSession | undefined>;
  noteSessionSeen(sellerId: SellerId, id: number): Promise<void>;
  /** Newest first. */
  listSessions(sellerId: SellerId, limit: number): Promise<readonly Session[]>;
  /** Ends one session, or all but one. Ignores sessions that do not exist. */
  endSessions(
    sellerId: SellerId, which: { readonly id: number } | { readonly allBut: number },
    event: Pick<NewAuditEvent, 'type' | 'address'>,
  ): Promise<void>;

  noteAuditEvent(event: NewAuditEvent): Promise<void>;
  /** Newest first; with `after`, oldest first. */
  listAuditEvents(sellerId: SellerId, query: AuditQuery): Promise<readonly AuditEvent[]>;
  /** Of all types, or of one. */
  countAuditEvents(sellerId: SellerId, type: AuditType | undefined): Promise<ListCount>;

  /**
   * Encrypts a text with the server's key, which is not in the database, so that a browser can
   * store it. `context` names what it belongs to. Returns base64url.
   */
  encrypt(text: string, context: string): Promise<string>;
  /** Undefined if the text was not encrypted with this key and for this context. */
  decrypt(sealed: string, context: string): Promise<string | undefined>;
}
