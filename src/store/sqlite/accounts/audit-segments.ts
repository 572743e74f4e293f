/**
 * Authenticates the audit chain: HMAC-SHA-256 over its newest hash, with a key that is not in the
 * database. A hash covers all events before it, so one code covers them all. It is verified before
 * it moves on to the next event; if it does not match, a new segment begins and records why, so
 * adding an event hides no forgery.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { readBytes, readInteger, readText, type Row } from '../engine/row.ts';
import type { ServerKey } from '../../rules/server-key.ts';

/** Derived from the server's key, of which the writer thread gets nothing else. */
export interface AuditKey {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

// Persisted: other names would be another key.
const KEY_CONTEXT = 'seller-product-api audit chain hmac-sha-256 v1';
const KEY_ID_CONTEXT = 'seller-product-api audit chain key id v1';
const MAC_CONTEXT = 'audit segment v1';
const KEY_BYTES = 32;
const KEY_ID_BYTES = 16;

const ORIGINS = ['start', 'key', 'mismatch'] as const;
type Origin = (typeof ORIGINS)[number];

export interface AuditSegment {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly origin: Origin;
  readonly keyId: Uint8Array;
  readonly mac: Uint8Array;
}

/** The newest event of a chain; `n` is 0, and the hash 32 zeros, while there is none. */
export interface ChainHead {
  readonly n: number;
  readonly hash: Uint8Array;
}

export function deriveAuditKey(key: ServerKey): AuditKey {
  return {
    id: key.derive(KEY_ID_CONTEXT, KEY_ID_BYTES), bytes: key.derive(KEY_CONTEXT, KEY_BYTES),
  };
}

export class AuditSegments {
  readonly #key: AuditKey;
  readonly #findNewest;
  readonly #insert;
  readonly #extend;

  constructor(db: DatabaseSync, key: AuditKey) {
    this.#key = key;
    this.#findNewest = db.prepare(`
      SELECT id, first, last, origin, key_id, mac FROM audit_segment WHERE id > 0
      ORDER BY id DESC LIMIT 1`);
    this.#insert = db.prepare(`INSERT INTO audit_segment (id, first, last, origin, key_id, mac)
      VALUES (?, ?, ?, ?, ?, ?)`);
    this.#extend = db.prepare('UPDATE audit_segment SET last = ?, mac = ? WHERE id = ?');
  }

  /** Starts the very first segment, which authenticates the existing events as they are now. */
  start({ n, hash }: ChainHead): void {
    this.#begin({ id: 1, first: n + 1, last: n, origin: 'start', keyId: this.#key.id }, hash);
  }

  /** The number of the next event: one that was never used, even if events were removed. */
  nextNumber({ n }: ChainHead): number {
    return Math.max(n, this.#readNewest()?.last ?? 0) + 1;
  }

  /** Extends the chain with the event that was added after `before`. */
  extend(before: ChainHead, { n, hash }: ChainHead): void {
    const newest = this.#readNewest();
    if (newest?.last === before.n && isAuthentic(newest, before.hash, this.#key)) {
      this.#extend.run(n, makeMac({ ...newest, last: n }, hash, this.#key), newest.id);
      return;
    }
    const isOtherKey = newest !== undefined && !isOf(newest, this.#key);
    const origin = isOtherKey ? 'key' : 'mismatch';
    const id = (newest?.id ?? 0) + 1;
    this.#begin({ id, first: n, last: n, origin, keyId: this.#key.id }, hash);
  }

  #begin(segment: Omit<AuditSegment, 'mac'>, head: Uint8Array): void {
    const { id, first, last, origin, keyId } = segment;
    this.#insert.run(id, first, last, origin, keyId, makeMac(segment, head, this.#key));
  }

  #readNewest(): AuditSegment | undefined {
    const row = this.#findNewest.get();
    return row && mapSegment(row);
  }
}

/** Whether a segment says that this key made it. */
export function isOf({ keyId }: AuditSegment, key: AuditKey): boolean {
  return Buffer.from(keyId).equals(key.id);
}

/** Whether this key made the segment, and `head` is the hash of its newest event. */
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
  { id, first, last, origin, keyId }: Omit<AuditSegment, 'mac'>, head: Uint8Array, key: AuditKey,
): Buffer {
  const text = JSON.stringify([
    MAC_CONTEXT, id, first, last, origin,
    Buffer.from(keyId).toString('hex'), Buffer.from(head).toString('hex'),
  ]);
  return createHmac('sha256', key.bytes).update(text).digest();
}
