/**
 * Checks that the audit log is what the server wrote. The hash chain reveals an event that was
 * changed, added or removed in the middle. A segment's authentication code, which needs the
 * server's key, reveals a chain that was rewritten or truncated. A log restored to an earlier state
 * reveals neither: see SECURITY.md.
 */
import type { DatabaseSync } from 'node:sqlite';
import { formatTime } from '../../../domain/time.ts';
import { chainHash, mapHashedEvent } from '../accounts/audit.ts';
import {
  type AuditKey, type AuditSegment, deriveAuditKey, isAuthentic, isOf, mapSegment,
} from '../accounts/audit-segments.ts';
import { readBytes, readInteger, readOptional } from '../engine/row.ts';
import { findServerKey } from '../files/server-key.ts';
import { checkRows, fault, type Finding, type Findings, note, warning } from './finding.ts';

const ADVICE = 'Somebody changed the log, or the disk is damaged. Keep a copy of the whole data '
  + 'folder, compare the log with that of a backup, and find out who could write to the file.';
const forged = (what: string): Finding => fault(what, ADVICE);
const OTHER_KEY = 'Stop the server, restore the server.key that belongs to this database, and '
  + 'start it again. If it was replaced on purpose, the next event starts a new segment, and this '
  + 'becomes a warning.';

/** The data folder has the server's key. */
export function* checkAuditLog(db: DatabaseSync, folder: string | undefined): Findings {
  yield* checkChain(db);
  const segments = readSegments(db);
  const [first] = segments;
  if (!first) {
    yield forged('Nothing authenticates the audit log: its segments are missing.');
    return;
  }
  if (first.first > 1) yield describeOlder(db, first.first - 1);
  yield* checkOrder(db);
  if (folder === undefined) {
    yield note('The authentication codes of the audit log were not checked.',
      'This requires server.key: restore the file into a data folder, and check that.');
    return;
  }
  const serverKey = findServerKey(folder);
  yield* checkCodes(segments, serverKey && deriveAuditKey(serverKey));
}

const GAPS = 'SELECT n - 1 AS last, lag(n, 1, 0) OVER (ORDER BY n) + 1 AS first FROM audit_event';

function* checkChain(db: DatabaseSync): Findings {
  yield* checkRows(db, GAPS, [
    ['first = last', 'Audit event {first} is missing.', forged],
    ['first < last', 'Audit events {first} to {last} are missing.', forged],
  ]);
  const rows = db.prepare(`
    SELECT n, seller_id, at, type, address, subject, hash FROM audit_event ORDER BY n`);
  let [before, last]: [Uint8Array, number] = [new Uint8Array(32), 0];
  for (const row of rows.iterate()) {
    const [event, hash] = [mapHashedEvent(row), readBytes(row, 'hash')];
    if (event.n === last + 1 && !chainHash(before, event).equals(hash)) {
      yield forged(`The audit log is broken at event ${event.n}.`);
    }
    // Continue from the stored hash, so that a broken link is reported once.
    [before, last] = [hash, event.n];
  }
}

/** A segment with the hash of its newest event; undefined if that event is missing. */
interface SegmentWithHead extends AuditSegment {
  readonly head: Uint8Array | undefined;
}

function readSegments(db: DatabaseSync): SegmentWithHead[] {
  return db.prepare(`
    SELECT s.id, s.first, s.last, s.origin, s.key_id, s.mac,
      iif(s.last = 0, zeroblob(32), e.hash) AS head
    FROM audit_segment AS s LEFT JOIN audit_event AS e ON e.n = s.last ORDER BY s.id`).all()
    .map((row) => ({ ...mapSegment(row), head: readOptional(row, 'head', readBytes) }));
}

/** The part of the log that is older than its authentication. */
function describeOlder(db: DatabaseSync, last: number): Finding {
  const row = db.prepare('SELECT at FROM audit_event WHERE n = ?').get(last);
  const time = row ? formatTime(readInteger(row, 'at')) : 'an unknown time';
  return note(`Events 1 to ${last} of the audit log, until ${time}, are older than its key.`,
    'They were authenticated as they were at the upgrade; an earlier rewrite cannot be detected. '
      + 'If the upgrade was not at about that time, the log may be forged.');
}

const SEGMENTS = `
  SELECT id, origin, lag(id, 1, 0) OVER (ORDER BY id) + 1 AS expected FROM audit_segment`;

const ENDS = `
  SELECT coalesce((SELECT max(n) FROM audit_event), 0) AS written,
    (SELECT last FROM audit_segment ORDER BY id DESC LIMIT 1) AS covered`;

/** Checks that need no key: no segment is missing, and the newest one ends with the log. */
function* checkOrder(db: DatabaseSync): Findings {
  yield* checkRows(db, SEGMENTS, [
    ['id > expected', 'Segment {expected} of the audit log is missing.', forged],
    ["(id = 1) <> (origin = 'start')",
      'Segment {id} of the audit log has the origin "{origin}".', forged],
  ]);
  yield* checkRows(db, ENDS, [
    ['written < covered',
      'The audit log ends at event {written}, but had {covered}: the last events were removed.',
      forged],
    ['written > covered',
      'The audit log is authenticated up to event {covered}, but ends at {written}.', forged],
  ]);
}

function* checkCodes(segments: readonly SegmentWithHead[], key: AuditKey | undefined): Findings {
  for (const [index, segment] of segments.entries()) {
    const { first, last, head, origin } = segment;
    const next = segments[index + 1];
    const which = last < first ? 'The audit log up to now' : `The audit log from event ${first} on`;
    if (!key || !isOf(segment, key)) {
      yield describeOtherKey(which, next);
    } else if (next?.origin !== 'mismatch' && !(head && isAuthentic(segment, head, key))) {
      // The next segment reports the mismatch if it recorded one.
      yield forged(`${which} does not match its authentication code.`);
    } else if (origin === 'mismatch') {
      yield forged('The audit log already did not match its authentication code when event '
        + `${first} was added.`);
    }
  }
}

function describeOtherKey(which: string, next: AuditSegment | undefined): Finding {
  if (next) {
    return warning(`${which} was authenticated with another server.key, until event ${next.first}.`,
      'If server.key was not replaced then, the log may be forged: compare it with a backup.');
  }
  const why = 'server.key is missing, or belongs to another database.';
  return fault(`${which} cannot be authenticated: ${why}`, OTHER_KEY);
}
