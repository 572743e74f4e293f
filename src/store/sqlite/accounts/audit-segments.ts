/**
 * Authenticates the audit chain: HMAC-SHA-256 over its newest hash, with a key outside the
 * database. A hash covers all earlier events, so one code covers them all. The code is verified
 * before each new event; on a mismatch a new segment begins and records why, so adding an event
 * cannot hide a forgery.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { readBytes, readInteger, readText, type Row } from '../engine/row.ts';
import type { ServerKey } from '../../rules/server-key.ts';

/** Derived from the server's key. The writer thread gets nothing else of that key. */
export interface AuditKey {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

// Persisted: other names would derive another key.
const KEY_CONTEXT = 'seller-product-api audit chain hmac-sha-256 v1';
const KEY_ID_CONTEXT = 'seller-product-api audit chain key id v1';
const MAC_CONTEXT = 'audit segment v1';
const KEY_BYTES = 32;
const KEY_ID_BYTES = 16;

const COLUMNS = 'id, first, last, origin, key_id, mac';
const ORIGINS = ['start', 'key', 'mismatch'] as const;

/** What a segment's code covers, in addition to the hash of its newest event. */
interface SegmentContent {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly origin: (typeof ORIGINS)[number];
  readonly keyId: Uint8Array;
}

export interface AuditSegment extends SegmentContent {
  readonly mac: Uint8Array;
}

/** The newest event of a chain; if there is none, `n` is 0 and the hash 32 zeros. */
export interface ChainHead {
  readonly n: number;
  readonly hash: Uint8Array;
}

export function deriveAuditKey(key: ServerKey): AuditKey {
  return {
    id: key.derive(KEY_ID_CONTEXT, KEY_ID_BYTES), bytes: key.derive(KEY_CONTEXT, KEY_BYTES),
  };
}

export function prepareAuditSegments(db: DatabaseSync, key: AuditKey) {
  const findNewest = db.prepare(`
    SELECT ${COLUMNS} FROM audit_segment WHERE id > 0 ORDER BY id DESC LIMIT 1`);
  const insert = db.prepare(`INSERT INTO audit_segment (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  const update = db.prepare('UPDATE audit_segment SET last = ?, mac = ? WHERE id = ?');

  function begin(segment: Omit<SegmentContent, 'keyId'>, head: Uint8Array): void {
    const { id, first, last, origin } = segment;
    const mac = makeMac({ ...segment, keyId: key.id }, head, key);
    insert.run(id, first, last, origin, key.id, mac);
  }

  function readNewest(): AuditSegment | undefined {
    const row = findNewest.get();
    return row && mapSegment(row);
  }

  return {
    /** Starts the very first segment, which authenticates the existing events as they are. */
    start({ n, hash }: ChainHead): void {
      begin({ id: 1, first: n + 1, last: n, origin: 'start' }, hash);
    },
    /** The number of the next event, never used before, even if events were removed. */
    nextNumber({ n }: ChainHead): number {
      return Math.max(n, readNewest()?.last ?? 0) + 1;
    },
    /** Extends the chain with the event added after `before`. */
    extend(before: ChainHead, { n, hash }: ChainHead): void {
      const newest = readNewest();
      if (newest?.last === before.n && isAuthentic(newest, before.hash, key)) {
        update.run(n, makeMac({ ...newest, last: n }, hash, key), newest.id);
        return;
      }
      const origin = newest && !isOf(newest, key) ? 'key' : 'mismatch';
      begin({ id: (newest?.id ?? 0) + 1, first: n, last: n, origin }, hash);
    },
  };
}

/** Whether a segment claims this key. */
export function isOf({ keyId }: AuditSegment, key: AuditKey): boolean {
  return Buffer.from(keyId).equals(key.id);
}

/** Whether this key signed the segment and `head` is the hash of its newest event. */
export function isAuthentic(segment: AuditSegment, head: Uint8Array, key: AuditKey): boolean {
  const { mac } = segment;
  const expected = makeMac(segment, head, key);
  return mac.length === expected.length && timingSafeEqual(mac, expected);
}

/** Needs a row with all columns. */
export function mapSegment(row: Row): AuditSegment {
  const text = readText(row, 'origin');
  const origin = ORIGINS.find((known) => known === text);
  if (!origin) throw new TypeError(`"${text}" is not an origin of a segment.`);
  return {
    id: readInteger(row, 'id'),
    first: readInteger(row, 'first'),
    last: readInteger(row, 'last'),
    origin,
    keyId: readBytes(row, 'key_id'),
    mac: readBytes(row, 'mac'),
  };
}

function makeMac(
  { id, first, last, origin, keyId }: SegmentContent, head: Uint8Array, key: AuditKey,
): Buffer {
  const text = JSON.stringify([
    MAC_CONTEXT, id, first, last, origin,
    Buffer.from(keyId).toString('hex'), Buffer.from(head).toString('hex'),
  ]);
  return createHmac('sha256', key.bytes).update(text).digest();
}
