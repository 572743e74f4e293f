/** Portal accounts: mutations, including the operator's resets, queries, and the row mapper. */
import type { Account } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore } from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import { readCurrency, readId, readInteger, readText, type Row } from '../row.ts';
import type { Sql } from '../sql.ts';

const HAS_TOTP = 'CASE WHEN a.totp_secret IS NULL THEN 0 ELSE 1 END AS has_totp';

/** Columns for `mapAccount`, from `account AS a JOIN seller AS s`. */
export const ACCOUNT_COLUMNS = `a.seller_id, s.name AS seller_name, s.currency,
  s.currency_decimals, a.email, ${HAS_TOTP}, a.locale, a.time_zone, s.low_stock,
  a.created_at AS account_created_at`;

const EMAIL_SHOWN_CHARACTERS = 140;

export function accountMutations(sql: Sql, audit: AuditLog) {
  // Tables that reference another come before it.
  const remove = ['session', 'recovery_code', 'invitation', 'account_email', 'account'].map(
    (table) => sql.prepare(`DELETE FROM ${table} WHERE seller_id = :sellerId`),
  );
  const setSettings = sql.prepare(`
    UPDATE account SET locale = :locale, time_zone = :timeZone WHERE seller_id = :sellerId`);
  const findEmail = sql.prepare('SELECT email FROM account WHERE seller_id = :sellerId');
  const findSeller = prepareFindSellerOfEmail(sql);
  const setEmail = ['account', 'account_email'].map((table) =>
    sql.prepare(`UPDATE ${table} SET email = :email WHERE seller_id = :sellerId`));
  const setPassword = sql.prepare(`
    UPDATE account SET password = :passwordHash WHERE seller_id = :sellerId`);
  const endOthers = sql.prepare(`
    DELETE FROM session WHERE seller_id = :sellerId AND id <> :id`);
  const endAll = sql.prepare('DELETE FROM session WHERE seller_id = :sellerId');
  const renew = sql.prepare(`
    UPDATE session SET hash = :hash WHERE seller_id = :sellerId AND id = :id`);

  return {
    async removeAccount([sellerId], at) {
      const row = await findEmail.get({ sellerId });
      if (!row) return;
      for (const statement of remove) await statement.run({ sellerId });
      await audit.add({ sellerId, type: 'account_removed', subject: readText(row, 'email') }, at);
    },
    async setAccountSettings([sellerId, { locale, timeZone }, address], at) {
      assertOne(await setSettings.run({ locale, timeZone, sellerId }));
      await audit.add({ sellerId, type: 'settings_changed', address }, at);
    },
    async setEmail([sellerId, email, address], at) {
      const owner = await findSeller(email);
      if (owner !== undefined && owner !== sellerId) return false;
      const row = await findEmail.get({ sellerId });
      for (const statement of setEmail) assertOne(await statement.run({ email, sellerId }));
      // A subject cannot contain two of the longest.
      const [from, to] = [row ? readText(row, 'email') : '', email].map((text) =>
        text.slice(0, EMAIL_SHOWN_CHARACTERS));
      await audit.add({ sellerId, type: 'email_changed', address, subject: `${from} → ${to}` }, at);
      return true;
    },
    async setPassword([sellerId, passwordHash, { id, hash }, address], at) {
      if (await renew.run({ hash, sellerId, id }) !== 1) {
        throw new AppError('browser_refused', 'You are no longer signed in. Nothing was changed.');
      }
      assertOne(await setPassword.run({ passwordHash, sellerId }));
      await endOthers.run({ sellerId, id });
      await audit.add({ sellerId, type: 'password_changed', address }, at);
    },
    async resetPassword([sellerId, passwordHash], at) {
      assertOne(await setPassword.run({ passwordHash, sellerId }));
      await endAll.run({ sellerId });
      await audit.add({ sellerId, type: 'password_reset' }, at);
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

/** The only look-up that knows no seller: of the account with an e-mail address. */
export function prepareFindSellerOfEmail(sql: Sql) {
  const find = sql.prepare('SELECT seller_id FROM account_email WHERE email = :email');
  return async (email: string): Promise<SellerId | undefined> => {
    const row = await find.get({ email });
    return row && readId<SellerId>(row, 'seller_id');
  };
}

export function accountQueries(sql: Sql) {
  const find = sql.prepare(`
    SELECT ${ACCOUNT_COLUMNS} FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId`);
  const findSeller = prepareFindSellerOfEmail(sql);
  const findCredentials = sql.prepare(`
    SELECT a.seller_id, a.password, ${HAS_TOTP}
    FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId AND a.email = :email AND s.disabled_at IS NULL`);
  return {
    async findAccount(sellerId) {
      const row = await find.get({ sellerId });
      return row && mapAccount(row);
    },
    async findCredentials(email) {
      // Always two queries: the response time must not reveal that an account exists.
      const row = await findCredentials.get({ sellerId: await findSeller(email) ?? 0, email });
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

function assertOne(changes: number): void {
  if (changes !== 1) throw new AppError('not_found', 'There is no such account.');
}
