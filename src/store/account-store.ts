/**
 * The accounts port: portal accounts, sessions, invitations and the audit log; and the port of
 * passkeys. Secrets are passed as hashes, except TOTP secrets, which are stored encrypted.
 */
import type {
  Account, AccountReference, AccountSettings, NewAccount, Role,
} from '../domain/access/account.ts';
import type { ApiKey, NewApiKey, StoredSecret } from '../domain/access/api-key.ts';
import type { AuditEvent, AuditType, NewAuditEvent, Requester } from '../domain/access/audit.ts';
import type { SellerId } from '../domain/id.ts';
import type { NewSeller } from '../domain/access/seller.ts';
import type { TotpSecret } from '../domain/access/totp.ts';
import type { ListCount } from './write.ts';
import type { NewPasskey, Passkey } from '../domain/access/passkey.ts';

/** An invitation to create an account, valid once. */
export interface Invitation {
  /** The existing seller who gets an account; undefined for a new seller. */
  readonly sellerId: SellerId | undefined;
  /** Of the account; always `owner` for a new seller. */
  readonly role: Role;
  /** Of the account, 1..100 code points. Undefined for the one of its e-mail address. */
  readonly name: string | undefined;
  /** Whether the invitation is valid only while no seller exists. */
  readonly isFirst: boolean;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** An invitation, with the hash that identifies it. */
export interface StoredInvitation extends Invitation {
  readonly hash: string;
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
  /** Both, in lived time (runtime/clock.ts). */
  readonly livedAt: number;
  readonly seenLivedAt: number;
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
  /** Created with the seller's first account only. */
  readonly key: NewApiKey;
  readonly secret: StoredSecret;
  readonly session: NewSession;
}

/** Rejected if the code is not valid (any more), or the e-mail address is taken. */
export type RegistrationResult =
  | { readonly rejection: 'code' | 'email' }
  | AccountReference & {
    readonly rejection: undefined;
    /** Undefined if the seller had an account before. */
    readonly key: ApiKey | undefined;
  };

/** What a sign-in is checked against. */
export interface Credentials extends AccountReference {
  readonly passwordHash: string;
  readonly hasTotp: boolean;
}

/** What is stored of an account to sign in with. */
export interface StoredCredentials extends Credentials {
  /** Whether the password is correct only to confirm changes, not to sign in. */
  readonly isPasswordOff: boolean;
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

/** A list of the portal whose filters can be saved. */
export type FilteredList = 'products' | 'changes';

/** A filter that all accounts of a seller see. */
export interface SavedFilter {
  readonly list: FilteredList;
  /** 1..60 code points. */
  readonly name: string;
  /** The query of the list's page: 1..200 characters. */
  readonly query: string;
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

  /** Replaces the filter of this list and name. @throws AppError `limit_reached` */
  saveFilter(sellerId: SellerId, filter: SavedFilter): Promise<void>;
  /** Idempotent. */
  deleteFilter(sellerId: SellerId, list: FilteredList, name: string): Promise<void>;
  /** By name. */
  listFilters(sellerId: SellerId, list: FilteredList): Promise<readonly SavedFilter[]>;

  /** @throws AppError `limit_reached` (accounts and invitations), `browser_refused` (no owner) */
  createInvitation(hash: string, invitation: Invitation, by?: Requester): Promise<void>;
  /** Undefined if the invitation is unknown, used or expired. */
  findInvitation(hash: string): Promise<Invitation | undefined>;
  /** Of one seller, also those that have expired, in the order of their hashes. */
  listInvitations(sellerId: SellerId): Promise<readonly StoredInvitation[]>;
  /** Returns false if the seller has no such invitation. @throws AppError `browser_refused` */
  revokeInvitation(sellerId: SellerId, hash: string, by: Requester): Promise<boolean>;
  register(registration: Registration): Promise<RegistrationResult>;

