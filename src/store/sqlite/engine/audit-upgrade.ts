/**
 * The parts of two migrations that need the server's key. Until version 14 all events were in one
 * chain: 010 starts to authenticate it, 015 verifies it and splits it into a chain per seller. The
 * events keep their numbers, which are cursors, so a split chain has gaps.
 */
import { createHmac } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import {
  type AuditKey, type AuditSegment, chainHash, type ChainHead, EMPTY_CHAIN, isEqual, isOf,
  SERVER_CHAIN, sign, type SegmentOrigin, startSegment,
} from '../../rules/audit.ts';
import { mapHashedEvent } from '../../sql/accounts/audit.ts';
import { readBytes, readInteger, readText, type Row } from '../../sql/row.ts';

/** Covers the existing events as they are. */
export function startOldSegments(db: DatabaseSync, key: AuditKey | undefined): void {
  if (!key) return;
  const row = db.prepare('SELECT n, hash FROM audit_event ORDER BY n DESC LIMIT 1').get();
  const { n, hash } = row ? { n: readInteger(row, 'n'), hash: readBytes(row, 'hash') }
    : EMPTY_CHAIN;
  const content = { id: 1, first: n + 1, last: n, origin: 'start' };
  db.prepare(`
    INSERT INTO audit_segment (id, first, last, origin, key_id, mac)
    VALUES (1, ?, ?, 'start', ?, ?)`).run(n + 1, n, key.id, makeOldMac(content, hash, key));
}

export function splitAuditChain(db: DatabaseSync, key: AuditKey | undefined): void {
  const { heads, isIntact } = copyEvents(db);
  if (key) startChains(db, key, heads, isIntact);
  else if (heads.size > 0) throw new TypeError('The audit log needs the key of the server.');
  db.exec('DROP TABLE old_audit_event; DROP TABLE old_audit_segment;');
}

/** The newest event of each new chain, and whether the old chain was intact. */
function copyEvents(db: DatabaseSync) {
  const rows = db.prepare(`
    SELECT coalesce(seller_id, ${SERVER_CHAIN}) AS seller_id, n, at, type, address, subject,
      NULL AS actor, hash FROM old_audit_event ORDER BY n`);
  const insert = db.prepare(`
    INSERT INTO audit_event (seller_id, n, at, type, address, subject, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const heads = new Map<number, ChainHead>();
  let isIntact = true;
  let before = EMPTY_CHAIN;
  for (const row of rows.iterate()) {
    const event = mapHashedEvent(row);
    const { n, at, type, address, subject } = event;
    const hash = readBytes(row, 'hash');
    isIntact &&= n === before.n + 1 && chainHash(before.hash, event).equals(hash);
    before = { n, hash };
    const chain = event.sellerId ?? SERVER_CHAIN;
    const newHash = chainHash((heads.get(chain) ?? EMPTY_CHAIN).hash, event);
    insert.run(chain, n, at, type, address, subject, newHash);
    heads.set(chain, { n, hash: newHash });
  }
  return { heads, isIntact };
}

function startChains(
  db: DatabaseSync, key: AuditKey, heads: ReadonlyMap<number, ChainHead>, isIntact: boolean,
): void {
  const segments = db.prepare(`
    SELECT s.id, s.first, s.last, s.origin, s.key_id, s.mac,
      iif(s.last = 0, zeroblob(32), e.hash) AS head,
      s.last = lead(s.first - 1, 1, (SELECT coalesce(max(n), 0) FROM old_audit_event))
        OVER (ORDER BY s.id) AS is_followed
    FROM old_audit_segment AS s LEFT JOIN old_audit_event AS e ON e.n = s.last ORDER BY s.id`)
    .all();
  const origin = isIntact ? verifySegments(segments, key) : 'upgrade-mismatch';
  // Earlier events are older than their authentication.
  const authenticated = segments[0] ? readInteger(segments[0], 'first') : 1;
  const insert = db.prepare(`
    INSERT INTO audit_segment (seller_id, id, first, last, origin, key_id, mac)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const write = ({ chain, id, first, last, origin: why, keyId, mac }: AuditSegment): void => {
    insert.run(chain, id, first, last, why, keyId, mac);
  };
  for (const [chain, head] of heads) {
    const content = {
      chain, id: 1, first: Math.min(authenticated, head.n + 1), last: head.n, origin,
    };
    write(sign(content, head.hash, key));
    write(startSegment(chain, key, 2, head));
  }
  const sellers = db.prepare('SELECT id FROM seller').all().map((row) => readInteger(row, 'id'));
  for (const chain of [SERVER_CHAIN, ...sellers]) {
    if (!heads.has(chain)) write(startSegment(chain, key));
  }
}

/** What the new chains have to say of the old one. */
function verifySegments(segments: readonly Row[], key: AuditKey): SegmentOrigin {
  let origin: SegmentOrigin = segments.length === 0 ? 'upgrade-mismatch' : 'upgrade';
  for (const [index, row] of segments.entries()) {
    const [id, why] = [readInteger(row, 'id'), readText(row, 'origin')];
    const isInOrder = id === index + 1 && (why === 'start') === (index === 0)
      && readInteger(row, 'is_followed') === 1;
    if (!isInOrder || why === 'mismatch') return 'upgrade-mismatch';
    const segment = {
      id, first: readInteger(row, 'first'), last: readInteger(row, 'last'), origin: why,
    };
    if (!isOf({ keyId: readBytes(row, 'key_id') }, key)) origin = 'upgrade-key';
    else if (row['head'] === null || !isEqual(
      readBytes(row, 'mac'), makeOldMac(segment, readBytes(row, 'head'), key),
    )) return 'upgrade-mismatch';
  }
  return origin;
}

interface OldSegment {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly origin: string;
}

/** As version 14 made it. */
function makeOldMac(
  { id, first, last, origin }: OldSegment, head: Uint8Array, key: AuditKey,
): Buffer {
  const [keyId, hash] = [key.id, head].map((bytes) => Buffer.from(bytes).toString('hex'));
  const text = JSON.stringify(['audit segment v1', id, first, last, origin, keyId, hash]);
  return createHmac('sha256', key.bytes).update(text).digest();
}
