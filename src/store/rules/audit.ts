/**
 * The audit log's rules. Each seller has a chain of events, and so has the server: its events are
 * about no seller. Each event carries the SHA-256 of itself and the previous hash. Segments
 * authenticate a chain with HMAC-SHA-256 over its newest hash, with a key outside the database. A
 * hash covers all earlier events, so one code covers them all. The code is verified before each new
 * event; on a mismatch a new segment begins and records why, so adding an event cannot hide a
 * forgery.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AuditEvent, NewAuditEvent } from '../../domain/access/audit.ts';
import type { SellerId } from '../../domain/id.ts';
import type { ServerKey } from './server-key.ts';

/** What mutations need: each adds its events in its own transaction. */
export interface AuditLog {
  /** Starts a chain: once for each seller, when it is created, and once for the server. */
  start(sellerId: SellerId | undefined): Promise<void>;
  /** `at` is in milliseconds since 1970. */
  add(event: Omit<NewAuditEvent, 'subject'> & { readonly subject?: string }, at: number):
  Promise<void>;
}

/** The number of a seller's chain is its id. */
export const SERVER_CHAIN = 0;

/** Derived from the server's key. What writes events gets nothing else of that key. */
export interface AuditKey {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

// Persisted: other names would derive another key.
const KEY_CONTEXT = 'seller-product-api audit chain hmac-sha-256 v1';
const KEY_ID_CONTEXT = 'seller-product-api audit chain key id v1';
const MAC_CONTEXT = 'audit segment v2';
const KEY_BYTES = 32;
const KEY_ID_BYTES = 16;

/**
 * Why a segment began: with its chain; with another key; because the chain did not match the
 * previous segment's code.
 */
export const SEGMENT_ORIGINS = ['start', 'key', 'mismatch'] as const;

export interface AuditSegment {
  readonly chain: number;
  readonly id: number;
  /** Its first event. */
  readonly first: number;
  /** Its newest event; the one before `first` while it has none. */
  readonly last: number;
  readonly origin: (typeof SEGMENT_ORIGINS)[number];
  readonly keyId: Uint8Array;
  readonly mac: Uint8Array;
}

/** What a segment's code covers, in addition to the hash of its newest event. */
type SegmentContent = Omit<AuditSegment, 'keyId' | 'mac'>;

/** The newest event of a chain. */
interface ChainHead {
  readonly n: number;
  readonly hash: Uint8Array;
}

/** The head of a chain without events. */
export const EMPTY_CHAIN: ChainHead = { n: 0, hash: new Uint8Array(32) };

/** An event as it is hashed; its type may be unknown. */
export interface HashedEvent extends Omit<AuditEvent, 'type'> {
  readonly type: string;
}

export function deriveAuditKey(key: ServerKey): AuditKey {
  return {
    id: key.derive(KEY_ID_CONTEXT, KEY_ID_BYTES), bytes: key.derive(KEY_CONTEXT, KEY_BYTES),
  };
}

/** The hash of an event. `before` is the previous hash, or 32 zeros. */
export function chainHash(before: Uint8Array, event: HashedEvent): Buffer {
  const { n, sellerId, at, type, address, subject, actorName } = event;
  const text = JSON.stringify([n, sellerId ?? null, at, type, address, subject, actorName ?? null]);
  return createHash('sha256').update(before).update(text).digest();
}

/** The first segment of a chain. */
export function startSegment(chain: number, key: AuditKey): AuditSegment {
  const { n, hash } = EMPTY_CHAIN;
  return sign({ chain, id: 1, first: n + 1, last: n, origin: 'start' }, hash, key);
}

/** The segment that covers the event `added` after `before`: the newest, longer, or a new one. */
export function extendSegment(
  chain: number, newest: AuditSegment | undefined, before: ChainHead, added: ChainHead,
  key: AuditKey,
): AuditSegment {
  const { n, hash } = added;
  if (newest?.last === before.n && isAuthentic(newest, before.hash, key)) {
    return sign({ ...newest, last: n }, hash, key);
  }
  const origin = newest && !isOf(newest, key) ? 'key' : 'mismatch';
  return sign({ chain, id: (newest?.id ?? 0) + 1, first: n, last: n, origin }, hash, key);
}

function sign(content: SegmentContent, head: Uint8Array, key: AuditKey): AuditSegment {
  return { ...content, keyId: key.id, mac: makeMac(content, head, key) };
}

/** Whether a segment claims this key. */
export function isOf({ keyId }: Pick<AuditSegment, 'keyId'>, key: AuditKey): boolean {
  return Buffer.from(keyId).equals(key.id);
}

/** Whether this key signed the segment and `head` is the hash of its newest event. */
export function isAuthentic(segment: AuditSegment, head: Uint8Array, key: AuditKey): boolean {
  return isOf(segment, key) && isEqual(segment.mac, makeMac(segment, head, key));
}

function isEqual(mac: Uint8Array, expected: Uint8Array): boolean {
  return mac.length === expected.length && timingSafeEqual(mac, expected);
}

function makeMac(
  { chain, id, first, last, origin }: SegmentContent, head: Uint8Array, key: AuditKey,
): Buffer {
  const [keyId, hash] = [key.id, head].map((bytes) => Buffer.from(bytes).toString('hex'));
  const text = JSON.stringify([MAC_CONTEXT, chain, id, first, last, origin, keyId, hash]);
  return createHmac('sha256', key.bytes).update(text).digest();
}