  findAccount(account: AccountReference): Promise<Account | undefined>;
  /** All accounts of a seller, oldest first. */
  listAccounts(sellerId: SellerId): Promise<readonly Account[]>;
  findCredentials(email: string): Promise<StoredCredentials | undefined>;
  /**
   * Also removes its sessions and codes. The seller and their keys remain. Ignores an account that
   * does not exist. Without `by`, for the operator, it may be the last owner; the seller's
   * invitations end then.
   * @throws AppError `limit_reached` for the last owner; `browser_refused`
   */
  removeAccount(account: AccountReference, by?: Requester): Promise<void>;
  /** @throws AppError `not_found`; `limit_reached` for the last owner; `browser_refused` */
  setRole(account: AccountReference, role: Role, by: Requester): Promise<void>;
  /**
   * Returns false, and changes nothing, if another account of the seller has this name.
   * @throws AppError `not_found`; `browser_refused`, except for the own name
   */
  setAccountName(account: AccountReference, name: string, by: Requester): Promise<boolean>;
  setAccountSettings(
    account: AccountReference, settings: AccountSettings, by: Requester,
  ): Promise<void>;
  /** Returns false, and changes nothing, if the e-mail address is taken. */
  setEmail(account: AccountReference, email: string, by: Requester): Promise<boolean>;
  /**
   * Ends all sessions of the account except `session`, which gets a new secret with the
   * hash `session.hash`.
   * @throws AppError `browser_refused` if that session has ended; nothing was changed then
   */
  setPassword(
    account: AccountReference, passwordHash: string,
    session: { readonly id: number; readonly hash: string }, by: Requester,
  ): Promise<void>;

  /** For a lost password: it may sign in again. Ends all sessions. @throws AppError `not_found` */
  resetPassword(account: AccountReference, passwordHash: string): Promise<void>;

  /** Undefined if two-factor authentication is off. */
  findTotp(account: AccountReference): Promise<Totp | undefined>;
  /** Replaces an earlier secret and its recovery codes. */
  enableTotp(account: AccountReference, totp: NewTotp, by: Requester): Promise<void>;
  disableTotp(account: AccountReference, by: Requester): Promise<void>;
  /**
   * For a lost device. Turns two-factor authentication off, removes the recovery codes and ends all
   * sessions. Returns false, and changes nothing, if it was off.
   */
  resetTotp(account: AccountReference): Promise<boolean>;
  /** Replaces all recovery codes. */
  setRecoveryCodes(
    account: AccountReference, hashes: readonly string[], by: Requester,
  ): Promise<void>;
  /** Marks a step as used. Returns false if it, or a later one, was used before. */
  takeTotpStep(account: AccountReference, step: number): Promise<boolean>;
  /** Uses up a recovery code. Returns false if there is no such code. */
  takeRecoveryCode(account: AccountReference, hash: string, address: string): Promise<boolean>;

  /**
   * Returns false, and creates no session, if the account's password has changed since `verified`
   * was checked, or was turned off, or if it now requires two-factor authentication and did not
   * then.
   */
  createSession(verified: Credentials, session: NewSession): Promise<boolean>;
  /** Undefined if there is no such session. The caller decides whether it is too old. */
  findSignedInSession(
    sellerId: SellerId, sessionHash: string,
  ): Promise<SignedInSession | undefined>;
  noteSessionSeen(account: AccountReference, id: number): Promise<void>;
  /** Newest first. */
  listSessions(account: AccountReference, limit: number): Promise<readonly Session[]>;
  /** Ends one session, or all but one. Ignores sessions that do not exist. */
  endSessions(
    account: AccountReference, selection: { readonly id: number } | { readonly allBut: number },
    event: Pick<NewAuditEvent, 'type'> & Partial<NewAuditEvent>,
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

/** A passkey whose signature was correct, with the counter that was signed. */
export type PasskeyUse = Pick<Passkey, 'id' | 'name' | 'publicKey' | 'signCount'>;

export interface PasskeyStore {
  /** Oldest first. */
  listPasskeys(account: AccountReference): Promise<readonly Passkey[]>;
  /**
   * Returns false, and adds nothing, if an account of the seller has this credential.
   * @throws AppError `limit_reached`, `not_found`
   */
  addPasskey(account: AccountReference, passkey: NewPasskey, by: Requester): Promise<boolean>;
  /** @throws AppError `not_found` */
  renamePasskey(account: AccountReference, id: number, name: string): Promise<void>;
  /** @throws AppError `not_found`; `limit_reached` for the last one while the password is off */
  removePasskey(account: AccountReference, id: number, by: Requester): Promise<void>;
  /** @throws AppError `limit_reached` without a passkey; `not_found` */
  setPasswordOff(account: AccountReference, isOff: boolean, by: Requester): Promise<void>;
  /**
   * Returns false, and stores nothing, if the passkey was removed, or if its signature counter did
   * not increase: it may have been copied.
   */
  notePasskeyUse(account: AccountReference, use: PasskeyUse): Promise<boolean>;
  /** Starts a session as well. Returns false, and creates none, if the seller is disabled, too. */
  createPasskeySession(
    account: AccountReference, use: PasskeyUse, session: NewSession,
  ): Promise<boolean>;
}
