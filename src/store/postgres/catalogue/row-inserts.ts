/**
 * Rows to insert, collected as columns: one statement inserts all rows of a table. Rows of one
 * seller have its id as a constant, so that Citus writes them to one shard.
 */
import { STORED_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import type { SellerId } from '../../../domain/id.ts';
import { IDEMPOTENCY_LIFE_MS } from '../../limits.ts';
import { CHANGE_ROW } from '../../sql/history/changes.ts';
import { IMPORT_ROW } from '../../sql/history/import-queries.ts';
import type { Statement } from '../wire/statement-run.ts';
import type { Value } from '../wire/values.ts';

/** The columns of a table after `seller_id`, with their types. */
type Columns = Readonly<Record<string, 'bigint' | 'text' | 'bytea'>>;

/** The tables in the order of their inserts, with what to do about a row that exists. */
const TABLES = {
  change: { columns: { ...CHANGE_ROW, batch: 'bigint' }, onConflict: '' },
  product: {
    columns: {
      snapshot_position: 'bigint', name_key: 'text', search_text: 'text',
      ...Object.fromEntries(STORED_FIELDS.map(({ column, isText }) =>
        [column, isText ? 'text' : 'bigint'] as const)),
    },
    onConflict: '',
  },
  stock_sequence: {
    columns: { product_id: 'bigint', source: 'text', sequence: 'bigint' },
    onConflict: 'ON CONFLICT (seller_id, product_id, source) DO UPDATE'
      + ' SET sequence = excluded.sequence',
  },
  change_minute: {
    columns: { minute: 'bigint', position: 'bigint' },
    onConflict: 'ON CONFLICT (seller_id, minute) DO UPDATE SET position = excluded.position',
  },
  stock_day: {
    columns: { day: 'bigint', units_in: 'bigint', units_out: 'bigint' },
    onConflict: `ON CONFLICT (seller_id, day) DO UPDATE
      SET units_in = least(stock_day.units_in + excluded.units_in, ${Number.MAX_SAFE_INTEGER}),
        units_out = least(stock_day.units_out + excluded.units_out, ${Number.MAX_SAFE_INTEGER})`,
  },
  import: { columns: IMPORT_ROW, onConflict: '' },
  idempotency: {
    columns: {
      key_hash: 'bytea', part: 'bigint', fingerprint: 'bytea', at: 'bigint', lived_at: 'bigint',
      outcome: 'text',
    },
    // NULL fails the transaction: a record that has not expired is to be replayed.
    onConflict: `ON CONFLICT (seller_id, key_hash, part) DO UPDATE
      SET at = excluded.at, lived_at = excluded.lived_at, outcome = excluded.outcome,
        fingerprint = CASE WHEN idempotency.lived_at <= excluded.lived_at - ${IDEMPOTENCY_LIFE_MS}
          THEN excluded.fingerprint END`,
  },
} as const satisfies Readonly<Record<string, { columns: Columns; onConflict: string }>>;

type Table = keyof typeof TABLES;

const FEW_ROWS = 8;

export type RowInserts = ReturnType<typeof openRowInserts>;

/** @param isDistributed Whether each statement may be about one seller only. */
export function openRowInserts(isDistributed: boolean) {
  const columnsByTable = new Map<string, Value[][]>();
  return {
    /** Adds a row: its values in the order of the table's columns. */
    add(table: Table, sellerId: SellerId, ...values: readonly (Value | undefined)[]): void {
      let columns = columnsByTable.get(table);
      if (!columns) {
        columns = Array.from({ length: values.length + 1 }, () => []);
        columnsByTable.set(table, columns);
      }
      columns[0]?.push(sellerId);
      values.forEach((value, index) => columns[index + 1]?.push(value ?? null));
    },
    /** The statements that insert the rows, in the order of `TABLES`. */
    list(): readonly Statement[] {
      return [...TEXTS].flatMap(([table, { ofMany, ofOne, few }]) => {
        const columns = columnsByTable.get(table) ?? [];
        const [sellerIds = [], ...others] = columns;
        const bySeller = Map.groupBy(sellerIds.keys(), (row) => sellerIds[row] ?? null);
        if (bySeller.size > 1 && !isDistributed) return [{ text: ofMany, values: columns }];
        return [...bySeller].map(([sellerId, rows]) => {
          const read = (column: readonly Value[], row: number): Value => column[row] ?? null;
          const text = few[rows.length];
          const values = text === undefined
            ? others.map((column) => rows.map((row) => read(column, row)))
            : rows.flatMap((row) => others.map((column) => read(column, row)));
          return { text: text ?? ofOne, values: [sellerId, ...values] };
        });
      });
    },
  };
}

/** A few rows are VALUES, which Citus plans fastest; more are arrays, joined with the seller. */
const TEXTS = new Map(Object.entries(TABLES).map(([table, { columns, onConflict }]) => {
  const names = Object.keys(columns);
  const insert = (rows: string): string =>
    `INSERT INTO ${table} (seller_id, ${names.join(', ')}) ${rows} ${onConflict}`;
  const arrays = Object.values(columns).map((type, index) => `$${index + 2}::${type}[]`).join(', ');
  const row = (_: unknown, n: number): string =>
    `($1, ${names.map((__, index) => `$${n * names.length + index + 2}`).join(', ')})`;
  return [table, {
    ofMany: insert(`SELECT * FROM unnest($1::bigint[], ${arrays})`),
    ofOne: insert(`SELECT s.id, u.* FROM seller AS s, unnest(${arrays}) AS u WHERE s.id = $1`),
    /** By the number of rows. */
    few: Array.from({ length: FEW_ROWS + 1 }, (_, length) =>
      insert(`VALUES ${Array.from({ length }, row).join(', ')}`)),
  }] as const;
}));
