/** Sellers in SQLite: statements and row mapper. */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { nextId, type SellerId } from '../../../domain/id.ts';
import type { Seller } from '../../../domain/access/seller.ts';
import type { AccessStore } from '../../access-store.ts';
import type { AuditLog } from '../accounts/audit.ts';
import type { MutationsOf, QueriesOf } from '../engine/port-methods.ts';
import {
  readCurrency, readId, readInteger, readOptional, readText, type Row,
} from '../engine/row.ts';

const COLUMNS = 'id, name, currency, currency_decimals, position, created_at, disabled_at';

export type SellerMutations = ReturnType<typeof sellerMutations>;

export function sellerMutations(db: DatabaseSync, audit: AuditLog) {
  const findLastId = db.prepare('SELECT coalesce(max(id), 0) AS id FROM seller');
  const insert = db.prepare(`
    INSERT INTO seller (id, name, currency, currency_decimals, created_at)
    VALUES (?, ?, ?, ?, ?) RETURNING ${COLUMNS}`);
  const find = db.prepare(`SELECT ${COLUMNS} FROM seller WHERE id = ?`);
  const setDisabled = db.prepare(`
    UPDATE seller SET disabled_at = ? WHERE id = ? RETURNING ${COLUMNS}`);
  const endSessions = db.prepare('DELETE FROM session WHERE seller_id = ?');

  return {
    createSeller([{ name, currency }], at) {
      const id = nextId(readInteger(findLastId.get() ?? {}, 'id'), at);
      return mapSeller(insert.get(id, name, currency.code, currency.decimals, at) ?? {});
    },
    /** Changes and logs nothing if the seller is already in that state. */
    setSellerDisabled([sellerId, isDisabled], at) {
      const row = find.get(sellerId);
      if (!row) throw new AppError('not_found', 'There is no such seller.');
      const seller = mapSeller(row);
      if ((seller.disabledAt !== undefined) === isDisabled) return seller;
      if (isDisabled) endSessions.run(sellerId);
      audit.add({ sellerId, type: isDisabled ? 'seller_disabled' : 'seller_enabled' }, at);
      return mapSeller(setDisabled.get(isDisabled ? at : null, sellerId) ?? {});
    },
  } satisfies Partial<MutationsOf<AccessStore>>;
}

export function sellerQueries(db: DatabaseSync) {
  const list = db.prepare(`SELECT ${COLUMNS} FROM seller WHERE id > ? ORDER BY id LIMIT ?`);
  const find = db.prepare(`SELECT ${COLUMNS} FROM seller WHERE id = ?`);
  return {
    findSeller(id) {
      const row = find.get(id);
      return row && mapSeller(row);
    },
    listSellers: ({ after, limit }) => list.all(after ?? 0, limit).map(mapSeller),
  } satisfies Partial<QueriesOf<AccessStore>>;
}

function mapSeller(row: Row): Seller {
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
