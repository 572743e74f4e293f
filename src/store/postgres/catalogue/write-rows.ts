/**
 * The statements that write a transaction. The first one moves the positions of its sellers by
 * compare-and-set: if a seller's position is not the one that the mutations were decided for, or
 * the seller is disabled, the new position is NULL, which fails the statement and with it the whole
 * pipeline.
 */
import { STORED_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import { searchTextsOf } from '../../../domain/catalogue/product-query.ts';
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/time.ts';
import type { Moment } from '../../../runtime/clock.ts';
import { timeAfter } from '../../rules/history.ts';
import type { MovedSeller } from '../../rules/mutations/position-allocator.ts';
import { encodeChange } from '../../sql/history/changes.ts';
import { encodeImport } from '../../sql/history/import-queries.ts';
import { encodeMember, encodeProduct } from '../../sql/product-rows.ts';
import type { Statement } from '../wire/statement-run.ts';
import type { LoadedSeller } from '../../rules/working-set/loaded-seller.ts';
import type { StoredLevel } from '../../rules/stock-levels.ts';
import type { WrittenProduct } from '../../rules/working-set/product-table.ts';
import type { WorkingSet } from '../../rules/working-set/working-set.ts';
import { openRowInserts, type RowInserts } from './row-inserts.ts';

const MOVE = `
  UPDATE seller
  SET position = CASE WHEN position = $2 AND disabled_at IS NULL THEN $3::bigint END,
    last_product_id = $4, last_at = $5
  WHERE id = $1`;
/** Locked in the order of ids, so that two transactions never wait for each other. */
const LOCK_MANY = 'SELECT FROM seller WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE';
const MOVE_MANY = `
  UPDATE seller AS s
  SET position = CASE WHEN s.position = m.was AND s.disabled_at IS NULL THEN m.becomes END,
    last_product_id = m.last_product_id, last_at = m.last_at
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS m (id, was, becomes, last_product_id, last_at)
  WHERE s.id = m.id`;
const DELETE_PRODUCTS = 'DELETE FROM product WHERE seller_id = $1 AND id = ANY ($2::bigint[])';
const DELETE_SEQUENCES = `
  DELETE FROM stock_sequence WHERE seller_id = $1 AND product_id = ANY ($2::bigint[])`;
const UPDATE_LEVELS = `
  UPDATE product AS p SET stock = u.stock, position = u.position, updated_at = u.updated_at
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS u (id, stock, position, updated_at)
  WHERE p.seller_id = $1 AND p.id = u.id`;
const UPDATED_FIELDS = STORED_FIELDS.filter(({ member, isSent }) =>
  isSent || member === 'position' || member === 'updatedAt');
const UPDATE_PRODUCTS = `
  UPDATE product AS p
  SET ${UPDATED_FIELDS.map(({ column }) => `${column} = u.${column}`).join(', ')},
    snapshot_position = coalesce(u.snapshot_position, p.snapshot_position),
    name_key = u.name_key, search_text = u.search_text
  FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[],
    ${UPDATED_FIELDS.map(({ isText }, index) =>
    `$${index + 6}::${isText ? 'text' : 'bigint'}[]`).join(', ')})
    AS u (id, snapshot_position, name_key, search_text,
      ${UPDATED_FIELDS.map(({ column }) => column).join(', ')})
  WHERE p.seller_id = $1 AND p.id = u.id`;
const UPDATE_IMPORT = `
  UPDATE import SET finished_at = $3, counts = $4, first_position = coalesce(first_position, $5),
    last_position = coalesce($6, last_position)
  WHERE seller_id = $1 AND id = $2`;
/** After the clock was set back: later minutes would hide the changes made since. */
const DELETE_MINUTES = 'DELETE FROM change_minute WHERE seller_id = $1 AND minute > $2';

/**
 * The statements between BEGIN and COMMIT; none if nothing was written.
 */
export function writeRows(
  set: WorkingSet, { wall: at, lived }: Moment, isDistributed: boolean,
): readonly Statement[] {
  const inserts = openRowInserts(isDistributed);
  addChanges(inserts, set);
  for (const record of set.imports) inserts.add('import', ...encodeImport(record));
  for (const { sellerId, keyHash, part, fingerprint, outcome } of set.records) {
    inserts.add('idempotency', sellerId, keyHash, part, fingerprint, at, lived, outcome);
  }
  const moved = set.positions.listMoved();
  const statements = [...set.sellers].flatMap(([id, seller]) => [
    ...writeProducts(inserts, id, seller), ...writeLevels(inserts, id, seller),
    ...writeImports(id, seller),
  ]);
  for (const [sellerId, seller] of moved) noteTimes(inserts, sellerId, seller, at);
  return [
    ...moveSellers(moved, at, isDistributed), ...statements, ...inserts.list(),
    ...moved.filter(([, { lastAt }]) => timeAfter(lastAt, at) < lastAt).map(([sellerId]) =>
      ({ text: DELETE_MINUTES, values: [sellerId, Math.floor(at / MINUTE_MS)] })),
  ];
}

function addChanges(inserts: RowInserts, { changes, movements, batch }: WorkingSet): void {
  for (const change of changes) inserts.add('change', ...encodeChange(change), batch);
  for (const { stock: { context, movements: some }, first } of movements) {
    const { actor: { sellerId, keyId, actorName, importId }, origin: { source }, at } = context;
    some.forEach((movement, index) => {
      const { productId, before, after, sku, previousPosition, reason, sequence } = movement;
      inserts.add(
        'change', sellerId, first + index, 'stock', productId, keyId, at, before, after, undefined,
        sku, previousPosition, reason, source, sequence, actorName, importId, batch,
      );
    });
  }
}

function moveSellers(
  moved: readonly (readonly [SellerId, MovedSeller])[], at: number, isDistributed: boolean,
): readonly Statement[] {
  const rows = moved.map(([id, { from, position, lastProductId, lastAt }]) =>
    [id, from, position, lastProductId, timeAfter(lastAt, at)] as const);
  const [first, ...others] = rows;
  if (!first) return [];
  if (isDistributed || others.length === 0) {
    return rows.sort(([one], [other]) => one - other).map((values) => ({ text: MOVE, values }));
  }
  const columns = first.map((_, index) => rows.map((row) => row[index] ?? null));
  return [{ text: LOCK_MANY, values: columns.slice(0, 1) }, { text: MOVE_MANY, values: columns }];
}

function writeProducts(
  inserts: RowInserts, sellerId: SellerId, { products }: LoadedSeller,
): readonly Statement[] {
  const { deleted, updated, created } = products.listWritten();
  for (const { product, snapshotPosition } of created) {
    const texts = searchTextsOf(product);
    inserts.add('product', sellerId, snapshotPosition, ...texts, ...encodeProduct(product));
  }
  return [
    ...[DELETE_PRODUCTS, DELETE_SEQUENCES].filter(() => deleted.length > 0)
      .map((text) => ({ text, values: [sellerId, deleted] })),
    ...(updated.length > 0 ? [updateProducts(sellerId, updated)] : []),
  ];
}

function updateProducts(sellerId: SellerId, updated: readonly WrittenProduct[]): Statement {
  const texts = updated.map(({ product }) => searchTextsOf(product));
  return {
    text: UPDATE_PRODUCTS,
    values: [
      sellerId, updated.map(({ product }) => product.id),
      updated.map(({ snapshotPosition }) => snapshotPosition ?? null),
      texts.map(([nameKey]) => nameKey), texts.map(([, text]) => text),
      ...UPDATED_FIELDS.map((field) =>
        updated.map(({ product }) => encodeMember(product, field))),
    ],
  };
}

function writeLevels(
  inserts: RowInserts, sellerId: SellerId, seller: LoadedSeller,
): readonly Statement[] {
  const { levels, sequences } = seller.levels.listWritten();
  for (const { id, source, sequence } of sequences) {
    inserts.add('stock_sequence', sellerId, id, source, sequence);
  }
  if (levels.length === 0) return [];
  const read = (member: 'id' | 'stock' | 'position' | 'at'): readonly number[] =>
    levels.map((level: StoredLevel) => level[member]);
  const values = [sellerId, read('id'), read('stock'), read('position'), read('at')];
  return [{ text: UPDATE_LEVELS, values }];
}

function writeImports(sellerId: SellerId, { imports }: LoadedSeller): readonly Statement[] {
  return imports.listUpdated().map(([id, progress]) => ({
    text: UPDATE_IMPORT,
    values: [
      sellerId, id, progress.finishedAt ?? null, JSON.stringify(progress.counts),
      progress.firstPosition ?? null, progress.lastPosition ?? null,
    ],
  }));
}

/** The last position of its minute, and the units of stock moved on its day. */
function noteTimes(
  inserts: RowInserts, sellerId: SellerId, seller: MovedSeller, now: number,
): void {
  const { position, lastAt, unitsIn, unitsOut } = seller;
  const at = timeAfter(lastAt, now);
  inserts.add('change_minute', sellerId, Math.floor(at / MINUTE_MS), position);
  if (unitsIn === 0 && unitsOut === 0) return;
  const [safeIn, safeOut] = [unitsIn, unitsOut].map((units) =>
    Math.min(units, Number.MAX_SAFE_INTEGER));
  inserts.add('stock_day', sellerId, Math.floor(at / DAY_MS), safeIn, safeOut);
}
