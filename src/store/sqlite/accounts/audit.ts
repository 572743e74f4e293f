/**
 * The audit log in SQLite: a chain in which each event carries the SHA-256 of itself and the
 * previous hash; `audit-segments.ts` authenticates the newest hash. Mutations write events in their
 * own transactions.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { AUDIT_TYPES, type AuditEvent, type NewAuditEvent } from '../../../domain/access/audit.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore } from '../../account-store.ts';
import { type AuditKey, type ChainHead, prepareAuditSegments } from './audit-segments.ts';
import type { QueriesOf } from '../engine/port-methods.ts';
import { readBytes, readId, readInteger, readOptional, readText, type Row } from '../engine/row.ts';

const COLUMNS = 'n, seller_id, at, type, address, subject';
const SUBJECT_LIMIT_CHARACTERS = 300;
const ADDRESS_LIMIT_CHARACTERS = 100;

/** Without an address if no client requested it. */
interface AddedEvent extends Pick<NewAuditEvent, 'sellerId' | 'type'> {
  readonly address?: string | undefined;
  readonly subject?: string;
}

export type AuditLog = ReturnType<typeof prepareAuditLog>;

export function prepareAuditLog(db: DatabaseSync, key: AuditKey) {
  const findHead = prepareFindHead(db);
  const segments = prepareAuditSegments(db, key);
  const insert = db.prepare(`
    INSERT INTO audit_event (${COLUMNS}, hash) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    add({ sellerId, type, ...event }: AddedEvent, at: number): void {
      const before = findHead();
      const n = segments.nextNumber(before);
      const address = (event.address ?? '').slice(0, ADDRESS_LIMIT_CHARACTERS);
      const subject = (event.subject ?? '').slice(0, SUBJECT_LIMIT_CHARACTERS).toWellFormed();
      const hash = chainHash(before.hash, { n, sellerId, type, at, address, subject });
      insert.run(n, sellerId ?? null, at, type, address, subject, hash);
      segments.extend(before, { n, hash });
    },
  };
}

/** Starts authenticating the existing events. Call it once, when the table is created. */
export function startAuditSegments(db: DatabaseSync, key: AuditKey): void {
  prepareAuditSegments(db, key).start(prepareFindHead(db)());
}

function prepareFindHead(db: DatabaseSync): () => ChainHead {
  const find = db.prepare('SELECT n, hash FROM audit_event WHERE n > 0 ORDER BY n DESC LIMIT 1');
  return () => {
    const row = find.get();
    return row ? { n: readInteger(row, 'n'), hash: readBytes(row, 'hash') }
      : { n: 0, hash: new Uint8Array(32) };
  };
}

export function auditQueries(db: DatabaseSync) {
  const list = db.prepare(`
    SELECT ${COLUMNS} FROM audit_event WHERE seller_id = ? AND n < ? ORDER BY n DESC LIMIT ?`);
  const listOfType = db.prepare(`
    SELECT ${COLUMNS} FROM audit_event WHERE seller_id = ? AND type = ? AND n < ?
    ORDER BY n DESC LIMIT ?`);
  return {
    listAuditEvents(sellerId, { type, before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = type === undefined
        ? list.all(sellerId, before, limit) : listOfType.all(sellerId, type, before, limit);
      return rows.map(mapEvent);
    },
  } satisfies Partial<QueriesOf<AccountStore>>;
}

/** An event as it is hashed; its type may be unknown. */
interface HashedEvent extends Omit<AuditEvent, 'type'> {
  readonly type: string;
}

/** The hash of an event. `before` is the previous hash, or 32 zeros. */
export function chainHash(before: Uint8Array, event: HashedEvent): Buffer {
  const { n, sellerId, at, type, address, subject } = event;
  const text = JSON.stringify([n, sellerId ?? null, at, type, address, subject]);
  return createHash('sha256').update(before).update(text).digest();
}

function mapEvent(row: Row): AuditEvent {
  const event = mapHashedEvent(row);
  const type = AUDIT_TYPES.find((known) => known === event.type);
  if (!type) throw new TypeError(`"${event.type}" is not a type of event.`);
  return { ...event, type };
}

/** Reads all columns except the hash. */
export function mapHashedEvent(row: Row): HashedEvent {
  return {
    n: readInteger(row, 'n'),
    sellerId: readOptional(row, 'seller_id', readId<SellerId>),
    at: readInteger(row, 'at'),
    type: readText(row, 'type'),
    address: readText(row, 'address'),
    subject: readText(row, 'subject'),
  };
}
