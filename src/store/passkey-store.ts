/** The passkeys port: passkeys of portal accounts, and whether their passwords may sign in. */
import type { AccountReference } from '../domain/access/account.ts';
import type { Requester } from '../domain/access/audit.ts';
import type { NewPasskey, Passkey } from '../domain/access/passkey.ts';
import type { NewSession } from './account-store.ts';

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
