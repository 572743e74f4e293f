/** Sellers: statements and row mapper. */
import { AppError } from '../../../domain/error.ts';
import { randomId, type SellerId } from '../../../domain/id.ts';
import type { Seller } from '../../../domain/access/seller.ts';
import type { AccessStore } from '../../access-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { SellerState } from '../../rules/mutations/position-allocator.ts';
import type { Catalogues } from '../../rules/watching/catalogue-watchers.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import {
  readCurrency, readId, readInteger, readOptional, readText, type Row, type Sql,
} from '../sql.ts';

/** Columns for `mapSeller`. */
export const SELLER_COLUMNS
  = 'id, name, currency, currency_decimals, position, created_at, disabled_at';

export type SellerMutations = ReturnType<typeof sellerMutations>;

export function sellerMutations(sql: Sql, audit: AuditLog) {
  const insert = sql.prepare(`
    INSERT INTO seller (id, name, currency, currency_decimals, created_at)
    VALUES (:id, :name, :currency, :decimals, :at)
    ON CONFLICT (id) DO NOTHING RETURNING ${SELLER_COLUMNS}`);
  const find = sql.prepare(`SELECT ${SELLER_COLUMNS} FROM seller WHERE id = :sellerId`);
  const setDisabled = sql.prepare(`
    UPDATE seller SET disabled_at = :disabledAt WHERE id = :sellerId
    RETURNING ${SELLER_COLUMNS}`);
  const setShop = sql.prepare(`
    UPDATE seller SET low_stock = coalesce(:lowStock, low_stock),
      two_factor_required = coalesce(:twoFactor, two_factor_required)
    WHERE id = :sellerId`);
  const endSessions = sql.prepare('DELETE FROM session WHERE seller_id = :sellerId');

  return {
    /**
     * Ids are random within their millisecond, so that no statement has to read all sellers. One
     * that is taken makes way for one of the next millisecond.
     */
    async createSeller([{ name, currency }], at) {
      const { code, decimals } = currency;
      for (let time = at; ; time += 1) {
        const id = randomId(time);
        const row = await insert.get({ id, name, currency: code, decimals, at });
        if (!row) continue;
        const seller = mapSeller(row);
        await audit.start(seller.id);
        return seller;
      }
    },
    /** Changes and logs nothing if the seller is already in that state. */
    async setSellerDisabled([sellerId, isDisabled], at) {
      const row = await find.get({ sellerId });
      if (!row) throw new AppError('not_found', 'There is no such seller.');
      const seller = mapSeller(row);
      if ((seller.disabledAt !== undefined) === isDisabled) return seller;
      if (isDisabled) await endSessions.run({ sellerId });
      const type = isDisabled ? 'seller_disabled' : 'seller_enabled';
      await audit.add({ sellerId, type }, at);
      const disabledAt = isDisabled ? at : undefined;
      return mapSeller(await setDisabled.get({ sellerId, disabledAt }) ?? {});
    },
    async setShopSettings([sellerId, { lowStock, requiresTwoFactor }, by], at) {
      const twoFactor = requiresTwoFactor === undefined ? undefined : Number(requiresTwoFactor);
      await setShop.run({ lowStock, twoFactor, sellerId });
      const subject = twoFactor === undefined ? `low-stock threshold ${lowStock}`
        : `two-factor authentication ${twoFactor === 1 ? 'required' : 'optional'}`;
      await audit.add({ ...by, sellerId, type: 'shop_settings_changed', subject }, at);
    },
  } satisfies Partial<MutationsOf<AccessStore>>;
}

export function sellerQueries(sql: Sql) {
  // Of all sellers, for their operator: no request of a seller lists them.
  const list = sql.prepare(`
    SELECT ${SELLER_COLUMNS} FROM seller WHERE id > :after ORDER BY id LIMIT :limit`);
  const find = sql.prepare(`SELECT ${SELLER_COLUMNS} FROM seller WHERE id = :sellerId`);
  const listPositions = sql.prepare(`
    SELECT id, position FROM seller WHERE ${sql.isAmong('id', ':ids')}`);
  return {
    async findSeller(sellerId) {
      const row = await find.get({ sellerId });
      return row && mapSeller(row);
    },
    async listSellers({ after, limit }) {
      return (await list.all({ after: after ?? 0, limit })).map(mapSeller);
    },
    async findPositions(ids) {
      const rows = await listPositions.all({ ids });
      return new Map(rows.map((row) =>
        [readId<SellerId>(row, 'id'), readInteger(row, 'position')]));
    },
  } satisfies Partial<QueriesOf<AccessStore>> & Pick<Catalogues, 'findPositions'>;
}

export function mapSeller(row: Row): Seller {
  const disabledAt = readOptional(row, 'disabled_at', readInteger);
  return {
    id: readId<SellerId>(row, 'id'),
    name: readText(row, 'name'),
    currency: readCurrency(row),
    position: readInteger(row, 'position'),
    createdAt: readInteger(row, 'created_at'),
    ...(disabledAt !== undefined && { disabledAt }),
  };
}

/** A row with `last_at`, the time of the last change, and `last_product_id`. */
export function mapSellerState(row: Row): SellerState {
  return {
    position: readInteger(row, 'position'),
    lastAt: readInteger(row, 'last_at'),
    lastProductId: readInteger(row, 'last_product_id'),
    currency: readCurrency(row),
    isDisabled: row['disabled_at'] !== null,
  };
}
