/**
 * What a stocktake that arrives in batches has named so far, and what it will set to 0. A temporary
 * database, in memory while small and then in a file, has the ids, however many there are.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import type { ProductId } from '../../domain/id.ts';
import type { ProductReference } from '../../domain/catalogue/stock-change.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { MissingProduct, MissingProducts, StreamedStocktake } from '../catalogue-store.ts';
import { STOCKTAKE_CACHE_KIB, STOCKTAKE_STEP_PRODUCTS } from '../limits.ts';
import type { Awaitable } from '../rules/history/queries.ts';
import type { StockLevel } from '../rules/stock-levels.ts';
import { readId, readInteger, readText } from '../sql/sql.ts';
import { explainAccess } from '../sqlite/engine/disk-failure.ts';
import { openTemporary } from './temporary-database.ts';

/** Reads the catalogue. */
interface Catalogue {
  readLevels(
    references: readonly ProductReference[],
  ): Awaitable<readonly (StockLevel | undefined)[]>;
  /** The next products in the order of their ids, also those at 0. */
  listLevels(after: ProductId | undefined, limit: number): Awaitable<readonly StockLevel[]>;
  /** Those of these products, in the order of their ids, that existed at an earlier position. */
  listExisting(levels: readonly StockLevel[], position: number): Promise<ReadonlySet<ProductId>>;
}

export function openStreamedStocktake(
  catalogue: Catalogue, db = openTemporary(STOCKTAKE_CACHE_KIB),
): StreamedStocktake {
  const tables = openTables(db);

  /** Adds the missing ones of these products, which follow each other in the order of ids. */
  async function addMissing(
    levels: readonly StockLevel[], after: number, position: number,
  ): Promise<void> {
    const namedIds = tables.listNamed(after, levels.at(-1)?.id ?? after);
    const missing = levels.filter(({ id, stock }) => stock > 0 && !namedIds.has(id));
    const moved = missing.filter((level) => level.position > position);
    const existing = moved.length === 0 ? undefined : await catalogue.listExisting(moved, position);
    for (const level of missing) {
      if (level.position <= position || existing?.has(level.id)) tables.addMissing(level);
    }
  }

  return {
    async addNamed(results, invalid) {
      const stocks = new Map<ProductId, number>();
      for (const { id, previous = 0 } of results) {
        if (id !== undefined && !stocks.has(id)) stocks.set(id, previous);
      }
      for (const level of invalid.length > 0 ? await catalogue.readLevels(invalid) : []) {
        if (level && !stocks.has(level.id)) stocks.set(level.id, level.stock);
      }
      tables.addNamed(stocks);
    },
    async findMissing(position) {
      for (let after: ProductId | undefined; ;) {
        await yieldToEventLoop();
        const levels: readonly StockLevel[]
          = await catalogue.listLevels(after, STOCKTAKE_STEP_PRODUCTS);
        await addMissing(levels, after ?? 0, position);
        if (levels.length < STOCKTAKE_STEP_PRODUCTS) return tables.count();
        after = levels.at(-1)?.id;
      }
    },
    listMissing: async ({ after, limit }) => tables.listMissing(after ?? 0, limit),
    close: async () => tables.close(),
  };
}

/** The products named, and those missing, in one transaction that is never committed. */
function openTables(db: DatabaseSync) {
  db.exec(`
    CREATE TABLE named (id INTEGER PRIMARY KEY, was_in_stock INTEGER NOT NULL) STRICT;
    CREATE TABLE missing (id INTEGER PRIMARY KEY, sku TEXT NOT NULL, stock INTEGER NOT NULL) STRICT;
    BEGIN;
  `);
  const addNamed = db.prepare(`
    INSERT OR IGNORE INTO named (id, was_in_stock)
    SELECT value ->> 0, value ->> 1 > 0 FROM json_each(?)`);
  const listNamed = db.prepare('SELECT id FROM named WHERE id > ? AND id <= ?');
  const addMissing = db.prepare('INSERT INTO missing (id, sku, stock) VALUES (?, ?, ?)');
  const listMissing = db.prepare(
    'SELECT id, sku, stock FROM missing WHERE id > ? ORDER BY id LIMIT ?',
  );
  const count = db.prepare(`
    SELECT (SELECT count(*) FROM missing) AS missing,
      (SELECT count(*) FROM named WHERE was_in_stock = 1) AS named`);
  return {
    /** A product keeps the stock that it had first. */
    addNamed: (stocks: ReadonlyMap<ProductId, number>) =>
      add(addNamed, JSON.stringify([...stocks])),
    listNamed: (after: number, upTo: number): ReadonlySet<ProductId> =>
      new Set(listNamed.all(after, upTo).map((row) => readId<ProductId>(row, 'id'))),
    addMissing: ({ id, sku, stock }: StockLevel) => add(addMissing, id, sku, stock),
    listMissing: (after: number, limit: number): MissingProduct[] =>
      listMissing.all(after, limit).map((row) => ({
        id: readId<ProductId>(row, 'id'),
        sku: readText(row, 'sku') as Sku, // the table has what `addMissing` wrote
        stock: readInteger(row, 'stock'),
      })),
    count(): MissingProducts {
      const row = count.get() ?? {};
      const missing = readInteger(row, 'missing');
      return { missing, inStock: missing + readInteger(row, 'named') };
    },
    close: () => db[Symbol.dispose](),
  };
}

/** @throws AppError `storage_full`, `unavailable` if the temporary file cannot be written */
function add(insert: StatementSync, ...values: readonly SQLInputValue[]): void {
  try {
    insert.run(...values);
  } catch (error) {
    throw explainAccess(error, 'writing');
  }
}
