/**
 * Checks that the audit log is what the server wrote, chain by chain. The hash chain reveals an
 * event that was changed, added or removed in the middle. A segment's authentication code, which
 * needs the server's key, reveals a chain that was rewritten or truncated. A log restored to an
 * earlier state reveals neither: see SECURITY.md.
 */
import {
  type AuditKey, type AuditSegment, chainHash, EMPTY_CHAIN, isAuthentic, isOf, SERVER_CHAIN,
} from '../../rules/audit.ts';
import { mapHashedEvent, mapSegment } from '../accounts/audit.ts';
import { readBytes, readInteger, readOptional, readText, type Row } from '../sql.ts';
import {
  type Dialect, fault, fillIn, type Finding, type Scan, scanRows, warning,
} from './finding.ts';

const ADVICE = 'Somebody changed the log, or the disk is damaged. Keep a copy of everything, '
  + 'compare the log with that of a backup, and find out who could write to it.';
const forged = (what: string): Finding => fault(what, ADVICE);
const OTHER_KEY = 'Stop the server, restore the server.key that belongs to this database, and '
  + 'start it again. If it was replaced on purpose, the next event starts a new segment, and this '
  + 'becomes a warning.';
const KEY_CHANGE = 'If server.key was not replaced then, the log may be forged: compare it with a '
  + 'backup.';

/** Checks that need no key. */
export const AUDIT_SCANS: readonly Scan[] = [scanGaps(), scanHashes(), ...scanSegments()];

function scanGaps(): Scan {
  return scanRows(({ of }) => `
    SELECT seller_id, n - 1 AS last,
      lag(n, 1, 0) OVER (PARTITION BY seller_id ORDER BY n) + 1 AS first
    FROM audit_event WHERE ${of('seller_id')}`, [
    ['first = last', 'Event {first} of the audit log of {chain} is missing.', forged],
    ['first < last', 'Events {first} to {last} of the audit log of {chain} are missing.', forged],
  ]);
}

function scanHashes(): Scan {
  return {
    select: ({ of }) => `
      SELECT seller_id, n, at, type, address, subject, actor, hash
      FROM audit_event WHERE ${of('seller_id')} ORDER BY seller_id, n`,
    begin() {
      let chain = -1;
      let [before, last] = [EMPTY_CHAIN.hash, 0];
      return (row) => {
        if (readInteger(row, 'seller_id') !== chain) [before, last] = [EMPTY_CHAIN.hash, 0];
        chain = readInteger(row, 'seller_id');
        const [event, hash] = [mapHashedEvent(row), readBytes(row, 'hash')];
        const isBroken = event.n === last + 1 && !chainHash(before, event).equals(hash);
        // Continue from the stored hash, so that a broken link is reported once.
        [before, last] = [hash, event.n];
        return isBroken ? [forged(fillIn('The audit log of {chain} is broken at event {n}.', row))]
          : [];
      };
    },
  };
}

function selectChains({ of }: Dialect): string {
  return `SELECT ${SERVER_CHAIN} AS seller_id UNION ALL SELECT id FROM seller WHERE ${of('id')}`;
}

/** No segment is missing, and the newest ends with its chain. */
function scanSegments(): readonly Scan[] {
  return [
    scanRows(({ of }) => `
      SELECT seller_id, id, origin, lag(id, 1, 0) OVER ids + 1 AS expected,
        (lag(origin) OVER ids IS NULL) = (origin = 'start') AS is_possible
      FROM audit_segment WHERE ${of('seller_id')}
      WINDOW ids AS (PARTITION BY seller_id ORDER BY id)`, [
      ['id > expected', 'Segment {expected} of the audit log of {chain} is missing.', forged],
      ['NOT is_possible', 'Segment {id} of the audit log of {chain} has the origin "{origin}".',
        forged],
    ]),
    // For each chain that there must be, or that there is.
    scanRows((dialect) => `
      SELECT seller_id, seller_id NOT IN (${selectChains(dialect)}) AS is_foreign,
        coalesce((SELECT max(n) FROM audit_event AS e WHERE e.seller_id = c.seller_id), 0)
          AS written,
        (SELECT last FROM audit_segment AS s WHERE s.seller_id = c.seller_id
          ORDER BY id DESC LIMIT 1) AS covered
      FROM (${selectChains(dialect)}
        UNION SELECT DISTINCT seller_id FROM audit_segment WHERE ${dialect.of('seller_id')}
        UNION SELECT DISTINCT seller_id FROM audit_event WHERE ${dialect.of('seller_id')}
      ) AS c WHERE ${dialect.of('c.seller_id')}`, [
      ['is_foreign', 'The audit log has events of {chain}, and there is no such seller.', forged],
      ['covered IS NULL',
        'Nothing authenticates the audit log of {chain}: its segments are missing.', forged],
      ['written < covered', 'The audit log of {chain} ends at event {written}, but had {covered}: '
        + 'the last events were removed.', forged],
      ['written > covered', 'The audit log of {chain} is authenticated up to event {covered}, but '
        + 'ends at {written}.', forged],
    ]),
  ];
}

