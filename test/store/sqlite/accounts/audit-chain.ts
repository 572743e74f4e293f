/** Reads the audit log without the store, and recomputes its hash chains. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

interface Row {
  readonly n: number;
  /** 0 for the server's own events. */
  readonly seller_id: number;
  readonly at: number;
  readonly type: string;
  readonly address: string;
  readonly subject: string;
  readonly hash: Uint8Array;
  readonly actor: string | null;
}

/** The stored rows, and the hashes that they should have. */
export function readChain(folder: string): { readonly rows: Row[]; readonly expected: Buffer[] } {
  const db = new DatabaseSync(join(folder, 'catalogue.db'), { readOnly: true });
  // The cast: these are the columns of the table.
  const rows = db.prepare('SELECT * FROM audit_event ORDER BY seller_id, n')
    .all() as unknown as Row[];
  db.close();
  let before = Buffer.alloc(32);
  const expected = rows.map((row, index) => {
    if (rows[index - 1]?.seller_id !== row.seller_id) before = Buffer.alloc(32);
    const fields = [row.n, row.seller_id || null, row.at, row.type, row.address, row.subject,
      row.actor];
    before = createHash('sha256').update(before).update(JSON.stringify(fields)).digest();
    return before;
  });
  return { rows, expected };
}
