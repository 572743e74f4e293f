/**
 * Portal accounts in SQLite: mutations, including the operator's resets, queries, and the row
 * mapper.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Account } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore } from '../../account-store.ts';
import type { AuditLog } from './audit.ts';
import type { MutationsOf, QueriesOf } from '../engine/port-methods.ts';
import { readCurrency, readId, readInteger, readText, type Row } from '../engine/row.ts';

/** Columns for `mapAccount`, from `account AS a JOIN seller AS s`. */
export const ACCOUNT_COLUMNS = `a.seller_id, s.name AS seller_name, s.currency,
  s.currency_decimals, a.email, a.totp_secret IS NOT NULL AS has_totp, a.locale, a.time_zone,
  a.low_stock, a.created_at AS account_created_at`;

const EMAIL_SHOWN_CHARACTERS = 140;

export function accountMutations(db: DatabaseSync, audit: AuditLog) {
  const remove = ['session', 'recovery_code', 'invitation', 'account'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE seller_id = ?`));
  const setSettings = db.prepare(`
    UPDATE account SET locale = ?, time_zone = ?, low_stock = ? WHERE seller_id = ?`);
  const findEmail = db.prepare('SELECT email FROM account WHERE seller_id = ?');
  const findOwner = db.prepare('SELECT seller_id FROM account WHERE email = ?');
  const setEmail = db.prepare('UPDATE account SET email = ? WHERE seller_id = ?');
  const setPassword = db.prepare('UPDATE account SET password = ? WHERE seller_id = ?');
  const endOthers = db.prepare('DELETE FROM session WHERE seller_id = ? AND id <> ?');
  const endAll = db.prepare('DELETE FROM session WHERE seller_id = ?');
  const renew = db.prepare('UPDATE session SET hash = ? WHERE seller_id = ? AND id = ?');

  return {
    removeAccount([sellerId], at) {
      const row = findEmail.get(sellerId);
      if (!row) return;
      for (const statement of remove) statement.run(sellerId);
      audit.add({ sellerId, type: 'account_removed', subject: readText(row, 'email') }, at);
    },
    setAccountSettings([sellerId, { locale, timeZone, lowStock }, address], at) {
      assertOne(setSettings.run(locale, timeZone, lowStock, sellerId));
      audit.add({ sellerId, type: 'settings_changed', address }, at);
    },
    setEmail([sellerId, email, address], at) {
      const owner = findOwner.get(email);
      if (owner && readInteger(owner, 'seller_id') !== sellerId) return false;
      const row = findEmail.get(sellerId);
      assertOne(setEmail.run(email, sellerId));
      // A subject cannot contain two of the longest.
      const [from, to] = [row ? readText(row, 'email') : '', email].map((text) =>
        text.slice(0, EMAIL_SHOWN_CHARACTERS));
      audit.add({ sellerId, type: 'email_changed', address, subject: `${from} → ${to}` }, at);
      return true;
    },
    setPassword([sellerId, passwordHash, kept, address], at) {
      if (renew.run(kept.hash, sellerId, kept.id).changes !== 1) {
        throw new AppError('browser_refused', 'You are no longer signed in. Nothing was changed.');
      }
      assertOne(setPassword.run(passwordHash, sellerId));
      endOthers.run(sellerId, kept.id);
      audit.add({ sellerId, type: 'password_changed', address }, at);
    },
    resetPassword([sellerId, passwordHash], at) {
      assertOne(setPassword.run(passwordHash, sellerId));
      endAll.run(sellerId);
      audit.add({ sellerId, type: 'password_reset' }, at);
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

export function accountQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT ${ACCOUNT_COLUMNS} FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = ?`);
  // No seller_id in its WHERE: it finds the seller.
  const findCredentials = db.prepare(`
    SELECT a.seller_id, a.password, a.totp_secret IS NOT NULL AS has_totp
    FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.email = ? AND s.disabled_at IS NULL`);
  return {
    findAccount(sellerId) {
      const row = find.get(sellerId);
      return row && mapAccount(row);
    },
    findCredentials(email) {
      const row = findCredentials.get(email);
      return row && {
        sellerId: readId<SellerId>(row, 'seller_id'),
        passwordHash: readText(row, 'password'),
        hasTotp: readInteger(row, 'has_totp') === 1,
      };
    },
  } satisfies Partial<QueriesOf<AccountStore>>;
}

export function mapAccount(row: Row): Account {
  return {
    sellerId: readId<SellerId>(row, 'seller_id'),
    sellerName: readText(row, 'seller_name'),
    currency: readCurrency(row),
    email: readText(row, 'email'),
    hasTotp: readInteger(row, 'has_totp') === 1,
    locale: readText(row, 'locale'),
    timeZone: readText(row, 'time_zone'),
    lowStock: readInteger(row, 'low_stock'),
    createdAt: readInteger(row, 'account_created_at'),
  };
}

function assertOne({ changes }: { readonly changes: number | bigint }): void {
  if (changes !== 1) throw new AppError('not_found', 'There is no such account.');
}
