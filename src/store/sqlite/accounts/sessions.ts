/** Portal sessions in SQLite. Only hashes of their tokens are stored. */
import type { DatabaseSync } from 'node:sqlite';
import { SESSION_IDLE_MS, SESSION_LIFE_MS, SESSIONS_PER_SELLER_LIMIT } from '../../limits.ts';
import { nextId, type SellerId } from '../../../domain/id.ts';
import type { AccountStore, NewSession, Session } from '../../account-store.ts';
import { ACCOUNT_COLUMNS, mapAccount } from './accounts.ts';
import type { AuditLog } from './audit.ts';
import type { MutationsOf, QueriesOf } from '../engine/port-methods.ts';
import { readInteger, readText, type Row } from '../engine/row.ts';

const COLUMNS = 'x.id, x.created_at, x.seen_at, x.address, x.user_agent';

export function sessionMutations(db: DatabaseSync, audit: AuditLog) {
  const addSession = prepareInsertSession(db);
  // Checking a password takes time, and the owner may have changed it since, to lock others out.
  const areCurrent = db.prepare(`
    SELECT 1 FROM account WHERE seller_id = :sellerId AND password = :passwordHash
      AND (totp_secret IS NULL OR :hasTotp = 1)
      AND seller_id = (SELECT id FROM seller WHERE id = :sellerId AND disabled_at IS NULL)`);
  const noteSeen = db.prepare('UPDATE session SET seen_at = ? WHERE seller_id = ? AND id = ?');
  const end = db.prepare(`
    DELETE FROM session WHERE seller_id = ? AND id = ? RETURNING user_agent`);
  const endOthers = db.prepare('DELETE FROM session WHERE seller_id = ? AND id <> ?');

  return {
    createSession([sellerId, session, { passwordHash, hasTotp }], at) {
      if (!areCurrent.get({ sellerId, passwordHash, hasTotp: hasTotp ? 1 : 0 })) return false;
      addSession(sellerId, session, at);
      const { address, userAgent } = session;
      audit.add({ sellerId, type: 'signed_in', address, subject: userAgent }, at);
      return true;
    },
    noteSessionSeen([sellerId, id], at) {
      noteSeen.run(at, sellerId, id);
    },
    endSessions([sellerId, which, event], at) {
      if ('id' in which) {
        const row = end.get(sellerId, which.id);
        if (row) audit.add({ sellerId, ...event, subject: readText(row, 'user_agent') }, at);
        return;
      }
      const { changes } = endOthers.run(sellerId, which.allBut);
      if (changes === 0) return;
      const subject = changes === 1 ? '1 other' : `${changes} others`;
      audit.add({ sellerId, ...event, subject }, at);
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

/** Inserts a session; deletes the seller's expired sessions and those over the limit. */
export function prepareInsertSession(db: DatabaseSync) {
  const findLastId = db.prepare(`
    SELECT coalesce(max(id), 0) AS id FROM session WHERE seller_id = ?`);
  const insert = db.prepare(`
    INSERT INTO session (seller_id, id, hash, created_at, seen_at, address, user_agent)
    VALUES (:sellerId, :id, :hash, :at, :at, :address, :userAgent)`);
  const removeOld = db.prepare(`
    DELETE FROM session WHERE seller_id = :sellerId AND (
      created_at <= :oldest OR seen_at <= :idle OR id IN (
      SELECT id FROM session WHERE seller_id = :sellerId
      ORDER BY id DESC LIMIT -1 OFFSET :limit))`);
  return (sellerId: SellerId, session: NewSession, at: number): void => {
    const id = nextId(readInteger(findLastId.get(sellerId) ?? {}, 'id'), at);
    const { hash, address, userAgent } = session;
    insert.run({ sellerId, id, hash, at, address, userAgent });
    removeOld.run({
      sellerId, oldest: at - SESSION_LIFE_MS, idle: at - SESSION_IDLE_MS,
      limit: SESSIONS_PER_SELLER_LIMIT,
    });
  };
}

export function sessionQueries(db: DatabaseSync) {
  const list = db.prepare(`
    SELECT ${COLUMNS} FROM session AS x WHERE seller_id = ? ORDER BY id DESC LIMIT ?`);
  // No seller_id in its WHERE: it finds the seller.
  const findSignedInSession = db.prepare(`
    SELECT ${COLUMNS}, ${ACCOUNT_COLUMNS}, s.position FROM session AS x
    JOIN account AS a ON a.seller_id = x.seller_id JOIN seller AS s ON s.id = x.seller_id
    WHERE x.hash = ? AND s.disabled_at IS NULL`);
  return {
    listSessions: (sellerId, limit) => list.all(sellerId, limit).map(mapSession),
    findSignedInSession(hash) {
      const row = findSignedInSession.get(hash);
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
