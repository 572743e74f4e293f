/** Queries of stock levels and of the sequence numbers of their sources. */
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductReference } from '../../../domain/catalogue/stock-change.ts';
import { parseProductId, type ProductId, type SellerId } from '../../../domain/id.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../../../domain/limits.ts';
import type { BarcodeOwner } from '../../catalogue-store.ts';
import { IS_GTIN } from '../../sql/product-filter.ts';
import { readId, readInteger, readText, type Row } from '../../sql/sql.ts';
import type { Query } from '../sql.ts';
import { LoadedLevels, type StoredSequence } from '../../rules/working-set/loaded-levels.ts';
import type { StoredLevel } from '../../rules/stock-levels.ts';

/** Columns for `mapLevel`. */
export const LEVEL_COLUMNS = 'id, sku, stock, position, updated_at';
const SELECT_LEVELS = `SELECT ${LEVEL_COLUMNS} FROM product WHERE seller_id = $1`;

/** Products of a seller ($1) with one barcode: as many as an error names, and one more. */
export function selectByBarcode(columns: string): string {
  return `SELECT ${columns} FROM product AS p WHERE p.seller_id = $1 AND ${IS_GTIN} = named.gtin
    ORDER BY p.id LIMIT ${BARCODE_PRODUCTS_NAMED_LIMIT + 1}`;
}

/** Of a seller ($1), by names ($2). */
export const LEVEL_QUERIES = {
  levelsBySku: `${SELECT_LEVELS} AND sku = ANY ($2::text[])`,
  levelsById: `${SELECT_LEVELS} AND id = ANY ($2::bigint[])`,
  sequencesBySku: `
    SELECT product_id, source, sequence FROM stock_sequence WHERE seller_id = $1
    AND product_id IN (SELECT id FROM product WHERE seller_id = $1 AND sku = ANY ($2::text[]))`,
  sequencesById: `
    SELECT product_id, source, sequence FROM stock_sequence
    WHERE seller_id = $1 AND product_id = ANY ($2::bigint[])`,
  levelsByBarcode: `
    SELECT p.*, named.gtin FROM unnest($2::bigint[]) AS named (gtin)
    CROSS JOIN LATERAL (${selectByBarcode(LEVEL_COLUMNS)}) AS p`,
  sequencesByBarcode: `
    SELECT product_id, source, sequence FROM stock_sequence WHERE seller_id = $1
    AND product_id IN (SELECT p.id FROM product AS p
      WHERE p.seller_id = $1 AND ${IS_GTIN} = ANY ($2::bigint[]))`,
  inStock: `${SELECT_LEVELS} AND stock > 0`,
} as const;

export function mapLevel(row: Row): StoredLevel {
  return {
    id: readId<ProductId>(row, 'id'),
    sku: readText(row, 'sku') as Sku, // the column holds SKUs
    stock: readInteger(row, 'stock'),
    position: readInteger(row, 'position'),
    at: readInteger(row, 'updated_at'),
  };
}

export function mapOwner(row: Row): BarcodeOwner {
  return { ...mapLevel(row), gtin: readInteger(row, 'gtin') };
}

export function mapSequence(row: Row): StoredSequence {
  return {
    id: readId<ProductId>(row, 'product_id'),
    source: readText(row, 'source'),
    sequence: readInteger(row, 'sequence'),
  };
}

/** The levels of named products, for reading only. */
export async function loadLevels(
  query: Query, sellerId: SellerId, references: readonly ProductReference[], hasSource: boolean,
): Promise<LoadedLevels> {
  const skus = references.flatMap(({ sku }) => sku ?? []);
  const ids = references.flatMap(({ id, sku }) =>
    (sku === undefined ? parseProductId(sellerId, id) ?? [] : []));
  const find = (text: string, names: readonly (string | number)[]) =>
    (names.length === 0 ? [] : query(text, sellerId, names as string[]));
  const [bySku, byId, ...sequences] = await Promise.all([
    find(LEVEL_QUERIES.levelsBySku, skus), find(LEVEL_QUERIES.levelsById, ids),
    ...(hasSource ? [
      find(LEVEL_QUERIES.sequencesBySku, skus), find(LEVEL_QUERIES.sequencesById, ids),
    ] : []),
  ]);
  const levels = new LoadedLevels(true);
  for (const row of [...bySku, ...byId]) levels.load(mapLevel(row));
  for (const row of sequences.flat()) levels.loadSequence(mapSequence(row));
  return levels;
}
