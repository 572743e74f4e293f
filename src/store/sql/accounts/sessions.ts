/** Portal sessions. Only hashes of their secrets are stored. */
import type { AccountReference } from '../../../domain/access/account.ts';
import { nextId } from '../../../domain/id.ts';
import type { AccountStore, NewSession, Session } from '../../account-store.ts';
import { SESSION_IDLE_MS, SESSION_LIFE_MS, SESSIONS_PER_ACCOUNT_LIMIT } from '../../limits.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import { prepareFind, prepareList, readInteger, readText, type Row, type Sql } from '../sql.ts';
import { ACCOUNT_COLUMNS, mapAccount, prepareUpdateAccount } from './accounts.ts';

const COLUMNS = `x.id, x.created_at, x.seen_at, x.lived_at, x.seen_lived_at, x.address,
  x.user_agent`;
const OWN = 'seller_id = :sellerId AND account_id = :accountId';

export function sessionMutations(sql: Sql, audit: AuditLog, lived: () => number) {
  const addSession = prepareInsertSession(sql, lived);
  // Checking a password takes time, and the user may have changed it since, to lock others out.
  const findCurrent = sql.prepare(`
    SELECT a.name FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId AND a.id = :accountId AND a.password = :passwordHash
      AND a.is_password_off = 0
      AND (a.totp_secret IS NULL OR CAST(:hasTotp AS integer) = 1) AND s.disabled_at IS NULL`);
  const noteSeen = sql.prepare(`
    UPDATE session SET seen_at = :at, seen_lived_at = :lived WHERE ${OWN} AND id = :id`);
  const noteAccountSeen = prepareUpdateAccount(sql, 'seen_at = :at');
  const end = sql.prepare(`DELETE FROM session WHERE ${OWN} AND id = :id RETURNING user_agent`);
  const endOthers = sql.prepare(`DELETE FROM session WHERE ${OWN} AND id <> :id`);

  return {
    async createSession([{ sellerId, accountId, passwordHash, hasTotp }, session], at) {
      const current = { sellerId, accountId, passwordHash, hasTotp: hasTotp ? 1 : 0 };
      const row = await findCurrent.get(current);
      if (!row) return false;
      await addSession({ sellerId, accountId }, session, at);
      const { address, userAgent } = session;
      const actorName = readText(row, 'name');
      await audit.add({ sellerId, type: 'signed_in', actorName, address, subject: userAgent }, at);
      return true;
    },
    async noteSessionSeen([{ sellerId, accountId }, id], at) {
      await noteSeen.run({ at, lived: lived(), sellerId, accountId, id });
      await noteAccountSeen.run({ at, sellerId, accountId });
    },
    async endSessions([{ sellerId, accountId }, selection, event], at) {
      if ('id' in selection) {
        const row = await end.get({ sellerId, accountId, id: selection.id });
        if (row) await audit.add({ ...event, sellerId, subject: readText(row, 'user_agent') }, at);
        return;
      }
      const ended = await endOthers.run({ sellerId, accountId, id: selection.allBut });
      if (ended === 0) return;
      const subject = event.subject ?? (ended === 1 ? '1 other' : `${ended} others`);
      await audit.add({ ...event, sellerId, subject }, at);
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

/** Inserts a session; deletes the account's expired sessions and those over the limit. */
export function prepareInsertSession(sql: Sql, lived: () => number) {
  const findLastId = sql.prepare(`
    SELECT coalesce(max(id), 0) AS id FROM session WHERE ${OWN}`);
  const insert = sql.prepare(`
    INSERT INTO session
      (seller_id, account_id, id, hash, created_at, seen_at, lived_at, seen_lived_at, address,
        user_agent)
    VALUES (:sellerId, :accountId, :id, :hash, :at, :at, :lived, :lived, :address, :userAgent)`);
  const removeOld = sql.prepare(`
    DELETE FROM session WHERE ${OWN} AND (
      created_at <= :oldest OR seen_at <= :idle OR id <= (
      SELECT id FROM session WHERE ${OWN}
      ORDER BY id DESC LIMIT 1 OFFSET ${SESSIONS_PER_ACCOUNT_LIMIT}))`);
  const noteSeen = prepareUpdateAccount(sql, 'seen_at = :at');
  return async (
    { sellerId, accountId }: AccountReference, session: NewSession, at: number,
  ): Promise<void> => {
    const own = { sellerId, accountId };
    const id = nextId(readInteger(await findLastId.get(own) ?? {}, 'id'), at);
    const { hash, address, userAgent } = session;
    await insert.run({ ...own, id, hash, at, lived: lived(), address, userAgent });
    await removeOld.run({ ...own, oldest: at - SESSION_LIFE_MS, idle: at - SESSION_IDLE_MS });
    await noteSeen.run({ ...own, at });
  };
}

export function sessionQueries(sql: Sql) {
  const list = prepareList(sql, mapSession, `
    SELECT ${COLUMNS} FROM session AS x WHERE ${OWN} ORDER BY id DESC LIMIT :limit`);
  const findSignedInSession = prepareFind(sql, (row) => ({
    account: mapAccount(row),
    session: mapSession(row),
    position: readInteger(row, 'position'),
  }), `
    SELECT ${COLUMNS}, ${ACCOUNT_COLUMNS}, s.position FROM session AS x
    JOIN account AS a ON a.seller_id = x.seller_id AND a.id = x.account_id
    JOIN seller AS s ON s.id = x.seller_id
    WHERE x.seller_id = :sellerId AND x.hash = :hash AND s.disabled_at IS NULL`);
  return {
    listSessions: ({ sellerId, accountId }, limit) => list({ sellerId, accountId, limit }),
    findSignedInSession: (sellerId, hash) => findSignedInSession({ sellerId, hash }),
  } satisfies Partial<QueriesOf<AccountStore>>;
}

function mapSession(row: Row): Session {
  return {
    id: readInteger(row, 'id'),
    createdAt: readInteger(row, 'created_at'),
    seenAt: readInteger(row, 'seen_at'),
    livedAt: readInteger(row, 'lived_at'),
    seenLivedAt: readInteger(row, 'seen_lived_at'),
    address: readText(row, 'address'),
    userAgent: readText(row, 'user_agent'),
  };
}
