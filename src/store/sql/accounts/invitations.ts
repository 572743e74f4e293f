/** Invitations, and the registration of a portal account. */
import { isSameName, nameFromEmail, ROLES } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { AccountId, SellerId } from '../../../domain/id.ts';
import { ACCOUNTS_PER_SELLER_LIMIT, ACTOR_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { type Moment, termFrom } from '../../../runtime/clock.ts';
import type {
  AccountStore, Invitation, Registration, RegistrationResult,
} from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { KeyMutations } from '../access/keys.ts';
import { prepareAssertOwner } from '../access/owner-check.ts';
import { prepareAssertSeller } from '../access/seller-deletion.ts';
import type { SellerMutations } from '../access/sellers.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import {
  prepareFind, prepareList, readId, readInteger, readOneOf, readOptional, readText, type Row,
  type Sql,
} from '../sql.ts';
import { prepareFindAccountOfEmail, prepareListPeople } from './accounts.ts';
import { prepareInsertSession } from './sessions.ts';

const COLUMNS = 'hash, seller_id, role, name, is_first, expires_at';
const INSERT = `
  INSERT INTO invitation (${COLUMNS}, lived_until)
  VALUES (:hash, :sellerId, :role, :name, :first, :expiresAt, :until)`;

export function invitationMutations(
  sql: Sql, audit: AuditLog, lived: () => number,
  { createSeller, createKey }: SellerMutations & KeyMutations,
) {
  const [assertSeller, assertOwner] = [prepareAssertSeller(sql), prepareAssertOwner(sql)];
  const removeExpired = sql.prepare('DELETE FROM invitation WHERE expires_at <= :at');
  const count = sql.prepare(`
    SELECT (SELECT count(*) FROM account WHERE seller_id = :sellerId)
      + (SELECT count(*) FROM invitation WHERE seller_id = :sellerId) AS people`);
  const insert = sql.prepare(INSERT);
  const take = prepareTakeInvitation(sql);
  const revoke = sql.prepare(`
    DELETE FROM invitation WHERE seller_id = :sellerId AND hash = :hash RETURNING role, name`);
  const insertAccount = prepareInsertAccount(sql);
  const findAccountOfEmail = prepareFindAccountOfEmail(sql);
  const insertSession = prepareInsertSession(sql, lived);

  return {
    async createInvitation([hash, { sellerId, role, name, isFirst, expiresAt }, by], at) {
      await removeExpired.run({ at });
      if (sellerId != null) {
        await Promise.all([assertSeller(sellerId), assertOwner(sellerId, by)]);
        const people = readInteger(await count.get({ sellerId }) ?? {}, 'people');
        if (people >= ACCOUNTS_PER_SELLER_LIMIT) throw tooManyPeople();
      }
      const { livedUntil: until } = termFrom({ wall: at, lived: lived() }, expiresAt - at);
      await insert.run({ hash, sellerId, role, name, first: Number(isFirst), expiresAt, until });
      if (isFirst) return; // each server start on an empty database creates one
      const subject = describe(name, role);
      await audit.add({ ...by, sellerId, type: 'invitation_created', subject }, at);
    },
    async revokeInvitation([sellerId, hash, by], at) {
      await assertOwner(sellerId, by);
      const row = await revoke.get({ sellerId, hash });
      if (!row) return false;
      const subject = describe(readOptional(row, 'name', readText), readText(row, 'role'));
      await audit.add({ ...by, sellerId, type: 'invitation_revoked', subject }, at);
      return true;
    },
    async register([registration]: [Registration], at): Promise<RegistrationResult> {
      const { codeHash, seller, account, key, secret, session } = registration;
      if (await findAccountOfEmail(account.email)) return { rejection: 'email' };
      let invitation: Invitation | undefined;
      if (codeHash !== undefined) {
        invitation = await take(codeHash, { wall: at, lived: lived() });
        if (!invitation) return { rejection: 'code' };
      }
      const sellerId = invitation?.sellerId ?? (await createSeller([seller], at)).id;
      const { accountId, name: actorName, isFirst } =
        await insertAccount(sellerId, account, invitation, at);
      const by = { actorName, address: session.address };
      await audit.add({ ...by, sellerId, type: 'account_created', subject: account.email }, at);
      // Further people get none: owners create the keys of a shop.
      const creation = { sellerId, secret, key, actor: by, address: by.address };
      const firstKey = isFirst ? await createKey(creation, at) : undefined;
      await insertSession({ sellerId, accountId }, session, at);
      return { rejection: undefined, sellerId, accountId, key: firstKey };
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

/** Uses up an invitation. Undefined if it is not valid. */
function prepareTakeInvitation(sql: Sql) {
  const { findInvitationAt } = invitationQueries(sql);
  const take = sql.prepare('DELETE FROM invitation WHERE hash = :hash');
  const takeFirst = sql.prepare(`
    DELETE FROM invitation WHERE is_first = 1 AND expires_at > :at`);
  return async (hash: string, now: Moment): Promise<Invitation | undefined> => {
    const invitation = await findInvitationAt(hash, now);
    if (!invitation) return undefined;
    // Two registrations may have found the same one, or two that are for the first seller.
    const count = await (invitation.isFirst ? takeFirst.run({ at: now.wall }) : take.run({ hash }));
    return count === 0 ? undefined : invitation;
  };
}

/** Inserts an account with the seller's next id, and a name that no other account has. */
function prepareInsertAccount(sql: Sql) {
  const takeId = sql.prepare(`
    UPDATE seller SET last_account_id = last_account_id + 1 WHERE id = :sellerId
    RETURNING last_account_id`);
  const listPeople = prepareListPeople(sql);
  const insertAccount = sql.prepare(`
    INSERT INTO account (seller_id, id, name, role, email, password, locale, time_zone, created_at,
      seen_at)
    VALUES (:sellerId, :accountId, :name, :role, :email, :passwordHash, :locale, :timeZone, :at,
      :at)`);
  const insertEmail = sql.prepare(`
    INSERT INTO account_email (email, seller_id, account_id)
    VALUES (:email, :sellerId, :accountId)`);
  return async (
    sellerId: SellerId, account: Registration['account'], invitation: Invitation | undefined,
    at: number,
  ) => {
    const { email, passwordHash, locale, timeZone } = account;
    // First, because it locks the seller: nobody else can take the name.
    const row = await takeId.get({ sellerId }) ?? {};
    const accountId = readId<AccountId>(row, 'last_account_id');
    const people = await listPeople(sellerId);
    const name = findFreeName(
      invitation?.name ?? nameFromEmail(email), people.map((other) => other.name));
    const role = invitation?.role ?? 'owner';
    const own = { sellerId, accountId, email };
    await insertAccount.run({ ...own, name, role, passwordHash, locale, timeZone, at });
    await insertEmail.run(own);
    return { accountId, name, isFirst: people.length === 0 };
  };
}

/** The name, or with a number if another account has it: `Anna`, `Anna 2`. */
function findFreeName(base: string, names: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : ` ${number}`;
    const name = [...base].slice(0, ACTOR_LIMIT_CODE_POINTS - suffix.length).join('') + suffix;
    if (!names.some((other) => isSameName(other, name))) return name;
  }
}

export function invitationQueries(sql: Sql) {
  const find = prepareFind(sql, mapInvitation, `
    SELECT ${COLUMNS} FROM invitation WHERE hash = :hash AND expires_at > :wall
      AND (lived_until IS NULL OR lived_until > :lived)`);
  const mapListed = (row: Row) => ({ hash: readText(row, 'hash'), ...mapInvitation(row) });
  const list = prepareList(sql, mapListed, `
    SELECT ${COLUMNS} FROM invitation WHERE seller_id = :sellerId
    ORDER BY hash LIMIT ${ACCOUNTS_PER_SELLER_LIMIT}`);
  const findAnySeller = sql.prepare('SELECT id FROM seller WHERE id > 0 LIMIT 1');
  const findSeller = sql.prepare(`
    SELECT id FROM seller WHERE id = :sellerId AND disabled_at IS NULL`);
  return {
    /**
     * An invitation for the first seller is valid while no seller exists; one for an existing
     * seller, while that seller is not disabled.
     */
    async findInvitationAt(hash: string, { wall, lived }: Moment): Promise<Invitation | undefined> {
      const invitation = await find({ hash, wall, lived });
      if (!invitation) return undefined;
      const { sellerId, isFirst } = invitation;
      if (isFirst && await findAnySeller.get()) return undefined;
      if (sellerId !== undefined && !await findSeller.get({ sellerId })) return undefined;
      return invitation;
    },
    ...{
      listInvitations: (sellerId) => list({ sellerId }),
    } satisfies Partial<QueriesOf<AccountStore>>,
  };
}

function mapInvitation(row: Row): Invitation {
  return {
    sellerId: readOptional(row, 'seller_id', readId<SellerId>),
    role: readOneOf(row, 'role', ROLES),
    name: readOptional(row, 'name', readText),
    isFirst: readInteger(row, 'is_first') === 1,
    expiresAt: readInteger(row, 'expires_at'),
  };
}

function describe(name: string | null | undefined, role: string): string {
  return name == null ? role : `${name}, ${role}`;
}

function tooManyPeople(): AppError {
  const limit = `${ACCOUNTS_PER_SELLER_LIMIT} people, with those who are invited`;
  return new AppError('limit_reached', `The shop has ${limit}. Remove one first.`);
}
