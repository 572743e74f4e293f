/** The audit log as earlier versions kept it: before 15, as one chain for all sellers. */
import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  chainHash, deriveAuditKey, EMPTY_CHAIN, sign,
} from '../../../../src/store/rules/audit.ts';
import { ServerKey } from '../../../../src/store/rules/server-key.ts';
import { mapHashedEvent, mapSegment } from '../../../../src/store/sql/accounts/audit.ts';
import { FILE_NAME } from './read-file.ts';

/** Removes the actors, which versions before 19 did not record. */
export function forgetActors(folder: string): void {
  const key = deriveAuditKey(new ServerKey(readFileSync(join(folder, 'server.key'))));
  const db = new DatabaseSync(join(folder, FILE_NAME));
  db.exec(`UPDATE audit_event SET actor = NULL; UPDATE api_key SET created_by = NULL;
    UPDATE webhook SET created_by = NULL;`);
  const heads = new Map<number, Buffer>();
  for (const row of db.prepare('SELECT * FROM audit_event ORDER BY seller_id, n').all()) {
    const event = mapHashedEvent(row);
    const chain = event.sellerId ?? 0;
    const hash = chainHash(heads.get(chain) ?? EMPTY_CHAIN.hash, event);
    heads.set(chain, hash);
    db.prepare('UPDATE audit_event SET hash = ? WHERE seller_id = ? AND n = ?')
      .run(hash, chain, event.n);
  }
  for (const row of db.prepare('SELECT * FROM audit_segment').all()) {
    const segment = mapSegment(row);
    const { mac } = sign(segment, heads.get(segment.chain) ?? EMPTY_CHAIN.hash, key);
    db.prepare('UPDATE audit_segment SET mac = ? WHERE seller_id = ?').run(mac, segment.chain);
  }
  db.close();
}

/**
 * Writes the events of the attached database `today` in the order of time, and the segment that
 * authenticates them if there is a key.
 */
export function putOldEvents(db: DatabaseSync, serverKey: Buffer | undefined): void {
  const insert = db.prepare(`
    INSERT INTO main.audit_event (n, seller_id, at, type, address, subject, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const rows = db.prepare(`
    SELECT nullif(seller_id, 0) AS seller, at, type, address, subject FROM today.audit_event
    ORDER BY at, seller_id, n`).all();
  for (const [index, { seller, at, type, address, subject }] of rows.entries()) {
    insert.run(
      index + 1, seller ?? null, Number(at), String(type), String(address), String(subject),
      Buffer.alloc(32),
    );
  }
  hashOldEvents(db);
  if (serverKey) putOldSegment(db, serverKey);
}

/** Recomputes all hashes, which needs no key. */
export function hashOldEvents(db: DatabaseSync): void {
  let before = Buffer.alloc(32);
  const update = db.prepare('UPDATE audit_event SET hash = ? WHERE n = ?');
  for (const row of db.prepare('SELECT * FROM audit_event ORDER BY n').all()) {
    const fields = [row['n'], row['seller_id'], row['at'], row['type'], row['address'],
      row['subject']];
    before = createHash('sha256').update(before).update(JSON.stringify(fields)).digest();
    update.run(before, Number(row['n']));
  }
}

function putOldSegment(db: DatabaseSync, serverKey: Buffer): void {
  const [key, keyId] = ([['hmac-sha-256 v1', 32], ['key id v1', 16]] as const)
    .map(([name, length]) => Buffer.from(
      hkdfSync('sha256', serverKey, '', `seller-product-api audit chain ${name}`, length),
    ));
  const { last, head } = db.prepare(`
    SELECT max(n) AS last, lower(hex(hash)) AS head FROM audit_event`).get() ?? {};
  const text = JSON.stringify(
    ['audit segment v1', 1, 1, last ?? 0, 'start', keyId?.toString('hex'), head ?? '0'.repeat(64)],
  );
  const mac = createHmac('sha256', key ?? '').update(text).digest();
  db.prepare(`
    INSERT INTO audit_segment (id, first, last, origin, key_id, mac)
    VALUES (1, 1, ?, 'start', ?, ?)`).run(Number(last ?? 0), keyId ?? null, mac);
}