/** Checks the authentication codes. @param key Undefined if the server's key is missing. */
export function scanCodes(key: AuditKey | undefined): readonly Scan[] {
  // The ids of keys that this key has replaced: a chain that went on with it records that.
  const replaced = new Set<string>();
  return [
    {
      isGlobal: true,
      select: () => `
        SELECT DISTINCT s.key_id, o.key_id AS old_id FROM audit_segment AS s
        JOIN audit_segment AS o ON o.seller_id = s.seller_id AND o.id = s.id - 1
        WHERE s.origin = 'key'`,
      begin: () => (row) => {
        if (key && isOf({ keyId: readBytes(row, 'key_id') }, key)) {
          replaced.add(Buffer.from(readBytes(row, 'old_id')).toString('hex'));
        }
        return [];
      },
    },
    {
      select: ({ of }) => `
        SELECT s.*, e.hash AS head, lead(s.first) OVER ids AS next_first,
          lead(s.origin) OVER ids AS next_origin
        FROM audit_segment AS s
        LEFT JOIN audit_event AS e ON e.seller_id = s.seller_id AND e.n = s.last
        WHERE ${of('s.seller_id')}
        WINDOW ids AS (PARTITION BY s.seller_id ORDER BY s.id) ORDER BY s.seller_id, s.id`,
      begin: () => (row) => checkCode(row, key, replaced),
    },
  ];
}

function checkCode(
  row: Row, key: AuditKey | undefined, replaced: ReadonlySet<string>,
): readonly Finding[] {
  const segment = mapSegment(row);
  const head = segment.last === 0 ? EMPTY_CHAIN.hash : readOptional(row, 'head', readBytes);
  const next = readOptional(row, 'next_origin', readText);
  if (!key || !isOf(segment, key)) return [describeOtherKey(segment, row, replaced)];
  if (next !== 'mismatch' && !(head && isAuthentic(segment, head, key))) {
    // The next segment reports the mismatch if it recorded one.
    return [forged(`${describeSegment(segment, row)} does not match its authentication code.`)];
  }
  if (segment.origin !== 'mismatch') return [];
  return [forged(fillIn('The audit log of {chain} already did not match its authentication code '
    + 'when event {first} was added.', row))];
}

function describeSegment({ first, last }: AuditSegment, row: Row): string {
  return fillIn(last < first ? 'The audit log of {chain} up to now'
    : 'The audit log of {chain} from event {first} on', row);
}

function describeOtherKey(segment: AuditSegment, row: Row, replaced: ReadonlySet<string>): Finding {
  const subject = describeSegment(segment, row);
  const next = readOptional(row, 'next_first', readInteger);
  if (next !== undefined) {
    return warning(`${subject} was authenticated with another server.key, until event ${next}.`,
      KEY_CHANGE);
  }
  if (replaced.has(Buffer.from(segment.keyId).toString('hex'))) {
    return warning(`${subject} was authenticated with another server.key, and has no event since `
      + 'it was replaced.', KEY_CHANGE);
  }
  const why = 'server.key is missing, or belongs to another database.';
  return fault(`${subject} cannot be authenticated: ${why}`, OTHER_KEY);
}
