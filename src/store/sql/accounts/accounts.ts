/**
 * Portal accounts: what their people and the operator change, queries, and the row mapper. One of
 * the people of a seller is always an owner, also if two owners give up at the same time: each
 * mutation locks its seller.
 */
import {
  type Account, type AccountReference, isSameName, ROLES,
} from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { AccountId, SellerId } from '../../../domain/id.ts';
import { ACCOUNTS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import type { AccountStore } from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import {
  prepareFind, prepareList, readCurrency, readId, readInteger, readOneOf, readText, type Row,
  type Sql,
} from '../sql.ts';
import { prepareAssertOwner } from '../access/owner-check.ts';

const HAS_TOTP = 'CASE WHEN a.totp_secret IS NULL THEN 0 ELSE 1 END AS has_totp';

/** The number of an account's passkeys, from `account AS a`. */
const PASSKEYS = `(SELECT count(*) FROM passkey AS p
  WHERE p.seller_id = a.seller_id AND p.account_id = a.id) AS passkeys`;

/** Columns for `mapAccount`, from `account AS a JOIN seller AS s`. */
export const ACCOUNT_COLUMNS = `a.seller_id, a.id AS account_id, a.name AS account_name, a.role,
  s.name AS seller_name, s.currency, s.currency_decimals, a.email, ${HAS_TOTP}, a.locale,
  a.time_zone, s.low_stock, s.two_factor_required, a.created_at AS account_created_at,
  a.seen_at AS account_seen_at,
  a.is_password_off, ${PASSKEYS}`;

const EMAIL_SHOWN_CHARACTERS = 140;

export function accountMutations(sql: Sql, audit: AuditLog) {
  const setSettings = prepareUpdateAccount(sql, 'locale = :locale, time_zone = :timeZone');
  const findEmail = sql.prepare(`
    SELECT email FROM account WHERE seller_id = :sellerId AND id = :accountId`);
  const findOwner = prepareFindAccountOfEmail(sql);
  const setEmail = prepareUpdateAccount(sql, 'email = :email');
  const setLookUp = sql.prepare(`
    UPDATE account_email SET email = :email
    WHERE seller_id = :sellerId AND account_id = :accountId`);
  const setPassword = prepareUpdateAccount(sql, 'password = :passwordHash');
  const turnPasswordOn = prepareUpdateAccount(sql, 'is_password_off = 0');
  const endOthers = sql.prepare(`
    DELETE FROM session
    WHERE seller_id = :sellerId AND account_id = :accountId AND id <> :id`);
  const renew = sql.prepare(`
    UPDATE session SET hash = :hash
    WHERE seller_id = :sellerId AND account_id = :accountId AND id = :id`);

  return {
    async setAccountSettings([{ sellerId, accountId }, { locale, timeZone }, by], at) {
      assertOne(await setSettings.run({ locale, timeZone, sellerId, accountId }));
      await audit.add({ ...by, sellerId, type: 'settings_changed' }, at);
    },
    async setEmail([{ sellerId, accountId }, email, by], at) {
      const owner = await findOwner(email);
      if (owner && (owner.sellerId !== sellerId || owner.accountId !== accountId)) return false;
      const row = await findEmail.get({ sellerId, accountId });
      assertOne(await setEmail.run({ email, sellerId, accountId }));
      assertOne(await setLookUp.run({ email, sellerId, accountId }));
      // A subject cannot contain two of the longest.
      const [from, to] = [row ? readText(row, 'email') : '', email].map((text) =>
        text.slice(0, EMAIL_SHOWN_CHARACTERS));
      await audit.add({ ...by, sellerId, type: 'email_changed', subject: `${from} → ${to}` }, at);
      return true;
    },
    async setPassword([{ sellerId, accountId }, passwordHash, { id, hash }, by], at) {
      if (await renew.run({ hash, sellerId, accountId, id }) !== 1) {
        throw new AppError('browser_refused', 'You are no longer signed in. Nothing was changed.');
      }
      assertOne(await setPassword.run({ passwordHash, sellerId, accountId }));
      await endOthers.run({ sellerId, accountId, id });
      await audit.add({ ...by, sellerId, type: 'password_changed' }, at);
    },
    async resetPassword([{ sellerId, accountId }, passwordHash], at) {
      assertOne(await setPassword.run({ passwordHash, sellerId, accountId }));
      await turnPasswordOn.run({ sellerId, accountId });
      const row = await findEmail.get({ sellerId, accountId }) ?? {};
      await endOthers.run({ sellerId, accountId, id: 0 }); // which no session has
      const subject = readText(row, 'email');
      await audit.add({ sellerId, type: 'password_reset', subject }, at);
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

export function prepareUpdateAccount(sql: Sql, assignments: string) {
  return sql.prepare(`
    UPDATE account SET ${assignments} WHERE seller_id = :sellerId AND id = :accountId`);
}

/** The only look-up that knows no seller: of the account with an e-mail address. */
export function prepareFindAccountOfEmail(sql: Sql) {
  const find = prepareFind(sql, readReference, `
    SELECT seller_id, account_id FROM account_email WHERE email = :email`);
  return (email: string) => find({ email });
}

export function accountQueries(sql: Sql) {
  const find = prepareFind(sql, mapAccount, `
    SELECT ${ACCOUNT_COLUMNS} FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId AND a.id = :accountId`);
  const list = prepareList(sql, mapAccount, `
    SELECT ${ACCOUNT_COLUMNS} FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId ORDER BY a.id LIMIT ${ACCOUNTS_PER_SELLER_LIMIT}`);
  const findAccount = prepareFindAccountOfEmail(sql);
  const findCredentials = prepareFind(sql, (row) => ({
    ...readReference(row),
    passwordHash: readText(row, 'password'),
    hasTotp: readInteger(row, 'has_totp') === 1,
    isPasswordOff: readInteger(row, 'is_password_off') === 1,
  }), `
    SELECT a.seller_id, a.id AS account_id, a.password, a.is_password_off, ${HAS_TOTP}
    FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId AND a.id = :accountId AND a.email = :email
      AND s.disabled_at IS NULL`);
  return {
    findAccount: ({ sellerId, accountId }) => find({ sellerId, accountId }),
    listAccounts: (sellerId) => list({ sellerId }),
    async findCredentials(email) {
      // Always two queries: the response time must not reveal that an account exists.
      const { sellerId = 0, accountId = 0 } = await findAccount(email) ?? {};
      return findCredentials({ sellerId, accountId, email });
    },
  } satisfies Partial<QueriesOf<AccountStore>>;
}

export function mapAccount(row: Row): Account {
  return {
    ...readReference(row),
    name: readText(row, 'account_name'),
    role: readOneOf(row, 'role', ROLES),
    sellerName: readText(row, 'seller_name'),
    currency: readCurrency(row),
    email: readText(row, 'email'),
    hasTotp: readInteger(row, 'has_totp') === 1,
    passkeys: readInteger(row, 'passkeys'),
    isPasswordOff: readInteger(row, 'is_password_off') === 1,
    locale: readText(row, 'locale'),
    timeZone: readText(row, 'time_zone'),
    lowStock: readInteger(row, 'low_stock'),
    requiresTwoFactor: readInteger(row, 'two_factor_required') === 1,
    createdAt: readInteger(row, 'account_created_at'),
    seenAt: readInteger(row, 'account_seen_at'),
  };
}

function readReference(row: Row): AccountReference {
  return {
    sellerId: readId<SellerId>(row, 'seller_id'),
    accountId: readId<AccountId>(row, 'account_id'),
  };
}

function assertOne(changes: number): void {
  if (changes !== 1) throw new AppError('not_found', 'There is no such account.');
}

export function peopleMutations(sql: Sql, audit: AuditLog) {
  const assertOwner = prepareAssertOwner(sql);
  const listPeople = prepareListPeople(sql);
  const setRole = prepareUpdateAccount(sql, 'role = :role');
  const setName = prepareUpdateAccount(sql, 'name = :name');
  const remove = prepareRemove(sql);
  const removeInvitations = sql.prepare('DELETE FROM invitation WHERE seller_id = :sellerId');

  async function find({ sellerId, accountId }: AccountReference) {
    const people = await listPeople(sellerId);
    const person = people.find(({ id }) => id === accountId);
    return { person, others: people.filter((other) => other !== person) };
  }

  /** @throws AppError `not_found` */
  async function get(account: AccountReference) {
    const { person, others } = await find(account);
    if (person) return { person, others };
    throw new AppError('not_found', 'There is no such account.');
  }

  /** An owner knows the codes of invitations, and must not come back with one. */
  async function endInvitationsOf({ role }: People[number], sellerId: SellerId): Promise<void> {
    if (role === 'owner') await removeInvitations.run({ sellerId });
  }

  return {
    async removeAccount([{ sellerId, accountId }, by], at) {
      await assertOwner(sellerId, by);
      const { person, others } = await find({ sellerId, accountId });
      if (!person) return;
      if (by != null) assertOwnerAmong(person, others); // null if it has crossed threads
      await endInvitationsOf(person, sellerId);
      await remove({ sellerId, accountId });
      await audit.add({ ...by, sellerId, type: 'account_removed', subject: person.email }, at);
    },
    async setRole([{ sellerId, accountId }, role, by], at) {
      await assertOwner(sellerId, by);
      const { person, others } = await get({ sellerId, accountId });
      if (person.role === role) return;
      assertOwnerAmong(person, others);
      await endInvitationsOf(person, sellerId);
      await setRole.run({ sellerId, accountId, role });
      const subject = `${person.name}: ${person.role} → ${role}`;
      await audit.add({ ...by, sellerId, type: 'role_changed', subject }, at);
    },
    async setAccountName([{ sellerId, accountId }, name, by], at) {
      if (by.accountId !== accountId) await assertOwner(sellerId, by);
      const { person, others } = await get({ sellerId, accountId });
      if (person.name === name) return true;
      if (others.some((other) => isSameName(other.name, name))) return false;
      await setName.run({ sellerId, accountId, name });
      const subject = `${person.name} → ${name}`;
      await audit.add({ ...by, sellerId, type: 'account_renamed', subject }, at);
      return true;
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

/** Removes an account and its rows; tables that reference another come before it. */
function prepareRemove(sql: Sql) {
  const statements = [
    ['session', 'account_id'], ['passkey', 'account_id'], ['recovery_code', 'account_id'],
    ['account_email', 'account_id'], ['account', 'id'],
  ].map(([table, column]) => sql.prepare(`
    DELETE FROM ${table} WHERE seller_id = :sellerId AND ${column} = :accountId`));
  return async ({ sellerId, accountId }: AccountReference): Promise<void> => {
    for (const statement of statements) await statement.run({ sellerId, accountId });
  };
}

type People = Awaited<ReturnType<ReturnType<typeof prepareListPeople>>>;

/** The accounts of a seller as these mutations see them, as many as there may be. */
export function prepareListPeople(sql: Sql) {
  const list = prepareList(sql, (row) => ({
    id: readInteger(row, 'id'),
    name: readText(row, 'name'),
    role: readOneOf(row, 'role', ROLES),
    email: readText(row, 'email'),
  }), 'SELECT id, name, role, email FROM account WHERE seller_id = :sellerId ORDER BY id');
  return (sellerId: SellerId) => list({ sellerId });
}

/** @throws AppError `limit_reached` unless an owner remains without this person */
function assertOwnerAmong({ role }: People[number], others: People): void {
  if (role !== 'owner' || others.some((other) => other.role === 'owner')) return;
  throw new AppError('limit_reached', 'This is the only owner of the shop. Make someone else an '
    + 'owner first.');
}
