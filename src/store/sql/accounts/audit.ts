/**
 * The audit log: one chain of events per seller, by the rules of `rules/audit.ts`, so that an event
 * touches the rows of its seller only.
 */
import { AUDIT_TYPES, type AuditEvent } from '../../../domain/access/audit.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore } from '../../account-store.ts';
import {
  type AuditKey, type AuditLog, type AuditSegment, chainHash, EMPTY_CHAIN, extendSegment,
  type HashedEvent, SEGMENT_ORIGINS, SERVER_CHAIN, startSegment,
} from '../../rules/audit.ts';
import { COUNTED_ROWS, toListCount } from '../../rules/list-count.ts';
import type { QueriesOf } from '../port-methods.ts';
import {
  type Parameters, prepareList, readBytes, readId, readInteger, readOneOf, readOptional, readText,
  type Row, type Sql,
} from '../sql.ts';

const COLUMNS = 'seller_id, n, at, type, address, subject, actor';
const SEGMENT_COLUMNS = 'seller_id, id, first, last, origin, key_id, mac';
const SUBJECT_LIMIT_CHARACTERS = 300;
const ADDRESS_LIMIT_CHARACTERS = 100;

export function prepareAuditLog(sql: Sql, key: AuditKey): AuditLog {
  const findHead = sql.prepare(`
    SELECT n, hash FROM audit_event WHERE seller_id = :chain ORDER BY n DESC LIMIT 1`);
  const findNewestSegment = sql.prepare(`
    SELECT ${SEGMENT_COLUMNS} FROM audit_segment WHERE seller_id = :chain
    ORDER BY id DESC LIMIT 1`);
  const insert = sql.prepare(`
    INSERT INTO audit_event (${COLUMNS}, hash)
    VALUES (:chain, :n, :at, :type, :address, :subject, :actorName, :hash)`);
  const writeSegment = prepareWriteSegment(sql);
  return {
    async start(sellerId) {
      await writeSegment(startSegment(sellerId ?? SERVER_CHAIN, key));
    },
    async add({ sellerId, type, actorName, ...event }, at) {
      const chain = sellerId ?? SERVER_CHAIN;
      const [row, segment] = await Promise.all([
        findHead.get({ chain }), findNewestSegment.get({ chain }),
      ]);
      const before = row ? { n: readInteger(row, 'n'), hash: readBytes(row, 'hash') } : EMPTY_CHAIN;
      const newest = segment && mapSegment(segment);
      // A number never used before, even if events were removed.
      const n = Math.max(before.n, newest?.last ?? 0) + 1;
      const address = (event.address ?? '').slice(0, ADDRESS_LIMIT_CHARACTERS);
      const subject = (event.subject ?? '').slice(0, SUBJECT_LIMIT_CHARACTERS).toWellFormed();
      const added = { n, at, type, address, subject, actorName };
      const hash = chainHash(before.hash, { sellerId, ...added });
      await insert.run({ chain, ...added, hash });
      await writeSegment(extendSegment(chain, newest, before, { n, hash }, key));
    },
  };
}

/** Inserts a segment, or extends an existing one. */
function prepareWriteSegment(sql: Sql) {
  const write = sql.prepare(`
    INSERT INTO audit_segment (${SEGMENT_COLUMNS})
    VALUES (:chain, :id, :first, :last, :origin, :keyId, :mac)
    ON CONFLICT (seller_id, id) DO UPDATE SET last = excluded.last, mac = excluded.mac`);
  return async (segment: AuditSegment): Promise<void> => {
    await write.run({ ...segment });
  };
}

export function auditQueries(sql: Sql) {
  // A statement without a type, since one for both would not use the index on types.
  const prepare = <Listed>(map: (row: Row) => Listed, select: (type: string) => string) => {
    const all = prepareList(sql, map, select(''));
    const ofType = prepareList(sql, map, select('AND type = :type'));
    return ({ type, ...others }: Parameters) =>
      (type === undefined ? all(others) : ofType({ type, ...others }));
  };
  const listNewest = prepare(mapEvent, (type) => `
    SELECT ${COLUMNS} FROM audit_event WHERE seller_id = :sellerId ${type} AND n < :before
    ORDER BY n DESC LIMIT :limit`);
  const listOldest = prepare(mapEvent, (type) => `
    SELECT ${COLUMNS} FROM audit_event WHERE seller_id = :sellerId ${type} AND n > :after
    ORDER BY n LIMIT :limit`);
  const count = prepare((row) => readInteger(row, 'count'), (type) => `
    SELECT count(*) AS count FROM (
      SELECT n FROM audit_event WHERE seller_id = :sellerId ${type} LIMIT :limit) AS newest`);
  return {
    listAuditEvents: (sellerId, { type, before = Number.MAX_SAFE_INTEGER, after, limit }) =>
      (after === undefined ? listNewest({ sellerId, type, before, limit })
        : listOldest({ sellerId, type, after, limit })),
    async countAuditEvents(sellerId, type) {
      const [counted = 0] = await count({ sellerId, type, limit: COUNTED_ROWS });
      return toListCount(counted);
    },
  } satisfies Partial<QueriesOf<AccountStore>>;
}

function mapEvent(row: Row): AuditEvent {
  return { ...mapHashedEvent(row), type: readOneOf(row, 'type', AUDIT_TYPES) };
}

/** Reads all columns except the hash. */
export function mapHashedEvent(row: Row): HashedEvent {
  const chain = readId<SellerId>(row, 'seller_id');
  return {
    n: readInteger(row, 'n'),
    sellerId: chain === SERVER_CHAIN ? undefined : chain,
    at: readInteger(row, 'at'),
    type: readText(row, 'type'),
    address: readText(row, 'address'),
    subject: readText(row, 'subject'),
    actorName: readOptional(row, 'actor', readText),
  };
}

/** Needs a row with all columns. */
export function mapSegment(row: Row): AuditSegment {
  return {
    chain: readInteger(row, 'seller_id'),
    id: readInteger(row, 'id'),
    first: readInteger(row, 'first'),
    last: readInteger(row, 'last'),
    origin: readOneOf(row, 'origin', SEGMENT_ORIGINS),
    keyId: readBytes(row, 'key_id'),
    mac: readBytes(row, 'mac'),
  };
}
