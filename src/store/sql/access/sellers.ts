/** Sellers: statements and row mapper. */
import { AppError } from '../../../domain/error.ts';
import { formatSellerId, randomId, type SellerId } from '../../../domain/id.ts';
import type {
  ExternalId, NewSeller, Seller, SellerReference,
} from '../../../domain/access/seller.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import type { AccessStore } from '../../access-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import { EXTERNAL_IDS_REMEMBERED } from '../../limits.ts';
import type { SellerState } from '../../rules/mutations/position-allocator.ts';
import type { Catalogues } from '../../rules/watching/catalogue-watchers.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import {
  readCurrency, readId, readInteger, readOptional, readText, type Row, type Sql,
} from '../sql.ts';
import { prepareFindDeleted } from './seller-deletion.ts';

/** Columns for `mapSeller`. */
export const SELLER_COLUMNS
  = 'id, name, external_id, currency, currency_decimals, position, created_at, disabled_at';

export type SellerMutations = ReturnType<typeof sellerMutations>;

export function sellerMutations(sql: Sql, audit: AuditLog) {
  const insert = sql.prepare(`
    INSERT INTO seller (id, name, external_id, currency, currency_decimals, created_at)
    VALUES (:id, :name, :externalId, :currency, :decimals, :at)
    ON CONFLICT (id) DO NOTHING RETURNING ${SELLER_COLUMNS}`);
  const find = sql.prepare(`SELECT ${SELLER_COLUMNS} FROM seller WHERE id = :sellerId`);
  const setDisabled = sql.prepare(`
    UPDATE seller SET disabled_at = :disabledAt WHERE id = :sellerId
    RETURNING ${SELLER_COLUMNS}`);
  const setShop = sql.prepare(`
    UPDATE seller SET low_stock = coalesce(:lowStock, low_stock),
      two_factor_required = coalesce(:twoFactor, two_factor_required)
    WHERE id = :sellerId`);
  const assignExternalId = prepareAssignExternalId(sql);
  const findDeleted = prepareFindDeleted(sql);
  const endSessions = sql.prepare('DELETE FROM session WHERE seller_id = :sellerId');

  return {
    /**
     * Ids are random within their millisecond, so that no statement has to read all sellers. One
     * that is taken makes way for one of the next millisecond.
     */
    async createSeller([seller]: [NewSeller], at: number): Promise<Seller> {
      const { name, externalId, currency } = seller;
      const { code, decimals } = currency;
      for (let time = at; ; time += 1) {
        const id = randomId(time);
        const row = await insert.get({ id, name, externalId, currency: code, decimals, at });
        if (!row) continue;
        const created = mapSeller(row);
        if (externalId != null) await assignExternalId(created.id, externalId);
        await audit.start(created.id);
        return created;
      }
    },
    /** Changes and logs nothing if the seller is already in that state. */
    async setSellerDisabled([sellerId, isDisabled], at) {
      const row = await find.get({ sellerId });
      if (!row) throw new AppError('not_found', 'There is no such seller.');
      const seller = mapSeller(row);
      if ((seller.disabledAt !== undefined) === isDisabled) return seller;
      if (!isDisabled && await findDeleted(sellerId) !== undefined) {
        const detail = 'This seller is being deleted. To finish, delete it again.';
        throw new AppError('not_found', detail);
      }
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

export function sellerUpdateMutations(sql: Sql, audit: AuditLog) {
  const find = sql.prepare(`SELECT ${SELLER_COLUMNS} FROM seller WHERE id = :sellerId`);
  const update = sql.prepare(`
    UPDATE seller SET name = :name, external_id = :externalId WHERE id = :sellerId
    RETURNING ${SELLER_COLUMNS}`);
  const assignExternalId = prepareAssignExternalId(sql);
  return {
    async updateSeller([sellerId, patch], at) {
      const row = await find.get({ sellerId });
      if (!row) throw new AppError('not_found', 'There is no such seller.');
      const seller = mapSeller(row);
      const { name, externalId = null } = { ...seller, ...patch };
      if (name === seller.name && externalId === (seller.externalId ?? null)) return seller;
      await assignExternalId(sellerId, externalId);
      const subject = `name ${name}, external id ${externalId ?? 'none'}`;
      await audit.add({ sellerId, type: 'seller_changed', subject }, at);
      return mapSeller(await update.get({ name, externalId, sellerId }) ?? {});
    },
  } satisfies Partial<MutationsOf<AccessStore>>;
}

/** Replaces the external id of a seller; null only removes the old one. */
function prepareAssignExternalId(sql: Sql) {
  const findOwner = prepareFindOwner(sql);
  const remove = sql.prepare('DELETE FROM seller_external_id WHERE seller_id = :sellerId');
  const insert = sql.prepare(`
    INSERT INTO seller_external_id (external_id, seller_id) VALUES (:externalId, :sellerId)`);
  /** @throws AppError `external_id_taken` */
  return async (sellerId: SellerId, externalId: ExternalId | null): Promise<void> => {
    const owner = await findOwner(externalId);
    if (owner === sellerId) return;
    if (owner !== undefined) {
      throw new AppError('external_id_taken', `Seller ${formatSellerId(owner)} has this external `
        + 'id. Use that seller, or remove its external id first.');
    }
    await remove.run({ sellerId });
    if (externalId !== null) await insert.run({ externalId, sellerId });
  };
}

/** Finds the seller that has an external id, without knowing a seller; none has null. */
function prepareFindOwner(sql: Sql) {
  const find = sql.prepare(`
    SELECT seller_id FROM seller_external_id WHERE external_id = :externalId`);
  return async (externalId: ExternalId | null): Promise<SellerId | undefined> => {
    const row = await find.get({ externalId });
    return row && readId<SellerId>(row, 'seller_id');
  };
}

/** Most lookups by external id read one row: that of the seller that had the id last time. */
function prepareFindSeller(sql: Sql) {
  const find = sql.prepare(`SELECT ${SELLER_COLUMNS} FROM seller WHERE id = :sellerId`);
  const findNamed = sql.prepare(`
    SELECT ${SELLER_COLUMNS} FROM seller WHERE id = :sellerId AND external_id = :externalId`);
  const findOwner = prepareFindOwner(sql);
  const owners = new BoundedMap<ExternalId, SellerId>(EXTERNAL_IDS_REMEMBERED);
  return async (reference: SellerReference): Promise<Seller | undefined> => {
    if (typeof reference === 'number') {
      const row = await find.get({ sellerId: reference });
      return row && mapSeller(row);
    }
    const externalId = reference;
    const lastOwner = owners.get(externalId);
    const row = (lastOwner === undefined ? undefined
      : await findNamed.get({ sellerId: lastOwner, externalId }))
      ?? await findNamed.get({ sellerId: await findOwner(externalId), externalId });
    if (!row) return undefined;
    const seller = mapSeller(row);
    owners.set(externalId, seller.id);
    return seller;
  };
}

export function sellerQueries(sql: Sql) {
  // Of all sellers, for their operator: no request of a seller lists them.
  const list = sql.prepare(`
    SELECT ${SELLER_COLUMNS} FROM seller WHERE id > :after ORDER BY id LIMIT :limit`);
  const listPositions = sql.prepare(`
    SELECT id, position FROM seller WHERE ${sql.isAmong('id', ':ids')}`);
  return {
    findSeller: prepareFindSeller(sql),
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
  // The cast: it was validated before it was written.
  const externalId = readOptional(row, 'external_id', readText) as ExternalId | undefined;
  return {
    id: readId<SellerId>(row, 'id'),
    name: readText(row, 'name'),
    currency: readCurrency(row),
    position: readInteger(row, 'position'),
    createdAt: readInteger(row, 'created_at'),
    ...(externalId !== undefined && { externalId }),
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
