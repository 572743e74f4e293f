/**
 * The products of a revert, in the order in which the reverted changes first touched them. A
 * temporary database holds them, in memory while small and then in a file, however many there are.
 */
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import type { ProductId } from '../../domain/id.ts';
import { readId, readInteger, readOptional, readText, type Row } from '../sql/sql.ts';
import { openTables } from './temporary-database.ts';

export interface TouchedProduct {
  readonly id: ProductId;
  /** Position of the first reverted change. */
  readonly first: number;
}

/** `planned`: not written yet. */
type State = 'pending' | 'planning' | 'planned' | 'written';

interface ProductState extends TouchedProduct {
  readonly state: State;
  /** Of a planned product: afterwards, undefined if it will not exist. */
  readonly sku: Sku | undefined;
}

export type TouchedProducts = ReturnType<typeof openTouchedProducts>;

export function openTouchedProducts() {
  const db = openTables(`
    CREATE TABLE touched (
      n INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, first INTEGER NOT NULL,
      state TEXT NOT NULL DEFAULT 'pending', sku TEXT
    ) STRICT;
    CREATE TABLE claim (sku TEXT PRIMARY KEY, id INTEGER NOT NULL) STRICT, WITHOUT ROWID`);
  const add = db.prepare('INSERT OR IGNORE INTO touched (id, first) VALUES (?, ?)');
  const list = db.prepare(`
    SELECT n, id, first FROM touched WHERE n > ? AND state = 'pending' ORDER BY n LIMIT ?`);
  const find = db.prepare('SELECT id, first, state, sku FROM touched WHERE id = ?');
  const set = db.prepare('UPDATE touched SET state = ?, sku = ? WHERE id = ?');
  const claim = db.prepare('INSERT INTO claim (sku, id) VALUES (?, ?)');
  const findClaim = db.prepare('SELECT id FROM claim WHERE sku = ?');
  /** The last one taken. */
  let lastTaken = 0;

  return {
    /** Adds a product, unless it was added before. */
    add: ({ id, first }: TouchedProduct) => void add.run(id, first),
    /** The next pending ones. */
    take(limit: number): TouchedProduct[] {
      const rows = list.all(lastTaken, limit);
      const last = rows.at(-1);
      if (last) lastTaken = readInteger(last, 'n');
      return rows.map(mapTouched);
    },
    find(id: ProductId): ProductState | undefined {
      const row = find.get(id);
      return row && {
        ...mapTouched(row),
        // The columns hold what `set` wrote.
        state: readText(row, 'state') as State,
        sku: readOptional(row, 'sku', readText) as Sku | undefined,
      };
    },
    set: (id: ProductId, state: State, sku?: Sku) => void set.run(state, sku ?? null, id),
    /** Claims a SKU that a product gets back. Returns whether no other product has claimed it. */
    claim(id: ProductId, sku: Sku): boolean {
      const row = findClaim.get(sku);
      if (row) return readId<ProductId>(row, 'id') === id;
      claim.run(sku, id);
      return true;
    },
    close: () => db[Symbol.dispose](),
  };
}

function mapTouched(row: Row): TouchedProduct {
  return { id: readId<ProductId>(row, 'id'), first: readInteger(row, 'first') };
}
