/**
 * The people of a seller: their names and roles, and their removal. One of them is always an owner,
 * also if two owners give up at the same time: each mutation locks its seller.
 */
import { type AccountReference, isSameName } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore } from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf } from '../port-methods.ts';
import { prepareAssertOwner } from '../access/owner-check.ts';
import { readInteger, readText } from '../row.ts';
import type { Sql } from '../sql.ts';
import { readRole } from './accounts.ts';

export function peopleMutations(sql: Sql, audit: AuditLog) {
  const assertOwner = prepareAssertOwner(sql);
  const listPeople = prepareListPeople(sql);
  const setRole = sql.prepare(`
    UPDATE account SET role = :role WHERE seller_id = :sellerId AND id = :accountId`);
  const setName = sql.prepare(`
    UPDATE account SET name = :name WHERE seller_id = :sellerId AND id = :accountId`);
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
  const list = sql.prepare(`
    SELECT id, name, role, email FROM account WHERE seller_id = :sellerId ORDER BY id`);
  return async (sellerId: SellerId) => (await list.all({ sellerId })).map((row) => ({
    id: readInteger(row, 'id'),
    name: readText(row, 'name'),
    role: readRole(row),
    email: readText(row, 'email'),
  }));
}

/** @throws AppError `limit_reached` unless an owner remains without this person */
function assertOwnerAmong({ role }: People[number], others: People): void {
  if (role !== 'owner' || others.some((other) => other.role === 'owner')) return;
  throw new AppError('limit_reached', 'This is the only owner of the shop. Make someone else an '
    + 'owner first.');
}
