/** Invitations in SQLite, and the registration of a portal account. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import type {
  AccountStore, Invitation, Registration, RegistrationResult,
} from '../../account-store.ts';
import type { AuditLog } from './audit.ts';
import type { KeyMutations } from '../catalogue/keys.ts';
import type { MutationsOf } from '../engine/port-methods.ts';
import { readId, readInteger, readOptional, type Row } from '../engine/row.ts';
import type { SellerMutations } from '../catalogue/sellers.ts';
import { prepareInsertSession } from './sessions.ts';

const COLUMNS = 'seller_id, is_first, expires_at';
/**
 * An invitation for the first seller is valid while no seller exists; one for an existing seller,
 * while that seller has no account and is not disabled.
 */
const IS_VALID = `hash = :hash AND expires_at > :at
  AND (is_first = 0 OR NOT EXISTS (SELECT 1 FROM seller WHERE id > 0))
  AND NOT EXISTS (SELECT 1 FROM account AS a WHERE a.seller_id = invitation.seller_id)
  AND NOT EXISTS (
    SELECT 1 FROM seller WHERE id = invitation.seller_id AND disabled_at IS NOT NULL)`;

export function invitationMutations(
  db: DatabaseSync, audit: AuditLog, { createSeller, createKey }: SellerMutations & KeyMutations,
) {
  const removeExpired = db.prepare('DELETE FROM invitation WHERE expires_at <= ?');
  const insert = db.prepare(`
    INSERT INTO invitation (hash, seller_id, is_first, expires_at) VALUES (?, ?, ?, ?)`);
  const take = db.prepare(`DELETE FROM invitation WHERE ${IS_VALID} RETURNING ${COLUMNS}`);
  const findEmail = db.prepare('SELECT seller_id FROM account WHERE email = ?');
  const insertAccount = db.prepare(`
    INSERT INTO account (seller_id, email, password, locale, time_zone, created_at)
    VALUES (?, ?, ?, ?, ?, ?)`);
  const insertSession = prepareInsertSession(db);

  return {
    createInvitation([hash, { sellerId, isFirst, expiresAt }], at) {
      removeExpired.run(at);
      insert.run(hash, sellerId ?? null, isFirst ? 1 : 0, expiresAt);
      if (isFirst) return; // each server start on an empty database creates one
      audit.add({ sellerId, type: 'invitation_created' }, at);
    },
    register([registration]: [Registration], at): RegistrationResult {
      const { codeHash, seller, account, key: { hash, ...key }, session } = registration;
      const { email, passwordHash, locale, timeZone } = account;
      if (findEmail.get(email)) return { rejection: 'email' };
      const row = codeHash === undefined ? undefined : take.get({ hash: codeHash, at });
      if (codeHash !== undefined && !row) return { rejection: 'code' };
      const sellerId = (row && mapInvitation(row).sellerId) ?? createSeller([seller], at).id;
      insertAccount.run(sellerId, email, passwordHash, locale, timeZone, at);
      const { address } = session;
      audit.add({ sellerId, type: 'account_created', address, subject: email }, at);
      const made = createKey({ sellerId, hash, key, address }, at);
      insertSession(sellerId, session, at);
      return { rejection: undefined, sellerId, key: made };
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

export function invitationQueries(db: DatabaseSync) {
  const find = db.prepare(`SELECT ${COLUMNS} FROM invitation WHERE ${IS_VALID}`);
  return {
    findInvitationAt(hash: string, at: number): Invitation | undefined {
      const row = find.get({ hash, at });
      return row && mapInvitation(row);
    },
  };
}

function mapInvitation(row: Row): Invitation {
  return {
    sellerId: readOptional(row, 'seller_id', readId<SellerId>),
    isFirst: readInteger(row, 'is_first') === 1,
    expiresAt: readInteger(row, 'expires_at'),
  };
}
