/** Invitations, and the registration of a portal account. */
import type { SellerId } from '../../../domain/id.ts';
import type {
  AccountStore, Invitation, Registration, RegistrationResult,
} from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { KeyMutations } from '../access/keys.ts';
import type { SellerMutations } from '../access/sellers.ts';
import type { MutationsOf } from '../port-methods.ts';
import { readId, readInteger, readOptional, type Row } from '../row.ts';
import type { Sql } from '../sql.ts';
import { prepareFindSellerOfEmail } from './accounts.ts';
import { prepareInsertSession } from './sessions.ts';

export function invitationMutations(
  sql: Sql, audit: AuditLog, { createSeller, createKey }: SellerMutations & KeyMutations,
) {
  const removeExpired = sql.prepare('DELETE FROM invitation WHERE expires_at <= :at');
  const insert = sql.prepare(`
    INSERT INTO invitation (hash, seller_id, is_first, expires_at)
    VALUES (:hash, :sellerId, :isFirst, :expiresAt)`);
  const { findInvitationAt } = invitationQueries(sql);
  const take = sql.prepare('DELETE FROM invitation WHERE hash = :hash');
  const takeFirst = sql.prepare(`
    DELETE FROM invitation WHERE is_first = 1 AND expires_at > :at`);
  const findSellerOfEmail = prepareFindSellerOfEmail(sql);
  const insertAccount = sql.prepare(`
    INSERT INTO account (seller_id, email, password, locale, time_zone, created_at)
    VALUES (:sellerId, :email, :passwordHash, :locale, :timeZone, :at)`);
  const insertEmail = sql.prepare(`
    INSERT INTO account_email (email, seller_id) VALUES (:email, :sellerId)`);
  const insertSession = prepareInsertSession(sql);

  return {
    async createInvitation([hash, { sellerId, isFirst, expiresAt }], at) {
      await removeExpired.run({ at });
      await insert.run({ hash, sellerId, isFirst: isFirst ? 1 : 0, expiresAt });
      if (isFirst) return; // each server start on an empty database creates one
      await audit.add({ sellerId, type: 'invitation_created' }, at);
    },
    async register([registration]: [Registration], at): Promise<RegistrationResult> {
      const { codeHash, seller, account, key: { hash, lastFour, ...key }, session } = registration;
      const { email, passwordHash, locale, timeZone } = account;
      if (await findSellerOfEmail(email) !== undefined) return { rejection: 'email' };
      let invitation: Invitation | undefined;
      if (codeHash !== undefined) {
        invitation = await findInvitationAt(codeHash, at);
        if (!invitation) return { rejection: 'code' };
        // Two registrations may have found the same one, or two that are for the first seller.
        const taken = invitation.isFirst ? takeFirst.run({ at }) : take.run({ hash: codeHash });
        if (await taken === 0) return { rejection: 'code' };
      }
      const sellerId = invitation?.sellerId ?? (await createSeller([seller], at)).id;
      await insertAccount.run({ sellerId, email, passwordHash, locale, timeZone, at });
      await insertEmail.run({ email, sellerId });
      const { address } = session;
      await audit.add({ sellerId, type: 'account_created', address, subject: email }, at);
      const made = await createKey({ sellerId, hash, key, address, generated: { lastFour } }, at);
      await insertSession(sellerId, session, at);
      return { rejection: undefined, sellerId, key: made };
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

export function invitationQueries(sql: Sql) {
  const find = sql.prepare(`
    SELECT seller_id, is_first, expires_at FROM invitation
    WHERE hash = :hash AND expires_at > :at`);
  const findAnySeller = sql.prepare('SELECT id FROM seller WHERE id > 0 LIMIT 1');
  const findWithoutAccount = sql.prepare(`
    SELECT s.id FROM seller AS s LEFT JOIN account AS a ON a.seller_id = s.id
    WHERE s.id = :sellerId AND s.disabled_at IS NULL AND a.seller_id IS NULL`);
  return {
    /**
     * An invitation for the first seller is valid while no seller exists; one for an existing
     * seller, while that seller has no account and is not disabled.
     */
    async findInvitationAt(hash: string, at: number): Promise<Invitation | undefined> {
      const row = await find.get({ hash, at });
      if (!row) return undefined;
      const invitation = mapInvitation(row);
      const { sellerId, isFirst } = invitation;
      if (isFirst && await findAnySeller.get()) return undefined;
      if (sellerId !== undefined && !await findWithoutAccount.get({ sellerId })) return undefined;
      return invitation;
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
