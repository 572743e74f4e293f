/** Portal sessions. Only hashes of their secrets are stored. */
import { SESSION_IDLE_MS, SESSION_LIFE_MS, SESSIONS_PER_SELLER_LIMIT } from '../../limits.ts';
import { nextId, type SellerId } from '../../../domain/id.ts';
import type { AccountStore, NewSession, Session } from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import { readInteger, readText, type Row } from '../row.ts';
import type { Sql } from '../sql.ts';
import { ACCOUNT_COLUMNS, mapAccount } from './accounts.ts';

const COLUMNS = 'x.id, x.created_at, x.seen_at, x.address, x.user_agent';

export function sessionMutations(sql: Sql, audit: AuditLog) {
  const addSession = prepareInsertSession(sql);
  // Checking a password takes time, and the owner may have changed it since, to lock others out.
  const areCurrent = sql.prepare(`
    SELECT a.seller_id FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId AND a.password = :passwordHash
      AND (a.totp_secret IS NULL OR CAST(:hasTotp AS integer) = 1) AND s.disabled_at IS NULL`);
  const noteSeen = sql.prepare(`
    UPDATE session SET seen_at = :at WHERE seller_id = :sellerId AND id = :id`);
  const end = sql.prepare(`
    DELETE FROM session WHERE seller_id = :sellerId AND id = :id RETURNING user_agent`);
  const endOthers = sql.prepare(`
    DELETE FROM session WHERE seller_id = :sellerId AND id <> :id`);

  return {
    async createSession([sellerId, session, { passwordHash, hasTotp }], at) {
      if (!await areCurrent.get({ sellerId, passwordHash, hasTotp: hasTotp ? 1 : 0 })) return false;
      await addSession(sellerId, session, at);
      const { address, userAgent } = session;
      await audit.add({ sellerId, type: 'signed_in', address, subject: userAgent }, at);
      return true;
    },
    async noteSessionSeen([sellerId, id], at) {
      await noteSeen.run({ at, sellerId, id });
    },
    async endSessions([sellerId, which, event], at) {
      if ('id' in which) {
        const row = await end.get({ sellerId, id: which.id });
        if (row) await audit.add({ sellerId, ...event, subject: readText(row, 'user_agent') }, at);
        return;
      }
      const ended = await endOthers.run({ sellerId, id: which.allBut });
      if (ended === 0) return;
      const subject = ended === 1 ? '1 other' : `${ended} others`;
      await audit.add({ sellerId, ...event, subject }, at);
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

/** Inserts a session; deletes the seller's expired sessions and those over the limit. */
export function prepareInsertSession(sql: Sql) {
  const findLastId = sql.prepare(`
    SELECT coalesce(max(id), 0) AS id FROM session WHERE seller_id = :sellerId`);
  const insert = sql.prepare(`
    INSERT INTO session (seller_id, id, hash, created_at, seen_at, address, user_agent)
    VALUES (:sellerId, :id, :hash, :at, :at, :address, :userAgent)`);
  const removeOld = sql.prepare(`
    DELETE FROM session WHERE seller_id = :sellerId AND (
      created_at <= :oldest OR seen_at <= :idle OR id <= (
      SELECT id FROM session WHERE seller_id = :sellerId
      ORDER BY id DESC LIMIT 1 OFFSET ${SESSIONS_PER_SELLER_LIMIT}))`);
  return async (sellerId: SellerId, session: NewSession, at: number): Promise<void> => {
    const id = nextId(readInteger(await findLastId.get({ sellerId }) ?? {}, 'id'), at);
    const { hash, address, userAgent } = session;
    await insert.run({ sellerId, id, hash, at, address, userAgent });
    await removeOld.run({ sellerId, oldest: at - SESSION_LIFE_MS, idle: at - SESSION_IDLE_MS });
  };
}

export function sessionQueries(sql: Sql) {
  const list = sql.prepare(`
    SELECT ${COLUMNS} FROM session AS x WHERE seller_id = :sellerId
    ORDER BY id DESC LIMIT :limit`);
  const findSignedInSession = sql.prepare(`
    SELECT ${COLUMNS}, ${ACCOUNT_COLUMNS}, s.position FROM session AS x
    JOIN account AS a ON a.seller_id = x.seller_id JOIN seller AS s ON s.id = x.seller_id
    WHERE x.seller_id = :sellerId AND x.hash = :hash AND s.disabled_at IS NULL`);
  return {
    async listSessions(sellerId, limit) {
      return (await list.all({ sellerId, limit })).map(mapSession);
    },
    async findSignedInSession(sellerId, hash) {
      const row = await findSignedInSession.get({ sellerId, hash });
      return row && {
        account: mapAccount(row),
        session: mapSession(row),
        position: readInteger(row, 'position'),
      };
    },
  } satisfies Partial<QueriesOf<AccountStore>>;
}

function mapSession(row: Row): Session {
  return {
    id: readInteger(row, 'id'),
    createdAt: readInteger(row, 'created_at'),
    seenAt: readInteger(row, 'seen_at'),
    address: readText(row, 'address'),
    userAgent: readText(row, 'user_agent'),
  };
}
