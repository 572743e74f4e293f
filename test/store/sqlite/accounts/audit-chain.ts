/** Reads the audit log without the store, and recomputes its hash chain. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

interface Row {
  readonly n: number;
  readonly seller_id: number | null;
  readonly at: number;
  readonly type: string;
  readonly address: string;
  readonly subject: string;
  readonly hash: Uint8Array;
}

/** What the chain says, and what it has to say. */
export function readChain(folder: string): { readonly rows: Row[]; readonly expected: Buffer[] } {
  const db = new DatabaseSync(join(folder, 'catalogue.db'), { readOnly: true });
  // The cast: these are the columns of the table.
  const rows = db.prepare('SELECT * FROM audit_event ORDER BY n').all() as unknown as Row[];
  db.close();
  let before = Buffer.alloc(32);
  const expected = rows.map((row) => {
    const fields = [row.n, row.seller_id, row.at, row.type, row.address, row.subject];
    before = createHash('sha256').update(before).update(JSON.stringify(fields)).digest();
    return before;
  });
  return { rows, expected };
}
