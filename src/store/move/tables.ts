/**
 * What a move copies: every table of the SQLite schema except the server's own secrets, in the
 * order of their creation, so that no row is written before one that it references. PostgreSQL has
 * the same tables and columns, and in addition what it derives from them.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import { searchTextsOf } from '../../domain/catalogue/product-query.ts';
import type { SellerId } from '../../domain/id.ts';
import { bucketOf } from '../postgres/nodes/delivery.ts';
import { readText } from '../sql/sql.ts';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Its value in SQLite. */
  readonly expression: string;
}

type ColumnType = 'INTEGER' | 'TEXT' | 'BLOB';

export interface Table {
  readonly name: string;
  /** The columns of both databases. */
  readonly columns: readonly Column[];
  /** Those that only the target, PostgreSQL, has. */
  readonly additions: readonly Column[];
  /** The primary key, in its order. */
  readonly key: readonly Column[];
  /** The rows in SQLite: a table, or a query in parentheses. */
  readonly rows: string;
}

const ADDITIONS: Readonly<Record<string, readonly Column[]>> = {
  seller: [
    {
      name: 'last_at', type: 'INTEGER',
      expression: `coalesce((SELECT at FROM change AS c
        WHERE c.seller_id = seller.id AND c.position = seller.position), 0)`,
    },
    { name: 'webhook_version', type: 'INTEGER', expression: '0' },
  ],
  product: [
    { name: 'name_key', type: 'TEXT', expression: 'name_key(name, sku, category, barcode)' },
    { name: 'search_text', type: 'TEXT', expression: 'search_text(name, sku, category, barcode)' },
  ],
  // No transaction whose outcome is unknown made them.
  change: [{ name: 'batch', type: 'INTEGER', expression: '0' }],
};

/** Tables that only PostgreSQL has, with rows that follow from others. */
const DERIVED_TABLES: readonly Table[] = [
  derivedTable('key_owner', 'SELECT hash, seller_id FROM api_key', [
    ['hash', 'TEXT'], ['seller_id', 'INTEGER'],
  ]),
  derivedTable('webhook_seller', `
    SELECT DISTINCT seller_id, bucket_of(seller_id) AS bucket FROM webhook`, [
    ['seller_id', 'INTEGER'], ['bucket', 'INTEGER'],
  ]),
];

/** The tables of a database with the current SQLite schema. */
export function listTables(db: DatabaseSync): readonly Table[] {
  const names = db.prepare(`
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND name <> 'server_secret' AND name NOT LIKE 'sqlite%' ORDER BY rowid`);
  return names.all().map((row) => describeTable(db, readText(row, 'name')));
}

/** All tables that a PostgreSQL database gets. Adds the functions that their expressions use. */
export function listTablesWithDerived(db: DatabaseSync): readonly Table[] {
  const options = { deterministic: true, directOnly: true, varargs: true };
  for (const [index, name] of ['name_key', 'search_text'].entries()) {
    db.function(name, options, (...texts: unknown[]) => {
      // The cast: they are texts of a product.
      const [product, sku, category, barcode] = texts as [string, Sku, string, string | null];
      return searchTextsOf({ name: product, sku, category, barcode })[index] ?? '';
    });
  }
  // The cast: it is a column of ids.
  db.function('bucket_of', options, (id: unknown) => bucketOf(id as SellerId));
  const tables = listTables(db).map((table) =>
    ({ ...table, additions: ADDITIONS[table.name] ?? [] }));
  return [...tables, ...DERIVED_TABLES];
}

export function listNames(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(', ');
}

function describeTable(db: DatabaseSync, name: string): Table {
  const rows = db.prepare('SELECT name, type, pk FROM pragma_table_info(?)').all(name);
  const columns = rows.map((row) => {
    const column = readText(row, 'name');
    // The cast: the tables are STRICT, and use these types only.
    return { name: column, type: row['type'] as ColumnType, expression: column, pk: row['pk'] };
  });
  const key = columns.filter(({ pk }) => Number(pk) > 0)
    .sort((one, other) => Number(one.pk) - Number(other.pk));
  return { name, columns, additions: [], key, rows: name };
}

/** The first column is the key. */
function derivedTable(
  name: string, query: string, types: readonly (readonly [name: string, type: ColumnType])[],
): Table {
  const columns = types.map(([column, type]) => ({ name: column, type, expression: column }));
  return { name, columns, additions: [], key: columns.slice(0, 1), rows: `(${query})` };
}
