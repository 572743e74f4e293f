/**
 * A careful program without batching on the same tables: one transaction per request, which locks
 * the seller, and one statement at a time.
 */
import type { Statement } from '../../../src/store/postgres/wire/statement-run.ts';
import type { Pool } from '../../../src/store/postgres/wire/pool.ts';
import { readInteger, type Row } from '../../../src/store/sql/sql.ts';
import type { Subject } from './subject.ts';

const TAKE_POSITION = `
  UPDATE seller SET position = position + $2, last_product_id = last_product_id + $3
  WHERE id = $1 RETURNING position, last_product_id`;
const INSERT_PRODUCT = `
  INSERT INTO product (seller_id, id, sku, name, category, price_minor, stock, position, created_at,
    updated_at, snapshot_position, name_key, search_text)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $8, $10, $11)`;
const INSERT_CHANGE = `
  INSERT INTO change (seller_id, position, type, product_id, key_id, at, stock_before, stock_after,
    product, sku, prior, batch)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0)`;
const FIND_STOCK = `
  SELECT id, stock, position FROM product WHERE seller_id = $1 AND sku = $2 FOR UPDATE`;
const SET_STOCK = `
  UPDATE product SET stock = $3, position = $4, updated_at = $5 WHERE seller_id = $1 AND id = $2`;
const FIND_KEY = `
  SELECT k.id, k.scopes, s.position FROM api_key AS k JOIN seller AS s ON s.id = k.seller_id
  WHERE k.hash = $1 AND k.revoked_at IS NULL AND s.disabled_at IS NULL`;

export function naiveSubject(pool: Pool): Subject {
  return {
    create: ({ actor: { sellerId, keyId } }, product) => transact(pool, async (run) => {
      const row = await run(TAKE_POSITION, sellerId, 1, 1);
      const [position, id] = [readInteger(row, 'position'), readInteger(row, 'last_product_id')];
      const { sku, name, category, priceMinor, stock } = product;
      const at = Date.now();
      const search = `${name} ${sku} ${category}`.toLowerCase();
      await run(INSERT_PRODUCT, sellerId, id, sku, name, category, priceMinor, stock, position, at,
        name.toLowerCase(), search);
      await run(INSERT_CHANGE, sellerId, position, 'created', id, keyId, at, 0, stock,
        JSON.stringify({ id, ...product }), sku, null);
    }),
    adjust: ({ actor: { sellerId, keyId } }, skus) => transact(pool, async (run) => {
      const last = readInteger(await run(TAKE_POSITION, sellerId, skus.length, 0), 'position');
      const at = Date.now();
      let position = last - skus.length;
      for (const sku of skus) {
        position += 1;
        const row = await run(FIND_STOCK, sellerId, sku);
        const [id, stock] = [readInteger(row, 'id'), readInteger(row, 'stock')];
        await run(SET_STOCK, sellerId, id, stock + 1, position, at);
        await run(INSERT_CHANGE, sellerId, position, 'stock', id, keyId, at, stock, stock + 1,
          null, sku, readInteger(row, 'position'));
      }
    }),
    async findKey(hash) {
      const [result] = await pool.run([{ text: FIND_KEY, values: [hash] }]);
      if (!result?.rows[0]) throw new Error('There is no such key.');
    },
    close: () => pool.close(),
  };
}

/** Executes one statement, and returns its first row. */
type RunOne = (text: string, ...values: Statement['values']) => Promise<Row>;

async function transact(pool: Pool, write: (run: RunOne) => Promise<void>): Promise<void> {
  await pool.use(async (connection) => {
    const run: RunOne = async (text, ...values) => {
      const [result] = await connection.run([{ text, values }]);
      return result?.rows[0] as Row | undefined ?? {}; // no column is a boolean
    };
    await run('BEGIN');
    await write(run);
    await run('COMMIT');
  });
}
